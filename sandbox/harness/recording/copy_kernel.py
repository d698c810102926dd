"""Defines Assay's kernel for copies that torch itself does with a kernel: strided copies and
conversions between element types.

    launch_copy(target, source)  # fake tensors of one shape

The submission requests such a copy, and the device does it. So the copy is recorded as a launch of
the kernel `assay_copy`, which is compiled, counted and timed under that name. If a copy keeps the
order of its elements in memory, the kernel has the name `assay_copy_in_order` instead. An operator
of the family `layout` allows only copies in order, because changing the order is the submission's
own work (sandbox/launcher/plan/layout.h). A copy without a conversion moves integers of the
element's width, so that few variants have to be compiled. Conversions round as in torch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import triton
import triton.language as tl

from harness.entry.order import keeps_order

MAX_COPY_RANK = 6
BLOCK = 1024
_WIDE = 2**31 - BLOCK  # from this number of elements or this offset on, indices need 64 bits
_INTEGER = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
_FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
_INTEGERS = (
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.uint64,
)


# Extents and strides are given from the innermost dimension outwards. The parameters `*_last`
# belong to the outermost dimension. Triton does not specialise the kernel for the value of a _LOOSE
# parameter or for the alignment of a _TIGHT parameter, because the gain would not be worth the
# additional variants of the kernel.
_LOOSE = ["d1", "d2", "d3", "d4", "s1", "s2", "s3", "s4"]


_TIGHT = ["n0", "n1", "n2", "n3", "n4", "d0", "s0", "d_last", "s_last"]


@triton.jit
def _copy(  # type: ignore[no-untyped-def]
    dst, src, count,
    n0, n1, n2, n3, n4,
    d0, d1, d2, d3, d4, d_last,
    s0, s1, s2, s3, s4, s_last,
    RANK: tl.constexpr, TO_BOOL: tl.constexpr, VIA_F32: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    start = tl.program_id(0)
    if WIDE:
        start = start.to(tl.int64)
    rest = start * BLOCK + tl.arange(0, BLOCK)
    live = rest < count
    to = tl.zeros_like(rest)
    at = tl.zeros_like(rest)
    if RANK > 1:
        to += (rest % n0) * d0
        at += (rest % n0) * s0
        rest = rest // n0
    if RANK > 2:
        to += (rest % n1) * d1
        at += (rest % n1) * s1
        rest = rest // n1
    if RANK > 3:
        to += (rest % n2) * d2
        at += (rest % n2) * s2
        rest = rest // n2
    if RANK > 4:
        to += (rest % n3) * d3
        at += (rest % n3) * s3
        rest = rest // n3
    if RANK > 5:
        to += (rest % n4) * d4
        at += (rest % n4) * s4
        rest = rest // n4
    to += rest * d_last
    at += rest * s_last
    value = tl.load(src + at, mask=live)
    if TO_BOOL:
        value = (value != 0).to(tl.int8)
    if VIA_F32:
        value = value.to(tl.float32)
    tl.store(dst + to, value.to(dst.dtype.element_ty), mask=live)


@triton.jit(do_not_specialize=_LOOSE, do_not_specialize_on_alignment=_TIGHT)
def assay_copy(  # type: ignore[no-untyped-def]
    dst, src, count,
    n0, n1, n2, n3, n4,
    d0, d1, d2, d3, d4, d_last,
    s0, s1, s2, s3, s4, s_last,
    RANK: tl.constexpr, TO_BOOL: tl.constexpr, VIA_F32: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Copies elements, and may change their order in memory."""
    _copy(
        dst, src, count,
        n0, n1, n2, n3, n4,
        d0, d1, d2, d3, d4, d_last,
        s0, s1, s2, s3, s4, s_last,
        RANK, TO_BOOL, VIA_F32, WIDE, BLOCK,
    )  # fmt: skip


@triton.jit(do_not_specialize=_LOOSE, do_not_specialize_on_alignment=_TIGHT)
def assay_copy_in_order(  # type: ignore[no-untyped-def]
    dst, src, count,
    n0, n1, n2, n3, n4,
    d0, d1, d2, d3, d4, d_last,
    s0, s1, s2, s3, s4, s_last,
    RANK: tl.constexpr, TO_BOOL: tl.constexpr, VIA_F32: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Copies elements without changing their order in memory."""
    _copy(
        dst, src, count,
        n0, n1, n2, n3, n4,
        d0, d1, d2, d3, d4, d_last,
        s0, s1, s2, s3, s4, s_last,
        RANK, TO_BOOL, VIA_F32, WIDE, BLOCK,
    )  # fmt: skip


def can_convert(source: torch.dtype, target: torch.dtype) -> bool:
    """Returns True if this kernel converts between the two element types exactly as torch does."""
    if source == target:
        return source.itemsize in _INTEGER or source.is_complex
    known = (*_FLOATS, *_INTEGERS, torch.bool)
    return target in known and source in known


def collapsed(shape: Sequence[int], *strides: Sequence[int]) -> tuple[list[int], list[list[int]]]:
    """Merges adjacent dimensions. Returns an equivalent shape and equivalent strides with as few
    dimensions as possible. The elements and their order stay the same."""
    extents: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for dim, extent in enumerate(shape):
        if extent == 1:
            continue
        if extents and all(
            own[-1] == one[dim] * extent for own, one in zip(steps, strides, strict=True)
        ):
            extents[-1] *= extent
            for own, one in zip(steps, strides, strict=True):
                own[-1] = one[dim]
            continue
        extents.append(extent)
        for own, one in zip(steps, strides, strict=True):
            own.append(one[dim])
    return extents, steps


def launch_copy(target: torch.Tensor, source: torch.Tensor) -> str:
    """Launches a copy between two tensors of one shape. `can_convert` must be true for their
    dtypes. Returns the kernel's name. Raises ValueError if the layout has too many dimensions."""
    if target.is_complex():
        target, source = torch.view_as_real(target), torch.view_as_real(source)
    extents, (to, at) = collapsed(target.shape, target.stride(), source.stride())
    if len(extents) > MAX_COPY_RANK:
        raise ValueError(
            f"a copy over {len(extents)} dimensions that cannot be joined; the limit is {MAX_COPY_RANK}"
        )
    # The kernel copies the elements in the order of the target's memory, so that its writes are
    # coalesced.
    order = sorted(range(len(extents)), key=lambda dim: to[dim])
    extents, to, at = ([values[dim] for dim in order] for values in (extents, to, at))
    kernel = assay_copy_in_order if keeps_order(extents, to, at) else assay_copy
    count = math.prod(extents)
    reach = max(
        sum((n - 1) * abs(step) for n, step in zip(extents, steps, strict=True))
        for steps in (to, at)
    )
    via_f32 = source.dtype not in (target.dtype, torch.float32) and target.dtype in (
        torch.float16,
        torch.bfloat16,
    )
    if source.dtype == target.dtype:
        source, target = (x.view(_INTEGER[x.element_size()]) for x in (source, target))
    to_bool = target.dtype == torch.bool
    source, target = (x.view(torch.int8) if x.dtype == torch.bool else x for x in (source, target))
    kernel[(triton.cdiv(count, BLOCK),)](
        target, source, count,
        *_padded(extents, 1)[0],
        *_padded(to, 0)[0], *_padded(to, 0)[1],
        *_padded(at, 0)[0], *_padded(at, 0)[1],
        RANK=max(len(extents), 1), TO_BOOL=to_bool, VIA_F32=via_f32, WIDE=max(count, reach) >= _WIDE, BLOCK=BLOCK,
    )  # fmt: skip
    return str(kernel.__name__)


def _padded(values: list[int], filler: int) -> tuple[list[int], list[int]]:
    """Returns two lists: all values except the last, and the last value. The first list is extended
    with `filler` to the number of parameters that the kernel has."""
    values = values or [filler]
    return values[:-1] + [filler] * (MAX_COPY_RANK - len(values)), values[-1:]
