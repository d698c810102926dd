"""Draws mutants from a seed and builds their sources.

plan = draw(all_operators(), seed=1, singles=300, pairs=100, honest=50)
for order in plan:
    mutant = build(order)          # raises NotApplicable
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import drop_transforms  # noqa: F401  each of these modules fills the tables of transform.py
import output_transforms  # noqa: F401
import precision_transforms  # noqa: F401
import reuse_transforms  # noqa: F401
import rewrites  # noqa: F401
import torch_transforms  # noqa: F401
from operator_text import OperatorText
from source_tree import Source
from transform import REWRITES, TRANSFORMS, Kind, NotApplicable, Reason, Transform


@dataclass(frozen=True)
class Order:
    """A mutant to build. It is the oracle after all `transforms`, which are applied in order."""

    operator: OperatorText
    names: tuple[str, ...]
    seed: int

    @property
    def transforms(self) -> list[Transform]:
        return [{**TRANSFORMS, **REWRITES}[name] for name in self.names]

    def has(self, kind: Kind) -> bool:
        return any(transform.kind is kind for transform in self.transforms)


@dataclass(frozen=True)
class Mutant:
    order: Order
    source: str
    probe: str  # the source with triggers that raise; empty if there is no trigger
    values: str  # the source with only the transforms of Kind.VALUES; empty if there are none


def _source(order: Order, transforms: list[Transform], probe: bool = False) -> str:
    source = Source(order.operator, probe)
    for one in transforms:
        # Each transform has its own random generator. So a transform changes the same place of
        # the source when it is applied alone, in a pair of transforms, and in a twin.
        one.apply(source, random.Random(f"{order.seed} {order.operator.name} {one.name}"))
    return source.text()


def build(order: Order, needs_gpu: bool) -> Mutant:
    """Builds the source of a mutant. `needs_gpu` says whether the mutant is sent to a GPU."""
    transforms = order.transforms
    if not needs_gpu and any(one.needs_gpu for one in transforms):
        raise NotApplicable(Reason.ONLY_ON_A_GPU)
    text = _source(order, transforms)
    if not order.has(Kind.HONEST) and text == Source(order.operator).text():
        raise NotApplicable(Reason.UNCHANGED)
    values = [one for one in transforms if one.kind is Kind.VALUES]
    return Mutant(
        order,
        text,
        _source(order, transforms, probe=True) if order.has(Kind.TRIGGER) else "",
        _source(order, values) if values else "",
    )


def draw(
    operators: list[OperatorText], seed: int, singles: int, pairs: int, honest: int
) -> list[Order]:
    """Returns a random sample of orders in random order. `singles`, `pairs` and `honest` are the
    numbers of orders of each kind. A negative number means all orders of the kind. There are too
    many pairs, so a negative `pairs` means ten pairs for each operator."""
    rng = random.Random(seed)
    every = list(itertools.product(operators, TRANSFORMS))
    controls = list(itertools.product(operators, REWRITES))
    pairs = 10 * len(operators) if pairs < 0 else pairs

    def sample(of: list[tuple[OperatorText, str]], n: int) -> list[tuple[OperatorText, str]]:
        return of if n < 0 or n >= len(of) else rng.sample(of, n)

    made = [Order(operator, (name,), seed) for operator, name in sample(every, singles)]
    made += [Order(operator, (name,), seed) for operator, name in sample(controls, honest)]
    names = sorted(TRANSFORMS)
    made += [Order(rng.choice(operators), tuple(rng.sample(names, 2)), seed) for _ in range(pairs)]
    rng.shuffle(made)
    return made
