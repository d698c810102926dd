"""Defines the parts of a manifest. A manifest is TOML in a comment at the top of a CUDA C++
submission, and takes the place of host code.

    manifest = read_manifest(source_text)
    manifest.launches[0].kernel  # "add<{x.dtype}>"

manifest_reader.py parses manifests. docs/reference/cuda-submissions.md documents the keys and the
expressions of a manifest."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

SCALAR_DTYPES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
)
SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}  # the numbers that the CUDA driver uses
MAX_TENSOR_MAP_RANK = 5
_HOLE = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Expression:
    """An expression for a number: its text, and its position in the manifest."""

    text: str
    where: str  # for example "launch 1 (softmax): grid"
    line: int


@dataclass(frozen=True)
class TensorMapArgument:
    """A TMA descriptor. The launcher encodes it for the address of the buffer."""

    buffer: str
    box: list[Expression]  # in the same order as the shape, outermost dimension first
    shape: list[Expression] | None  # None means the tensor's own shape
    swizzle: str
    nan_outside: bool


@dataclass(frozen=True)
class Argument:
    """A kernel's argument as the manifest states it: an expression, a buffer, or a tensor map.
    `dtype` is empty if the manifest states no type."""

    expression: Expression
    dtype: str = ""
    tensor_map: TensorMapArgument | None = None


@dataclass(frozen=True)
class Scratch:
    dtype: str
    shape: list[Expression]


@dataclass(frozen=True)
class LaunchEntry:
    kernel: str
    where: str
    line: int  # the line that contains the key `kernel`
    grid: list[Expression]
    block: list[Expression]
    cluster: list[Expression]
    shared: Expression
    when: Expression
    repeat: Expression
    cooperative: bool
    dependent_launch: bool
    arguments: list[Argument]


@dataclass(frozen=True)
class Manifest:
    launches: list[LaunchEntry]
    sizes: dict[str, Expression] = field(default_factory=dict)
    scratch: dict[str, Scratch] = field(default_factory=dict)
    fills: dict[str, Expression] = field(default_factory=dict)
    defines: dict[str, Expression] = field(default_factory=dict)
    options: list[str] = field(default_factory=list)


def holes(text: str) -> list[str]:
    """Returns the expressions in braces that a kernel's name contains."""
    return [match.group(1) for match in _HOLE.finditer(text)]


def fill_holes(text: str, values: list[str]) -> str:
    """Returns the text with each pair of braces replaced by the next element of `values`."""
    rest = iter(values)
    return _HOLE.sub(lambda _: next(rest), text)
