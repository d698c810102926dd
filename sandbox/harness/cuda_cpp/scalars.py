"""Converts a number to the bytes of a kernel parameter.

    pack(7, Parameter("integer", 4), "")  # Scalar(size=4, value=7)
    pack(0.5, Parameter("bytes", 2), "float16")  # a __half by value

If the manifest states a `dtype`, the number is converted to this dtype, whose size must equal the
parameter's size. Otherwise the type of the parameter decides the conversion. All functions are
pure."""

from __future__ import annotations

import struct

import torch
from torch.utils._python_dispatch import _disable_current_modes

from harness.cuda_cpp.expressions import ExpressionError, Number
from harness.cuda_cpp.ptx import Parameter
from harness.recording.plan import Scalar

_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
_FLOAT_DTYPES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}
_INTEGER_DTYPES = {
    "bool": (1, 0, 1),
    "int8": (1, -(2**7), 2**7 - 1),
    "uint8": (1, 0, 2**8 - 1),
    "int16": (2, -(2**15), 2**15 - 1),
    "uint16": (2, 0, 2**16 - 1),
    "int32": (4, -(2**31), 2**31 - 1),
    "uint32": (4, 0, 2**32 - 1),
    "int64": (8, -(2**63), 2**63 - 1),
    "uint64": (8, 0, 2**64 - 1),
}
_SIZES = (1, 2, 4, 8)


def pack(value: Number, parameter: Parameter, dtype: str) -> Scalar:
    """Converts a number for a parameter. Raises ExpressionError if the value does not fit."""
    if dtype in _FLOAT_DTYPES:
        return _sized(_float(float(value), dtype), parameter, dtype)
    if dtype:
        size, low, high = _INTEGER_DTYPES[dtype]
        return _sized(_integer(value, size, low, high, dtype), parameter, dtype)
    if parameter.kind == "bytes":
        raise ExpressionError(
            "type_error",
            f"the kernel takes {parameter.size} bytes by value there (__half, __nv_bfloat16 or a struct); give the number's type, as in "
            '"eps : float16", or let the kernel take a float, an int or a pointer',
        )
    if parameter.kind == "float":
        return Scalar(
            parameter.size,
            int.from_bytes(
                struct.pack(_FLOATS[parameter.size], _finite(value, parameter.size)), "little"
            ),
        )
    bits = 8 * parameter.size
    return _integer(value, parameter.size, -(2 ** (bits - 1)), 2**bits - 1, f"{bits}-bit integer")


def _sized(scalar: Scalar, parameter: Parameter, dtype: str) -> Scalar:
    if scalar.size != parameter.size:
        raise ExpressionError(
            "type_error",
            f"a {dtype} has {scalar.size} bytes; the kernel's parameter has {parameter.size}",
        )
    return scalar


def _integer(value: Number, size: int, low: int, high: int, what: str) -> Scalar:
    if isinstance(value, float) or size not in _SIZES:
        raise ExpressionError("type_error", f"{value} is passed for a {what}; // divides integers")
    if not low <= int(value) <= high:
        raise ExpressionError(
            "value_error", f"{value} does not fit a {what}, which is from {low} to {high}"
        )
    return Scalar(size, int(value) & ((1 << (8 * size)) - 1))


def _finite(value: Number, size: int) -> float:
    number = float(value)
    try:
        struct.pack(_FLOATS[size], number)
    except OverflowError:
        raise ExpressionError(
            "value_error", f"{value} does not fit a float of {size} bytes"
        ) from None
    return number


def _float(value: float, dtype: str) -> Scalar:
    if dtype != "bfloat16":
        size = _FLOAT_DTYPES[dtype]
        return Scalar(
            size, int.from_bytes(struct.pack(_FLOATS[size], _finite(value, size)), "little")
        )
    with _disable_current_modes():
        word = torch.tensor([value], dtype=torch.bfloat16).view(torch.int16)
        return Scalar(2, int(word[0]) & 0xFFFF)
