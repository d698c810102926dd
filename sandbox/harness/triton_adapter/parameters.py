"""Converts kernel arguments to kernel parameters. The types and the order of the parameters, and
the arguments that are left out, are the same as in Triton's own launcher.

    params = parameters(src, metadata, arguments)  # of one launch, in the binary's order

Arguments that are `constexpr` (including None, and integers specialised to 1) are not passed.
Tuples are flattened. The pointers to the scratch memory (global, and for profiling) come last."""

from __future__ import annotations

import operator
import re
import struct
from typing import Any

from triton.backends.nvidia.driver import TMA_DTYPE_DEVICE_TO_HOST

from harness.entry.errors import NotRecordable
from harness.recording.launches import Address, Descriptor, RawParam
from harness.recording.plan import GlobalScratch, Null, Scalar

_INTEGERS = {
    "i1": 1,
    "i8": 1,
    "i16": 2,
    "i32": 4,
    "i64": 8,
    "u1": 1,
    "u8": 1,
    "u16": 2,
    "u32": 4,
    "u64": 8,
}
_TENSOR_MAP = "nvTmaDesc"  # Triton's type name for an encoded descriptor
_TF32 = 11  # Triton's number for the element type TF32
_FLOATS = {"fp16": "<e", "fp32": "<f", "f32": "<f", "fp64": "<d"}


def parameters(src: Any, metadata: Any, arguments: tuple[Any, ...]) -> list[RawParam]:
    metas = list(getattr(metadata, "tensordesc_meta", None) or [])
    flat: list[tuple[str, Any]] = []
    for (name, kind), argument in zip(src.signature.items(), arguments, strict=True):
        if isinstance(kind, str) and kind.startswith("tensordesc"):
            flat += _expand_descriptor(name, kind, argument, metas.pop(0) if metas else None)
        else:
            _flatten(kind, argument, flat)
    params = [
        _typed(kind, argument, position)
        for position, (kind, argument) in enumerate(flat)
        if kind != "constexpr"
    ]
    for scratch in ("global_scratch", "profile_scratch"):
        size = getattr(metadata, f"{scratch}_size", 0)
        params.append(
            GlobalScratch(size, getattr(metadata, f"{scratch}_align", 1)) if size else Null()
        )
    return params


def extent(value: Any) -> int:
    return operator.index(getattr(value, "value", value))


def _flatten(kind: Any, argument: Any, found: list[tuple[str, Any]]) -> None:
    if isinstance(kind, tuple):
        for inner_kind, inner in zip(kind, argument, strict=True):
            _flatten(inner_kind, inner, found)
    else:
        found.append((kind, argument))


def _expand_descriptor(name: str, kind: str, argument: Any, meta: Any) -> list[tuple[str, Any]]:
    """Expands a host tensor descriptor as Triton's own launcher does. The result starts with a TMA
    descriptor. If the kernel does not use TMA, it starts with pointer, shape, strides and flags
    (padding, rounding) instead. In both cases, shape and strides follow."""
    shape, strides = (
        [extent(value) for value in argument.shape],
        [extent(value) for value in argument.strides],
    )
    nan = getattr(argument, "padding", "zero") == "nan"
    # The value is None up to version 3.6 of Triton, in which the attribute is missing.
    rounds = getattr(argument, "round_f32_to_tf32", None)
    if meta is not None:
        if meta.get("is_im2col"):
            raise NotRecordable(
                f"argument '{name}' is an im2col descriptor; a launch plan holds tiled ones"
            )
        described = list(shape)
        if meta["fp4_padded"]:
            described[-1] *= 2
            shape = described if rounds is None else shape
        size, kind_number = meta["elem_size"], _TF32 if rounds else meta["elem_type"]
        parts: list[tuple[str, Any]] = [
            (
                _TENSOR_MAP,
                lambda position: Descriptor(
                    Address(argument.base.data_ptr(), position),
                    TMA_DTYPE_DEVICE_TO_HOST[kind_number],
                    meta["swizzle"],
                    nan,
                    tuple(reversed(described)),
                    tuple(size * stride for stride in reversed(strides[:-1])),
                    tuple(reversed(meta["block_size"])),
                ),
            )
        ]
    else:
        element = re.match(r"tensordesc<([^[>]*)\[", kind)
        if element is None:
            raise NotRecordable(f"argument '{name}' has the unknown descriptor type {kind}")
        parts = [("*" + element.group(1), argument.base)]
        parts += [("i64", value) for value in (*shape, *strides)]
        parts.append(("i1", nan))
        if rounds is not None:
            parts.append(("i1", rounds))
    return parts + [("i32", value) for value in shape] + [("i64", value) for value in strides]


def _typed(kind: str, argument: Any, position: int) -> RawParam:
    if kind == _TENSOR_MAP:
        return argument(position)  # type: ignore[no-any-return]
    if kind.startswith("*"):
        if argument is None:
            return Null()
        value = argument if isinstance(argument, int) else argument.data_ptr()
        return Address(value, position) if value else Null()
    if kind in _INTEGERS:
        size = _INTEGERS[kind]
        return Scalar(size, operator.index(argument) & ((1 << (8 * size)) - 1))
    if kind == "bf16":  # the number is truncated, as in Triton's own launcher
        return Scalar(2, struct.unpack("<I", struct.pack("<f", float(argument)))[0] >> 16)
    if kind in _FLOATS:
        packed = struct.pack(_FLOATS[kind], float(argument))
        return Scalar(len(packed), int.from_bytes(packed, "little"))
    raise NotRecordable(f"a kernel argument of type {kind} cannot be recorded")
