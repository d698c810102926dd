"""Measures a problem of KernelBench without computing it: on the device `meta`, where tensors have
shapes but no values.

    measured = measure(module, sizes)  # raises what the problem itself raises
    measured.bytes, measured.flops, measured.outputs, measured.written"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "importers/common"), str(ROOT / "sandbox")]

import torch  # noqa: E402
from harness.entry.class_entry import call_class  # noqa: E402
from harness.imported.problem import Made, NotAnArgument, made_inputs  # noqa: E402
from harness.operator import Rng  # noqa: E402
from harness.operator.cases import ShapeRng  # noqa: E402
from harness.wire.tensors import NAMES  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves, tree_map  # noqa: E402
from torch.utils.flop_counter import flop_registry  # noqa: E402

DRAWN = {torch.randn: "randn", torch.rand: "rand"}


@dataclass
class Measured:
    made: Made
    outputs: list[torch.Tensor]
    on_meta: bool
    flops: int = 0
    contractions: int = 0  # products of matrices, and convolutions
    random: str = ""  # an operation whose result is random, or ""
    written: list[str] = field(default_factory=list)  # the parameters and buffers that changed
    touched: list[str] = field(default_factory=list)  # the inputs that changed
    draws: list[tuple[str, list[int], str]] = field(default_factory=list)

    @property
    def given(self) -> dict[str, torch.Tensor]:
        named = {k: v for k, v in self.made.named.items() if isinstance(v, torch.Tensor)}
        return {**named, **self.made.state}

    @property
    def bytes(self) -> int:
        tensors = [*self.given.values(), *self.outputs]
        tensors += [self.made.state[name] for name in self.written]
        drawn = sum(4 * torch.Size(shape).numel() for _, shape, _ in self.draws)
        return drawn + sum(x.numel() * x.element_size() for x in tensors)


class _Meter(TorchDispatchMode):
    def __init__(self, measured: Measured) -> None:
        super().__init__()
        self._measured = measured
        self.statistics: set[int] = set()  # the ids of running statistics that were written

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        measured = self._measured
        self._note_statistics(func, args, kwargs)
        counted = flop_registry.get(func._overloadpacket)
        if counted is not None:
            measured.contractions += 1
            measured.flops += int(counted(*args, **kwargs, out_val=out))
        elif not func.is_view:
            measured.flops += sum(
                x.numel() for x in tree_leaves(out) if isinstance(x, torch.Tensor)
            )
        if torch.Tag.nondeterministic_seeded in func.tags and _is_random(func, args, kwargs):
            measured.random = measured.random or str(func._schema.name)
        return out

    def _note_statistics(self, func: Any, args: Any, kwargs: Any) -> None:
        """Notes the running statistics of a normalisation in training. torch updates them without
        a trace in their version, or in the schema of the operation."""
        named = dict(zip((one.name for one in func._schema.arguments), args, strict=False))
        named |= kwargs
        if named.get("training") or named.get("use_input_stats"):
            for name in ("running_mean", "running_var"):
                if isinstance(named.get(name), torch.Tensor):
                    self.statistics.add(id(named[name]))


def _is_random(func: Any, args: Any, kwargs: Any) -> bool:
    """Returns False for an operation that drops nothing, because its probability is 0."""
    for position, argument in enumerate(func._schema.arguments):
        if argument.name in ("p", "dropout_p", "dropout"):
            value = args[position] if position < len(args) else kwargs.get(argument.name, 0.0)
            return bool(value)
    return True


class _Draws(TorchFunctionMode):
    """Notes what forward draws with torch.randn and torch.rand, and gives it zeros, of the dtype
    that the other tensors have."""

    def __init__(self, measured: Measured, dtype: torch.dtype | None) -> None:
        super().__init__()
        self._measured = measured
        self._dtype = dtype

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func not in DRAWN:
            return func(*args, **(kwargs or {}))
        drawn = torch.zeros(*args, **(kwargs or {}))
        self._measured.draws.append((DRAWN[func], list(drawn.shape), NAMES[drawn.dtype]))
        return _in_dtype(self._dtype, drawn)


def _in_dtype(dtype: torch.dtype | None, value: Any) -> Any:
    floating = isinstance(value, torch.Tensor) and value.is_floating_point()
    return value.to(dtype) if floating and dtype is not None else value


def measure_on_meta(module: dict[str, Any]) -> Measured:
    return run(module, "given", ShapeRng())


def measure(module: dict[str, Any]) -> Measured:
    """Runs Model once, on the device `meta` if it can run there. Some constructors read a value of
    a tensor, which `meta` has not; then Model runs on the CPU."""
    try:
        return measure_on_meta(module)
    except NotAnArgument:
        raise
    except Exception:
        return run(module, "given", Rng(0, "cpu"))


def run(
    module: dict[str, Any],
    distribution: str,
    rng: Rng,
    around: Callable[[Callable[[], Any]], Any] = lambda forward: forward(),
    dtype: torch.dtype | None = None,
) -> Measured:
    """Runs Model once, on the device of `rng`. `around` calls the function that it gets. `dtype`
    replaces the floating-point dtypes."""
    made = made_inputs(module, distribution, rng)
    measured = Measured(made, [], rng.device.type == "meta")
    given = tree_map(partial(_in_dtype, dtype), made.inputs)
    inputs = [value for value in tree_leaves(given) if isinstance(value, torch.Tensor)]
    state = {name: _in_dtype(dtype, tensor) for name, tensor in made.state.items()}
    before = {name: tensor._version for name, tensor in state.items()}
    versions = [tensor._version for tensor in inputs]
    meter = _Meter(measured)
    with torch.device(rng.device), meter, _Draws(measured, dtype):
        returned = around(lambda: call_class(module["Model"], made.init, state, given, dtype=dtype))
    measured.outputs = list(returned) if isinstance(returned, tuple) else [returned]
    measured.written = [
        name
        for name, tensor in state.items()
        if tensor._version != before[name] or id(tensor) in meter.statistics
    ]
    measured.touched = [
        f"x{i}" for i, tensor in enumerate(inputs) if tensor._version != versions[i]
    ]
    return measured
