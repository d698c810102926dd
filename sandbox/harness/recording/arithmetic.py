"""Records torch arithmetic on device data as launches of Assay's own kernels
(arithmetic_kernels.py).

    arithmetic = Arithmetic(recorder)
    out = arithmetic.perform(func, args, kwargs)  # None if the operation is not covered

This module serves to record code that was not written for Assay, such as the wrappers of
TritonBench-G. It is not used for scored submissions, whose own kernels must do all arithmetic.

The covered operations are the elementwise operations in the two lists of arithmetic_kernels.py,
including their in-place forms. The reductions sum, mean, amax, amin and count_nonzero are covered
over any dimensions, and max and min over all dimensions."""

from __future__ import annotations

from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

from harness.recording import arithmetic_kernels as kernels
from harness.recording.recorder import Recorder

_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_WHOLE = {"max": "amax", "min": "amin"}  # the overloads without a dimension
_REVERSED = {"sub": "rsub", "div": "rdiv"}


class Arithmetic:
    """Performs the covered operations (see the module's docstring)."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def perform(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor | None:
        name, overload = func._schema.name.removeprefix("aten::"), func._overloadname
        if name in _WHOLE:
            name = (
                _WHOLE[name]
                if overload == "default"
                else {"max": "maximum", "min": "minimum"}[name]
                if overload == "other"
                else name
            )
        if "out" in kwargs:
            return None
        if name == "count_nonzero":
            return self._count(func, args, kwargs)
        if name in kernels.REDUCTIONS:
            return self._reduce(name, func, args, kwargs)
        is_inplace = name.endswith("_")
        base = name.removesuffix("_")
        if base in kernels.UNARY | kernels.BINARY or base == "rsub":
            return self._pointwise(base, is_inplace, func, args, kwargs)
        return None

    # The methods below record operations that work element by element.

    def _pointwise(
        self, name: str, is_inplace: bool, func: Any, args: Any, kwargs: Any
    ) -> torch.Tensor | None:
        if (
            kwargs.get("rounding_mode") is not None
            or kwargs.get("alpha", 1) != 1
            or (name == "rsub" and len(args) > 2)
        ):
            return None
        operands = list(args[:1] if name in kernels.UNARY else args[:2])
        promoted = torch.result_type(*operands) if len(operands) == 2 else None
        out = args[0] if is_inplace else func(*args, **kwargs)
        dtype = (
            promoted if promoted is not None and (is_inplace or name in _COMPARISONS) else out.dtype
        )
        if not kernels.can_compute(
            dtype, out.dtype, *(x.dtype for x in operands if isinstance(x, torch.Tensor))
        ):
            return None
        operands = [self._number(x) for x in operands]
        # The kernel takes a number only as the second operand. If the first operand is a number,
        # the operands are swapped.
        if not isinstance(operands[0], torch.Tensor):
            if name in _REVERSED:
                name = _REVERSED[name]
            elif name in _COMPARISONS:
                name = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(name, name)
            operands.reverse()
        scalar = operands.pop() if not isinstance(operands[-1], torch.Tensor) else 0
        if (
            isinstance(scalar, complex)
            or not operands
            or (isinstance(scalar, int) and abs(scalar) > kernels.MAX_EXACT_INTEGER)
        ):
            return None
        if not is_inplace:
            self._recorder.storages.add(out, None)
        if out.numel():
            dense = [self._dense(x.expand(out.shape)) for x in operands]
            direct = out.is_contiguous()
            result = out if direct else torch.empty(out.shape, dtype=out.dtype, device=out.device)
            kernels.launch_pointwise(name, result, dense, float(scalar), dtype)
            if not direct:
                self._recorder.copy(out, result, func._schema.name)
            self._note(func, kernels.assay_pointwise)
        return out  # type: ignore[no-any-return]

    def _number(self, value: Any) -> Any:
        """If `value` is a tensor with one element whose value is known, returns that value.
        Otherwise returns `value`."""
        if (
            not isinstance(value, FakeTensor)
            or value.numel() != 1
            or not self._recorder.record_of(value).computable
        ):
            return value
        with _disable_current_modes():
            return self._recorder.values(value).item()

    def _dense(self, tensor: torch.Tensor) -> torch.Tensor:
        if tensor.is_contiguous():
            return tensor
        dense = torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device)
        self._recorder.copy(dense, tensor, "aten::clone")
        return dense

    # The methods below record reductions.

    def _reduce(self, name: str, func: Any, args: Any, kwargs: Any) -> torch.Tensor | None:
        source = args[0]
        out = func(*args, **kwargs)
        dims = _dims(source, args, kwargs)
        to = out
        if name == "sum" and source.is_complex() and out.is_complex():
            source, to = torch.view_as_real(source), torch.view_as_real(out)
        if (
            not kernels.can_compute(source.dtype, to.dtype)
            or out.dtype == torch.bool
            or (out.numel() and not source.numel())
        ):
            return None
        self._recorder.storages.add(out, None)
        if out.numel():
            kernels.launch_reduce(name, to, source, dims, self._dense)
            self._note(func, kernels.assay_reduce)
        return out  # type: ignore[no-any-return]

    def _count(self, func: Any, args: Any, kwargs: Any) -> torch.Tensor | None:
        source = args[0]
        out = func(*args, **kwargs)
        if not kernels.can_compute(source.dtype) or not source.numel() or not out.numel():
            return None
        self._recorder.storages.add(out, None)
        counted = torch.empty(source.shape, dtype=torch.bool, device=source.device)
        kernels.launch_pointwise("ne", counted, [self._dense(source)], 0.0, source.dtype)
        kernels.launch_reduce("sum", out, counted, _dims(source, args, kwargs), self._dense)
        self._note(func, kernels.assay_reduce)
        return out  # type: ignore[no-any-return]

    def _note(self, func: Any, kernel: Any) -> None:
        self._recorder.note(f"{func._schema.name} is performed by Assay's kernel {kernel.__name__}")


def _dims(source: torch.Tensor, args: Any, kwargs: Any) -> list[int]:
    """Returns the dimensions that a reduction reduces: those in its arguments, or all dimensions if
    the arguments contain none."""
    given = args[1] if len(args) > 1 else kwargs.get("dim")
    if (
        given is None
        or isinstance(given, torch.dtype)
        or (isinstance(given, list | tuple) and not given)
    ):
        return list(range(source.dim()))
    return sorted(
        {dim % max(source.dim(), 1) for dim in ([given] if isinstance(given, int) else given)}
    )
