"""Converts the arguments of a launch to parameters of a launch plan.

    params = parameters_of(launch, signature, names)        # raises ManifestError

In a manifest, a tensor's name means its address, `x[n]` means the address of the n-th element of x,
and `null` means the null pointer. Everything else is a number, which is packed according to the
type of the kernel's parameter."""

from __future__ import annotations

from collections.abc import Sequence

from harness.cuda_cpp.case_names import CaseNames, Names, dense, wrong
from harness.cuda_cpp.expressions import ExpressionError, evaluate
from harness.cuda_cpp.launches import ResolvedLaunch
from harness.cuda_cpp.manifest import (
    MAX_TENSOR_MAP_RANK,
    SWIZZLES,
    Argument,
    Expression,
    TensorMapArgument,
)
from harness.cuda_cpp.ptx import Parameter
from harness.cuda_cpp.scalars import pack
from harness.entry.errors import ManifestError
from harness.recording import plan as plans

POINTER = Parameter("integer", 8)
TENSOR_MAP = Parameter("bytes", 128)
_MAX_BOX = 256
_ROW_BYTES = 16  # in bytes; every stride of a tensor map must be a multiple of this
# Maps each dtype to its value in the driver's enum CUtensorMapDataType.
_MAP_TYPES = {
    "uint8": 0, "int8": 0, "bool": 0, "float8_e4m3fn": 0, "float8_e5m2": 0, "int16": 1, "uint32": 2, "int32": 3, "int64": 5,
    "float16": 6, "float32": 7, "float64": 8, "bfloat16": 9,
}  # fmt: skip
_FIRST_FLOAT_MAP = 6


def parameters_of(
    launch: ResolvedLaunch, signature: Sequence[Parameter], case: CaseNames
) -> list[plans.Param]:
    """Returns one plan parameter for each parameter of the kernel."""
    entry = launch.entry
    if len(entry.arguments) != len(signature):
        line = entry.arguments[0].expression.line if entry.arguments else entry.line
        raise ManifestError(
            "type_error",
            f"{entry.where}: args has {len(entry.arguments)} entries; the kernel takes {len(signature)}",
            line,
        )
    params: list[plans.Param] = []
    for argument, parameter in zip(entry.arguments, signature, strict=True):
        try:
            params.append(_param(argument, parameter, case, launch.names))
        except ExpressionError as error:
            raise wrong(
                error.kind, f"({argument.expression.text[:60]}) {error}", argument.expression
            ) from None
    return params


def _param(argument: Argument, parameter: Parameter, case: CaseNames, names: Names) -> plans.Param:
    if argument.tensor_map is not None:
        return _tensor_map(argument.tensor_map, parameter, case, names)
    address = _address(argument.expression, case, names)
    if address is None:
        return pack(evaluate(argument.expression.text, names), parameter, argument.dtype)
    if parameter != POINTER or argument.dtype:
        raise ExpressionError("type_error", "a tensor is passed where the kernel takes no pointer")
    return address


def _address(
    expression: Expression, case: CaseNames, names: Names
) -> plans.Pointer | plans.Null | None:
    """Returns the parameter for an address, or None if the argument is a number."""
    name, bracket, rest = expression.text.partition("[")
    buffer = case.buffers.get(name.strip())
    if buffer is None:
        return plans.Null() if expression.text == "null" else None
    offset = 0
    if bracket:
        if not rest.endswith("]"):
            raise ExpressionError(
                "syntax_error", f"want {name}, or {name}[n] for the address of its n-th element"
            )
        at = case.extent(Expression(rest[:-1], expression.where, expression.line), names)
        offset = at * buffer.facts.itemsize
        if offset > buffer.nbytes:
            raise ExpressionError(
                "index_error",
                f"{name} has {buffer.nbytes // buffer.facts.itemsize} elements; there is no [{at}]",
            )
    return plans.Pointer(buffer.index, offset) if buffer.nbytes else plans.Null()


def _tensor_map(
    wanted: TensorMapArgument, parameter: Parameter, case: CaseNames, names: Names
) -> plans.TensorMap:
    """Returns the parameter for a tensor map. Checks the driver's rules for tensor maps, so that a
    mistake is reported now and not by a failed launch."""
    if parameter != TENSOR_MAP:
        raise ExpressionError(
            "type_error",
            "a tensor_map is passed; the kernel takes no `const __grid_constant__ CUtensorMap` there",
        )
    buffer = case.buffers.get(wanted.buffer)
    if buffer is None:
        raise ExpressionError(
            "name_error", f"unknown tensor {wanted.buffer!r}; valid: {', '.join(case.buffers)}"
        )
    facts = buffer.facts
    if wanted.shape is not None:
        facts = dense(facts.dtype, [case.extent(extent, names, 1) for extent in wanted.shape])
        if facts.nbytes > buffer.nbytes:
            raise ExpressionError(
                "value_error", f"shape {list(facts.shape)} has more elements than {wanted.buffer}"
            )
    box = [case.extent(extent, names, 1) for extent in wanted.box]
    if len(box) != facts.ndim or not 1 <= len(box) <= MAX_TENSOR_MAP_RANK:
        raise ExpressionError(
            "value_error",
            f"box {box} has {len(box)} dimensions, the tensor {facts.ndim}; valid are 1 to {MAX_TENSOR_MAP_RANK}",
        )
    strides = [stride * facts.itemsize for stride in reversed(facts.strides[:-1])]
    if (
        facts.strides[-1] != 1
        or 0 in facts.shape
        or any(stride % _ROW_BYTES for stride in strides)
        or max(box) > _MAX_BOX
    ):
        raise ExpressionError(
            "value_error",
            f"want contiguous rows at multiples of {_ROW_BYTES} bytes, and boxes of at most {_MAX_BOX} in each dimension",
        )
    kind = _MAP_TYPES.get(facts.dtype)
    if kind is None or (wanted.nan_outside and kind < _FIRST_FLOAT_MAP):
        raise ExpressionError(
            "type_error",
            f"{wanted.buffer} is {facts.dtype}; a tensor_map has {', '.join(_MAP_TYPES)}, and nan_outside floats",
        )
    shape = [*reversed(facts.shape)]
    return plans.TensorMap(
        buffer.index,
        0,
        kind,
        SWIZZLES[wanted.swizzle],
        wanted.nan_outside,
        shape,
        strides,
        [*reversed(box)],
    )
