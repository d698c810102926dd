"""Defines launch plans and their byte encoding (docs/reference/launch-plan.md). A launch plan
describes, as data, the GPU work of a submission for one case.

    plan = Plan("cuda:90")
    x = plan.buffer(BufferKind.INPUT, 4096, "x")
    plan.ops.append(Fill(buffer=x, offset=0, count=1024, width=4, pattern=0))
    data = plan.encode()

The launcher checks a plan without trusting the process that made it. `encode` raises PlanTooLarge
if the plan exceeds a documented limit."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

MAGIC = b"ASSAYPLN"
VERSION = 2
MAX_PLAN_BYTES = 64 << 20
MAX_BUFFERS = 4096
MAX_BINARIES = 256
MAX_OPERATIONS = 16384  # includes the operations of all alternatives
MAX_ALTERNATIVES = 64
MAX_PARAMETERS = 256
MAX_OUTPUTS = 64
MAX_RANK = 8
MAX_STRING_BYTES = 4096
SHOWN_NAME_CHARS = 60  # of a kernel's name that is too long, in the error
COOPERATIVE, DEPENDENT_LAUNCH = 1, 2


class PlanTooLarge(Exception):
    """The recorded work exceeds a limit of the plan format. The message names the limit."""


class BufferKind(IntEnum):
    INPUT = 0
    SCRATCH = 1
    CONSTANT = 2


@dataclass
class Buffer:
    kind: BufferKind
    nbytes: int
    name: str = ""
    constant: bytes = b""


@dataclass
class Binary:
    kernel: str
    shared_bytes: int
    image: bytes


@dataclass
class Scalar:
    size: int
    value: int  # the lowest `size` bytes, as an unsigned integer


@dataclass
class Pointer:
    buffer: int
    offset: int


@dataclass
class Null:
    pass


@dataclass
class GlobalScratch:
    bytes_per_program: int
    alignment: int


@dataclass
class TensorMap:
    """A TMA descriptor that host code created. The lists begin with the innermost dimension. `type`
    and `swizzle` are numbers of the CUDA driver."""

    buffer: int
    offset: int
    type: int
    swizzle: int
    nan_outside: bool
    shape: list[int]
    strides: list[int]  # in bytes, for all dimensions but the innermost
    box: list[int]


Param = Scalar | Pointer | Null | GlobalScratch | TensorMap


@dataclass
class Kernel:
    binary: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    flags: int
    params: list[Param]


@dataclass
class Fill:
    buffer: int
    offset: int
    count: int
    width: int
    pattern: int


@dataclass
class Copy:
    dst: int
    dst_offset: int
    src: int
    src_offset: int
    nbytes: int


SimpleOp = Kernel | Fill | Copy


@dataclass
class Alternative:
    """One way to do a piece of work. `label` is its name."""

    label: str
    ops: list[SimpleOp]


@dataclass
class Choice:
    """Work for which there are several alternatives. The launcher chooses the fastest alternative.
    `tunable` is the number of an autotuner with one key. Choices with the same number get the same
    alternative."""

    tunable: int
    alternatives: list[Alternative]


Op = SimpleOp | Choice


@dataclass
class Output:
    buffer: int
    offset: int
    dtype: str
    shape: list[int]
    strides: list[int]


def _text(value: str) -> bytes:
    data = value.encode()
    if len(data) > MAX_STRING_BYTES:
        raise PlanTooLarge(f"a name of {len(data)} bytes is over the limit of {MAX_STRING_BYTES}")
    return struct.pack("<I", len(data)) + data


def _kernel_name(name: str) -> bytes:
    """The name of an instance of a C++ template has the template's arguments in full, so the name
    in a binary can be far longer than the name in a source."""
    size = len(name.encode())
    if size > MAX_STRING_BYTES:
        raise PlanTooLarge(
            f"the name of the kernel '{name[:SHOWN_NAME_CHARS]}...' in its binary has {size} bytes; "
            f"the limit is {MAX_STRING_BYTES}"
        )
    return _text(name)


def _blob(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def _param(param: Param) -> bytes:
    match param:
        case Scalar(size, value):
            return struct.pack("<BBQ", 0, size, value)
        case Pointer(buffer, offset):
            return struct.pack("<BIQ", 1, buffer, offset)
        case Null():
            return struct.pack("<B", 2)
        case GlobalScratch(per_program, alignment):
            return struct.pack("<BQI", 3, per_program, alignment)
        case TensorMap(buffer, offset, kind, swizzle, nan_outside, shape, strides, box):
            rank = len(shape)
            head = struct.pack("<BIQBBBB", 4, buffer, offset, kind, swizzle, nan_outside, rank)
            return head + struct.pack(f"<{rank}Q{rank - 1}Q{rank}I", *shape, *strides, *box)


def _op(op: Op) -> bytes:
    match op:
        case Kernel(binary, grid, block, cluster, flags, params):
            head = struct.pack(
                "<BI3I3I3III", 0, binary, *grid, *block, *cluster, flags, len(params)
            )
            return head + b"".join(_param(param) for param in params)
        case Fill(buffer, offset, count, width, pattern):
            return struct.pack("<BIQQBQ", 1, buffer, offset, count, width, pattern)
        case Copy(dst, dst_offset, src, src_offset, nbytes):
            return struct.pack("<BIQIQQ", 2, dst, dst_offset, src, src_offset, nbytes)
        case Choice(tunable, alternatives):
            parts = [struct.pack("<BII", 3, tunable, len(alternatives))]
            for alternative in alternatives:
                parts.append(_text(alternative.label) + struct.pack("<I", len(alternative.ops)))
                parts.extend(_op(one) for one in alternative.ops)
            return b"".join(parts)


@dataclass
class Plan:
    target: str
    buffers: list[Buffer] = field(default_factory=list)
    binaries: list[Binary] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)

    def buffer(self, kind: BufferKind, nbytes: int, name: str = "", constant: bytes = b"") -> int:
        """Adds a buffer and returns its index."""
        self.buffers.append(Buffer(kind, nbytes, name, constant))
        return len(self.buffers) - 1

    def simple_ops(self) -> Iterator[SimpleOp]:
        """Yields all operations in order, including the operations of all alternatives."""
        for op in self.ops:
            if isinstance(op, Choice):
                for alternative in op.alternatives:
                    yield from alternative.ops
            else:
                yield op

    def encode(self) -> bytes:
        simple = list(self.simple_ops())
        for what, count, limit in (
            ("buffers", len(self.buffers), MAX_BUFFERS),
            ("device binaries", len(self.binaries), MAX_BINARIES),
            ("operations", len(simple), MAX_OPERATIONS),
            (
                "alternatives",
                max((len(op.alternatives) for op in self.ops if isinstance(op, Choice)), default=0),
                MAX_ALTERNATIVES,
            ),
            ("outputs", len(self.outputs), MAX_OUTPUTS),
            (
                "kernel parameters",
                max((len(op.params) for op in simple if isinstance(op, Kernel)), default=0),
                MAX_PARAMETERS,
            ),
            (
                "output dimensions",
                max((len(output.shape) for output in self.outputs), default=0),
                MAX_RANK,
            ),
        ):
            if count > limit:
                raise PlanTooLarge(f"{count} {what} are over the limit of {limit}")
        parts = [MAGIC, struct.pack("<I", VERSION), _text(self.target)]
        parts.append(struct.pack("<I", len(self.buffers)))
        for buffer in self.buffers:
            parts.append(
                struct.pack("<BQ", buffer.kind, buffer.nbytes)
                + _text(buffer.name)
                + _blob(buffer.constant)
            )
        parts.append(struct.pack("<I", len(self.binaries)))
        for binary in self.binaries:
            parts.append(
                _kernel_name(binary.kernel)
                + struct.pack("<I", binary.shared_bytes)
                + _blob(binary.image)
            )
        parts.append(struct.pack("<I", len(self.ops)))
        parts.extend(_op(op) for op in self.ops)
        parts.append(struct.pack("<I", len(self.outputs)))
        for output in self.outputs:
            rank = len(output.shape)
            parts.append(struct.pack("<IQ", output.buffer, output.offset) + _text(output.dtype))
            parts.append(struct.pack(f"<I{rank}q{rank}q", rank, *output.shape, *output.strides))
        data = b"".join(parts)
        if len(data) > MAX_PLAN_BYTES:
            raise PlanTooLarge(f"a plan of {len(data)} bytes is over the limit of {MAX_PLAN_BYTES}")
        return data
