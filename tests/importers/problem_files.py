"""Small problem files in the format of KernelBench, written for the tests."""

from __future__ import annotations

from pathlib import Path

NORM = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, shape: tuple):
        super().__init__()
        self.norm = nn.LayerNorm(shape)

    def forward(self, x):
        return self.norm(x)


rows = 4096
columns = 2048


def get_inputs():
    return [torch.rand(rows, columns)]


def get_init_inputs():
    return [(columns,)]
"""
CLIP = """
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)


def get_inputs():
    return [torch.rand(1024, 512)]


def get_init_inputs():
    return []
"""
BATCH = """
import torch
import torch.nn as nn

features = 64


class Model(nn.Module):
    def __init__(self, width, scale):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.scale = scale

    def forward(self, x):
        return self.norm(x) * self.scale


def get_inputs():
    return [torch.rand(4096, features)]


def get_init_inputs():
    return [features, 2.0]
"""
HIDDEN = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = nn.RNN(width, width, batch_first=True)

    def forward(self, x):
        h = torch.randn(1, x.size(0), x.size(2))
        return self.cell(x, h)[0]


def get_inputs():
    return [torch.rand(16, 32, 24)]


def get_init_inputs():
    return [24]
"""
LOSS = """
import torch


class Model(torch.nn.Module):
    def forward(self, x, mask, factor):
        return (x * mask).mean() * factor


def get_inputs():
    return [torch.rand(4096, 100), torch.rand(4096, 100) < 0.5, 3.0]


def get_init_inputs():
    return []
"""
# A model with more tensors than an older version of Assay had room for in a message.
MANY = """
import torch


class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.shifts = torch.nn.ParameterList(torch.rand(width) for _ in range(400))

    def forward(self, x):
        return x + self.shifts[0] - self.shifts[399]


width = 128


def get_inputs():
    return [torch.rand(4096, width)]


def get_init_inputs():
    return [width]
"""
OVERWRITES = CLIP.replace("torch.relu(x)", "x.mul_(2.0)")
CONSTANT = CLIP.replace("torch.relu(x)", "torch.relu(x - x)")
# Problems that give no operator.
DROPOUT = CLIP.replace("torch.relu(x)", "torch.nn.functional.dropout(x, 0.5)")
ABSENT = "import a_module_that_is_not_there\n" + CLIP
INFINITE = CLIP.replace("torch.relu(x)", "torch.log(x * 0)")
BROKEN = CLIP.replace("def get_inputs():", "def get_inputs(:")
NO_MODEL = CLIP.replace("class Model", "class Other")
RAISES = CLIP.replace("torch.relu(x)", "x @ x")
OBJECT = CLIP.replace("return []", "return [object()]").replace(
    "    def forward", "    def __init__(self, it):\n        super().__init__()\n\n    def forward"
)
HANGS = "import time\ntime.sleep(600)\n" + CLIP  # leaves the processors to other tests
CRASHES = "import os\nos.abort()\n" + CLIP


def level(folder: Path, number: int = 1, **files: str) -> Path:
    """Writes a checkout with one level, whose files are numbered in the given order."""
    place = folder / "KernelBench" / f"level{number}"
    place.mkdir(parents=True)
    for position, (name, text) in enumerate(files.items(), 1):
        (place / f"{position}_{name}.py").write_text(text, encoding="utf-8")
    return folder


NORM_KERNEL = """
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def norm_kernel(x, weight, bias, y, n, eps, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * n + i
    value = tl.load(x + at, mask=i < n, other=0.0)
    centred = tl.where(i < n, value - tl.sum(value) / n, 0.0)
    right = centred / tl.sqrt(tl.sum(centred * centred) / n + eps)
    right = right * tl.load(weight + i, mask=i < n) + tl.load(bias + i, mask=i < n)
    tl.store(y + at, right, mask=i < n)


class ModelNew(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.norm = nn.LayerNorm(shape)

    def forward(self, x):
        y = torch.empty_like(x)
        n = x.shape[-1]
        block = triton.next_power_of_2(n)
        norm = self.norm
        norm_kernel[(x.shape[0],)](x, norm.weight, norm.bias, y, n, norm.eps, BLOCK=block)
        return y
"""
IGNORES_WEIGHT = NORM_KERNEL.replace("right * tl.load(weight + i, mask=i < n)", "right")
OTHER_NAMES = NORM_KERNEL.replace(
    "self.norm = nn.LayerNorm(shape)", "self.ln = nn.LayerNorm(shape)"
)
OTHER_CONSTRUCTOR = NORM_KERNEL.replace("def __init__(self, shape)", "def __init__(self)")
COPY = """
import torch
import triton
import triton.language as tl


@triton.jit
def copy_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)


class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        copy_kernel[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
        return y
"""

MANY_KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def shift(x, first, last, y, width, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * width
    mask = at < width
    moved = tl.load(x + row + at, mask) + tl.load(first + at, mask) - tl.load(last + at, mask)
    tl.store(y + row + at, moved, mask)


class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.shifts = torch.nn.ParameterList(torch.rand(width) for _ in range(400))

    def forward(self, x):
        y, width = torch.empty_like(x), x.shape[1]
        block = triton.next_power_of_2(width)
        shift[(x.shape[0],)](x, self.shifts[0], self.shifts[399], y, width, block)
        return y
"""
