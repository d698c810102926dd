"""Classifies the torch operations of a submission's host code. An operation is free, arithmetic on
known values, work for the plan, or refused.

This module is a TorchDispatchMode above FakeTensorMode. Every operation has exactly one class:
  - Views and metadata cost nothing and are passed on.
  - Operations on known values (literals, zeros, arange, structural inputs) are computed on real
    CPU tensors, in addition to the fake result.
  - Allocation, fill, copy, clone and cat of device data become buffers and operations of the plan.
  - Random numbers are drawn while the plan is recorded, and become constants of the plan.
  - Arithmetic on device data becomes launches of Assay's kernels, if `arithmetic` is true.
  - Every other operation, such as a read of device data, raises NotRecordable, and the message
    contains the operation's name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_map

from harness.entry.moves import moves
from harness.entry.operations import (
    ALIASES,
    ALLOCATIONS,
    DRAWN_INTO,
    DRAWN_LIKE,
    LIFTS,
    METADATA,
    UNIFORM,
    replaceable,
    why_not,
)
from harness.recording.arithmetic import Arithmetic
from harness.recording.recorder import Recorder
from harness.recording.storage import MAX_KNOWN_BYTES, Uniform, uniform


class Classifier(TorchDispatchMode):
    """Classifies operations, and passes buffers and plan operations to `recorder` (see the module's
    docstring). If `arithmetic` is true, it also records the operations that arithmetic.py covers.
    `arithmetic` is false for a scored submission, which must compute with its own kernels."""

    def __init__(self, recorder: Recorder, arithmetic: bool = False) -> None:
        super().__init__()
        self._recorder = recorder
        self._storages = recorder.storages
        self._arithmetic = Arithmetic(recorder) if arithmetic else None
        # Maps each operation of operations.MOVES to the function that records it.
        self._work: dict[str, Callable[..., Any]] = {
            "aten::clone": self._clone,
            "aten::_to_copy": self._to_copy,
            "aten::copy_": self._copy,
            "aten::fill_": self._fill,
            "aten::zero_": self._zero,
            "aten::cat": self._pieces,
            "aten::stack": self._pieces,
            "aten::repeat": self._pieces,
            "aten::constant_pad_nd": self._pad,
            "aten::_pin_memory": self._clone,
        }

    def use_arithmetic(self, arithmetic: Arithmetic) -> None:
        self._arithmetic = arithmetic

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = func._schema.name
        if name in METADATA:
            return func(*args, **kwargs)
        if name in LIFTS and not isinstance(args[0], FakeTensor):
            return self._recorder.adopt(args[0])
        args, kwargs = tree_map(self._as_fake, (args, kwargs))
        if func.is_view or name in ALIASES:
            return func(*args, **kwargs)
        # This operation returns a view. Code that torch.compile generated uses it.
        if name == "inductor::_reinterpret_tensor":
            source, size, stride = args[:3]
            offset = args[3] if len(args) > 3 else kwargs.get("offset_increment", 0)
            return torch.as_strided(source, size, stride, int(source.storage_offset()) + offset)
        if name in ALLOCATIONS:
            return self._register(func(*args, **kwargs), None)
        if name in UNIFORM:
            out = func(*args, **kwargs)
            return self._register(
                out,
                uniform(
                    out.dtype, kwargs.get("fill_value", UNIFORM[name](args) if len(args) else 0)
                ),
            )
        tensors = [x for x in tree_flatten((args, kwargs))[0] if isinstance(x, FakeTensor)]
        if self._all_known(func, args, kwargs, tensors):
            return self._compute(func, args, kwargs, tensors)
        if name in self._work and "out" not in kwargs:
            return self._work[name](func, args, kwargs)
        if torch.Tag.nondeterministic_seeded in func.tags:
            return self._random(func, args, kwargs)
        performed = self._arithmetic.perform(func, args, kwargs) if self._arithmetic else None
        if performed is not None:
            return performed
        raise self._recorder.refuse(why_not(func), reads_values=True, subject=replaceable(func))

    # The methods below handle values that are known while the plan is recorded.

    def _as_fake(self, value: Any) -> Any:
        return (
            self._recorder.adopt(value)
            if isinstance(value, torch.Tensor) and not isinstance(value, FakeTensor)
            else value
        )

    def _register(self, out: torch.Tensor, content: Uniform | torch.Tensor | None) -> torch.Tensor:
        if content is None and out.device.type == "cpu":
            content = Uniform(1, 0)  # uninitialised host memory, which host code may write later
        self._storages.add(out, content)
        return out

    def _all_known(self, func: Any, args: Any, kwargs: Any, tensors: Sequence[FakeTensor]) -> bool:
        for tensor in tensors:
            if not self._recorder.record_of(tensor).computable:
                return False
        for position, argument in enumerate(func._schema.arguments):
            if argument.alias_info is not None and argument.alias_info.is_write:
                target = kwargs.get(argument.name, args[position] if position < len(args) else None)
                if (
                    isinstance(target, FakeTensor)
                    and not self._recorder.record_of(target).host_known
                ):
                    return False
        return True

    def _compute(self, func: Any, args: Any, kwargs: Any, tensors: Sequence[FakeTensor]) -> Any:
        if torch.Tag.nondeterministic_seeded in func.tags:
            self._recorder.note(
                f"{func._schema.name}: its random numbers were drawn when the plan was recorded, and are constants of it"
            )
        shadows: dict[int, FakeTensor] = {}

        def real(value: Any) -> Any:
            if isinstance(value, FakeTensor):
                shadow = self._recorder.values(value)
                shadows[id(shadow)] = value
                return shadow
            return torch.device("cpu") if isinstance(value, torch.device) else value

        device = self._device_of(kwargs, tensors)
        with _disable_current_modes():
            real_args, real_kwargs = tree_map(real, (args, kwargs))
            if "pin_memory" in real_kwargs:
                real_kwargs["pin_memory"] = False
            result = (
                real_args[0].clone()
                if func._schema.name == "aten::_pin_memory"
                else func(*real_args, **real_kwargs)
            )

        def fake(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            if id(value) in shadows:  # an in-place operation returns its own argument
                return shadows[id(value)]
            return self._recorder.adopt(value, device)

        return tree_map(fake, result)

    @staticmethod
    def _device_of(kwargs: Any, tensors: Sequence[FakeTensor]) -> torch.device:
        if kwargs.get("device") is not None:
            device = torch.device(kwargs["device"])
        else:
            on_device = [t for t in tensors if t.device.type != "cpu"]
            shaped = [t for t in on_device if t.dim() > 0] or (
                on_device if all(t.dim() == 0 for t in tensors) else []
            )
            device = shaped[0].device if shaped else torch.device("cpu")
        return torch.device("cuda", 0) if device.type == "cuda" else device

    def _random(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Runs an operation that creates or fills a device tensor with random numbers. The numbers
        become constants of the plan."""
        name = func._schema.name
        out = args[0] if name.endswith("_") else func(*args, **kwargs)
        if not isinstance(out, torch.Tensor) or name not in DRAWN_LIKE | DRAWN_INTO:
            raise self._recorder.refuse(
                f"{name} makes random numbers from device data; randomness must come from inputs"
            )
        if out.numel() * out.element_size() > MAX_KNOWN_BYTES:
            raise self._recorder.refuse(
                f"{name}: random constants are limited to {MAX_KNOWN_BYTES} bytes"
            )
        with _disable_current_modes():
            like = torch.empty(tuple(out.shape), dtype=out.dtype)
            options = {
                key: value
                for key, value in kwargs.items()
                if key in ("generator", "from", "to", "low", "high", "mean", "std")
            }
            drawn = func(like, *args[1:], **options)
        self._recorder.note(
            f"{name}: its random numbers were drawn when the plan was recorded, and are constants of it"
        )
        known = self._recorder.adopt(drawn, out.device)
        if not name.endswith("_"):
            return known
        self._recorder.copy(out, known, name)
        return out

    # The methods below record operations of torch in the plan.

    def _clone(self, func: Any, args: Any, kwargs: Any) -> Any:
        out = self._register(func(*args, **kwargs), None)
        self._recorder.copy(out, args[0], func._schema.name)
        return out

    def _to_copy(self, func: Any, args: Any, kwargs: Any) -> Any:
        source = args[0]
        device = torch.device(kwargs.get("device") or source.device)
        if device.type == "cpu" and source.device.type != "cpu":
            raise self._recorder.refuse(
                "aten::_to_copy moves a device tensor to the host (.cpu(), .to('cpu')); a launch plan cannot do that"
            )
        return self._clone(func, args, kwargs)

    def _copy(self, func: Any, args: Any, kwargs: Any) -> Any:
        target, source = args[0], args[1]
        func(*args, **kwargs)  # this call checks the shapes
        if target.device.type == "cpu":
            raise self._recorder.refuse(
                "aten::copy_ writes a device tensor to the host; a launch plan cannot do that"
            )
        if source.dtype != target.dtype and self._recorder.record_of(source).computable:
            with _disable_current_modes():
                converted = self._recorder.values(source).to(target.dtype)
            source = self._recorder.adopt(converted, target.device)
        if source.shape != target.shape:
            source = source.expand(target.shape)
        self._recorder.copy(target, source, "aten::copy_")
        return target

    def _fill(self, func: Any, args: Any, kwargs: Any) -> Any:
        target, value = args[0], args[1]
        if isinstance(value, FakeTensor):
            if self._recorder.record_of(value).content is None:
                raise self._recorder.refuse(
                    "aten::fill_ with the value of a device tensor; use copy_ or your own kernel"
                )
            with _disable_current_modes():
                value = self._recorder.values(value).item()
        self._recorder.fill(target, uniform(target.dtype, value), "aten::fill_")
        return target

    def _zero(self, func: Any, args: Any, kwargs: Any) -> Any:
        self._recorder.fill(args[0], uniform(args[0].dtype, 0), "aten::zero_")
        return args[0]

    def _pieces(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Records an operation whose result is made of copies of other tensors."""
        out = self._register(func(*args, **kwargs), None)
        for target, source in moves(func._schema.name, args, kwargs, out):
            self._recorder.copy(target, source, func._schema.name)
        return out

    def _pad(self, func: Any, args: Any, kwargs: Any) -> Any:
        padding = list(args[1])
        out = self._register(func(*args, **kwargs), None)
        if min(padding, default=0) < 0:
            raise self._recorder.refuse(
                "aten::constant_pad_nd with a negative padding; take a view instead"
            )
        self._recorder.fill(
            out,
            uniform(out.dtype, args[2] if len(args) > 2 else kwargs.get("value", 0)),
            "aten::constant_pad_nd",
        )
        for target, piece in moves("aten::constant_pad_nd", args, kwargs, out):
            self._recorder.copy(target, piece, "aten::constant_pad_nd")
        return out
