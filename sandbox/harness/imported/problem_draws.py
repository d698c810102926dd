"""Draws the inputs and the parameters of a problem (problem.py) from the seed of a case.

    with Draws("signed", rng):
        inputs = get_inputs()  # torch.rand gives normal numbers
    state = drawn_state(Model, init, rng)

`given` draws inputs as the benchmark's own function does. The other distributions replace what
torch.rand and torch.randn draw, because a benchmark whose inputs are never negative cannot tell a
ReLU from a copy."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from harness.entry.class_entry import state_of, undrawn
from harness.imported.generators import SEED_LIMIT, seeded_generators
from harness.imported.randint_bounds import randint_bounds
from harness.operator import Rng

Draw = Callable[[Rng, Any, torch.dtype], torch.Tensor]
GIVEN = "given"
WIDE = 32.0  # the exponential of such a number is often above the range of float32
# The distributions of inputs besides `given`.
DISTRIBUTIONS: dict[str, Draw] = {
    "signed": lambda rng, shape, dtype: rng.normal(shape, dtype),
    "shifted": lambda rng, shape, dtype: (rng.normal(shape) * 0.5 - 2.0).to(dtype),
    "wide": lambda rng, shape, dtype: (rng.normal(shape) * WIDE).to(dtype),
}
_LIKE = {torch.rand_like: torch.rand, torch.randn_like: torch.randn}
# The names of buffers whose values a module learns, so that a case may draw them.
_STATISTICS = ("running_mean", "running_var")


class Draws(TorchFunctionMode):
    """Draws tensors from `rng` in place of torch's random functions, on the device of `rng`."""

    def __init__(self, distribution: str, rng: Rng) -> None:
        super().__init__()
        self._draw = DISTRIBUTIONS.get(distribution)
        self._rng = rng
        self.changed = 0  # how many draws the distribution replaced

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        kwargs.pop("generator", None)
        if func in _LIKE:
            dtype = kwargs.get("dtype") or args[0].dtype
            return self._drawn(_LIKE[func], args[0].shape, dtype)
        if func not in (torch.rand, torch.randn, torch.randint, torch.randperm):
            return func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            form = func(*args, **{**kwargs, "device": "meta"})
        if func is torch.randperm:
            return self._rng.permutation(form.shape[0]).to(form.dtype)
        if func is torch.randint:
            return self._rng.integers(form.shape, *randint_bounds(args, kwargs), form.dtype)
        return self._drawn(func, form.shape, form.dtype)

    def _drawn(self, func: Any, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        if self._draw is not None and dtype.is_floating_point:
            self.changed += 1
            return self._draw(self._rng, shape, dtype)
        if func is torch.randn:
            return self._rng.normal(shape, dtype)
        return self._rng.uniform(shape, dtype)


@contextlib.contextmanager
def seeded(rng: Rng) -> Iterator[None]:
    """Seeds the generators that a problem may use besides those that Draws replaces. Restores their
    state at the end."""
    seed = 0
    if rng.device.type != "meta":
        seed = int(rng.integers((1,), 0, SEED_LIMIT).item())
    with seeded_generators(seed):
        yield


def drawn_state(
    model: type[torch.nn.Module], init: Sequence[Any], rng: Rng, vary: bool = True
) -> dict[str, Any]:
    """Returns values for the parameters and buffers of the model. A parameter that the constructor
    draws has the constructor's distribution. A parameter that the constructor sets to a constant,
    such as the weight of a normalisation, is drawn, because a submission could ignore it. A buffer
    has the constructor's values, unless it is a statistic. Without `vary`, all values are those of
    the constructor."""
    meta = rng.device.type == "meta"
    with torch.no_grad(), torch.device(rng.device), undrawn() if meta else contextlib.nullcontext():
        made = model(*init)
    state = {}
    for name, tensor in state_of(made).items():
        value = tensor.detach().to(rng.device)
        drawn = vary and (isinstance(tensor, torch.nn.Parameter) or name.endswith(_STATISTICS))
        if not meta and drawn and value.is_floating_point() and value.numel():
            value = _varied(value, rng)
        state[name] = value.contiguous()
    return state


def _varied(value: torch.Tensor, rng: Rng) -> torch.Tensor:
    """Returns the tensor, or random numbers of its size if all its elements are equal."""
    first = value.reshape(-1)[0]
    if value.numel() > 1 and not bool((value == first).all()):
        return value
    constant = float(first)
    if constant == 0:
        return (rng.normal(value.shape) * 0.5).to(value.dtype)
    if value.numel() == 1 and constant not in (1.0, -1.0):
        return value  # one drawn number
    return (rng.uniform(value.shape, torch.float32, 0.5, 1.5) * constant).to(value.dtype)
