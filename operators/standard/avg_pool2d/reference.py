"""Computes average pooling with a square window."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """The value of an axis must be positive, so the axis for the padding is the padding plus one.
    `divisor_kind` is 1 if the divisor counts padding, and 2 if it does not."""
    x = rng.normal(
        (case.axes["batch"], case.axes["channels"], case.axes["height"], case.axes["width"]),
        torch.float32,
    )
    if case.distribution == "offset":
        # The values are far from zero, so that a wrong divisor at the border is visible.
        x += 3.0
    elif case.distribution == "spikes":
        x += 250.0 * (rng.uniform(x.shape, torch.float32, 0.0, 1.0) < 0.01)
    return {
        "x": x,
        "kernel": case.axes["kernel"],
        "stride": case.axes["stride"],
        "padding": case.axes["padding_plus_one"] - 1,
        "count_include_pad": case.axes["divisor_kind"] == 1,
    }


def reference(x: Tensor, kernel: int, stride: int, padding: int, count_include_pad: bool) -> Tensor:
    return _pool(x, kernel, stride, padding, count_include_pad)


def _pool(x: Tensor, kernel: int, stride: int, padding: int, count_include_pad: bool) -> Tensor:
    """Sums shifted copies of the image, and divides by the window's size if the padding counts. If
    it does not count, divides by the same sum over an image of ones, which is the number of pixels
    in each window."""
    total = _sums(x, kernel, stride, padding)
    ones = torch.ones((1, 1, *x.shape[2:]), dtype=x.dtype, device=x.device)
    return total / (kernel * kernel if count_include_pad else _sums(ones, kernel, stride, padding))


def _sums(x: Tensor, kernel: int, stride: int, padding: int) -> Tensor:
    rows, columns = ((size + 2 * padding - kernel) // stride + 1 for size in x.shape[2:])
    padded = torch.nn.functional.pad(x, (padding, padding, padding, padding))
    total = torch.zeros((*x.shape[:2], rows, columns), dtype=x.dtype, device=x.device)
    for r in range(kernel):
        for s in range(kernel):
            # Each slice ends directly after its element of the last window, which starts at
            # stride * (rows - 1).
            total += padded[
                :,
                :,
                r : r + stride * (rows - 1) + 1 : stride,
                s : s + stride * (columns - 1) + 1 : stride,
            ]
    return total


def mutants(
    x: Tensor, kernel: int, stride: int, padding: int, count_include_pad: bool
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    right = _pool(x, kernel, stride, padding, count_include_pad)
    moved = torch.nn.functional.pad(x, (0, padding + 1, 0, padding + 1))[:, :, padding:, padding:]
    late = _pool(torch.nn.functional.pad(moved, (0, kernel, 0, kernel)), kernel, stride, 0, True)[
        :, :, : right.shape[2], : right.shape[3]
    ]
    return {
        "divisor of the other kind": _pool(x, kernel, stride, padding, not count_include_pad),
        "divided by kernel": right * kernel,
        "windows start a padding late": late,
        "border repeated instead of zeros": _sums(_repeat_border(x, padding), kernel, stride, 0)
        / (kernel * kernel),
    }


def _repeat_border(x: Tensor, padding: int) -> Tensor:
    return torch.nn.functional.pad(x, (padding, padding, padding, padding), mode="replicate")


def cost(case: Case) -> Cost:
    planes = case.axes["batch"] * case.axes["channels"]
    outputs = case.axes["out_height"] * case.axes["out_width"]
    traffic = 4 * planes * (case.axes["height"] * case.axes["width"] + outputs)
    return Cost(bytes=traffic, flops=planes * outputs * case.axes["kernel"] ** 2)
