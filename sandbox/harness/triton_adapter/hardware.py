"""Makes the arithmetic of Triton's interpreter equal to a GPU's where the two differ.

    as_hardware(refusals)  # once, after the switch to the interpreter

  - Without `propagate_nan`, if one operand of `tl.maximum`, `tl.minimum` or `tl.clamp` is NaN, the
    result is the other operand, as with PTX's `max.f32` and `min.f32`. The interpreter would return
    NaN.
  - The functions of libdevice return the float64 result, rounded. The real libdevice differs from
    this result by a few units in the last place.
  - Inline assembly and libdevice functions without a model in this module raise UnsupportedHere.

The reductions `tl.max` and `tl.min` are not changed, because they ignore NaN in the interpreter as
on a GPU. With `return_indices`, their result for NaN depends on the order of the reduction, also on
a GPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import triton.language as tl
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice
from triton.runtime import interpreter
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

from harness.entry.errors import UnsupportedHere
from harness.entry.refusals import Refusals

Array: TypeAlias = np.ndarray[Any, Any]
PREFIX = "__nv_"


def _each(function: Callable[..., float]) -> Callable[..., Array]:
    """Returns a function that applies `function` to each element of an array. The result is NaN
    where `function` raises an error."""

    def one(*values: float) -> float:
        try:
            return function(*values)
        except (ValueError, OverflowError):
            return math.nan

    return np.vectorize(one, otypes=[np.float64])


def _round_away(x: Array) -> Array:
    return np.trunc(x) + np.where(np.abs(x - np.trunc(x)) >= 0.5, np.copysign(1.0, x), 0.0)


def _gamma(x: float) -> float:
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf


# Maps the name of a float64 function of libdevice to its model. The name of the float32 function is
# the same name with `f` at its end.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(np, name)
        for name in (
            *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt"),
            *("sin", "cos", "tan", "sinh", "cosh", "tanh", "ceil", "floor", "trunc", "rint"),
            *("fabs", "fmax", "fmin", "fmod", "hypot", "copysign"),
        )
    },
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "nearbyint": np.rint,
    "round": _round_away,
    "exp10": lambda x: np.power(10.0, x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "pow": np.power,
    "fdivide": np.divide,
    "fma": lambda x, y, z: x * y + z,
    "fdim": lambda x, y: np.where(x > y, x - y, np.where(np.isnan(x + y), np.nan, 0.0)),
    "erf": _each(math.erf),
    "erfc": _each(math.erfc),
    "normcdf": _each(lambda x: 0.5 * math.erfc(-x / math.sqrt(2))),
    "lgamma": _each(math.lgamma),
    "tgamma": _each(_gamma),
    "sinpi": lambda x: np.sin(np.pi * np.fmod(x, 2.0)),
    "cospi": lambda x: np.cos(np.pi * np.fmod(x, 2.0)),
    "saturate": lambda x: np.fmin(np.fmax(x, 0.0), 1.0),
    "isnan": np.isnan,
    "isinf": np.isinf,
    "finite": np.isfinite,
    "signbit": np.signbit,
}
# Maps other names of libdevice's functions to keys of _FUNCTIONS.
_OTHER = {"isnand": "isnan", "isinfd": "isinf", "isfinited": "finite", "signbitd": "signbit"}


def model_of(symbol: str) -> Callable[..., Any] | None:
    """Returns the model of a libdevice symbol, or None if there is no model. The `fast_` functions
    are the hardware's approximations of the normal functions, so they have the same models."""
    name = symbol.removeprefix(PREFIX).removeprefix("fast_")
    return _FUNCTIONS.get(_OTHER.get(name, name)) or _FUNCTIONS.get(name.removesuffix("f"))


def as_hardware(refusals: Refusals) -> None:
    """Patches Triton's interpreter (see the module's docstring)."""
    InterpreterBuilder.create_maxnumf = _binary(np.fmax)
    InterpreterBuilder.create_minnumf = _binary(np.fmin)
    InterpreterBuilder.create_clampf = _clamp
    InterpreterBuilder.create_extern_elementwise = _library(refusals)
    InterpreterBuilder.create_inline_asm = _assembly(refusals)
    _bind_libdevice()


def _binary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda builder, lhs, rhs: builder.binary_op(lhs, rhs, function)


def _clamp(builder: Any, x: Any, low: Any, high: Any, propagate_nan: Any) -> Any:
    if propagate_nan == tl.PropagateNan.ALL:
        clamped = np.minimum(np.maximum(x.data, low.data), high.data)
    else:
        clamped = np.fmin(np.fmax(x.data, low.data), high.data)
    return TensorHandle(clamped.astype(x.data.dtype, copy=False), x.dtype.scalar)


def _library(refusals: Refusals) -> Callable[..., Any]:
    def call(
        _: Any, name: str, path: str, symbol: str, arguments: Any, result: Any, *__: Any
    ) -> Any:
        model = None if name or path else model_of(symbol)
        if model is None:
            raise refusals.refuse(
                UnsupportedHere(
                    f"{symbol} is a function of a device library that Triton's CPU interpreter does not have; it needs a GPU"
                )
            )
        with np.errstate(all="ignore"):
            values = model(*(np.asarray(one.data, dtype=np.float64) for one in arguments))
        dtype = interpreter._get_np_dtype(result.scalar)
        return TensorHandle(np.asarray(values).astype(dtype), result.scalar)

    return call


def _assembly(refusals: Refusals) -> Callable[..., Any]:
    def call(*_: Any, **__: Any) -> Any:
        raise refusals.refuse(
            UnsupportedHere(
                "tl.inline_asm_elementwise is machine code of a GPU, which Triton's CPU interpreter cannot run; it needs a GPU"
            )
        )

    return call


def _bind_libdevice() -> None:
    """Enables interpreted kernels to call libdevice's functions. The compiler passes the argument
    `_semantic` to each call. The interpreter does not pass it, so this function adds it. The
    compiler also replaces the functions of `extra.libdevice`, which do nothing themselves, by the
    target's functions. This function replaces them by CUDA's functions."""

    def bound(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            named.setdefault("_semantic", interpreter.interpreter_semantic)
            return function(*arguments, **named)

        return call

    for name, function in list(vars(cuda_libdevice).items()):
        if tl.core.is_builtin(function):
            setattr(cuda_libdevice, name, bound(function))
            if hasattr(libdevice, name):
                setattr(libdevice, name, getattr(cuda_libdevice, name))
