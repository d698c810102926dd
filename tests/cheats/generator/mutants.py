"""Draws mutants from a seed and builds their sources.

for order in plan(all_operators(), seed=1, singles=300, pairs=100, honest=50):
    mutant = build(order, needs_gpu=False)          # raises NotApplicable
"""

from __future__ import annotations

import ast
import functools
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

PAIRS_OF_AN_OPERATOR = 10  # if all pairs are asked for


@dataclass(frozen=True)
class Order:
    """A mutant to build. It is the oracle after all `transforms`, which are applied in order."""

    operator: OperatorText
    names: tuple[str, ...]
    seed: int

    @property
    def what(self) -> tuple[str, ...]:
        """The operator and the transforms, whatever the seed is."""
        return (self.operator.name, *self.names)

    @property
    def transforms(self) -> list[Transform]:
        return [{**TRANSFORMS, **REWRITES}[name] for name in self.names]

    def has(self, kind: Kind) -> bool:
        return any(transform.kind is kind for transform in self.transforms)


@dataclass(frozen=True)
class Mutant:
    order: Order
    source: str

    @property
    def probe(self) -> str:
        """Returns the source with triggers that raise."""
        return _source(self.order, self.order.transforms, probe=True)

    @property
    def values(self) -> str:
        """Returns the source with only the transforms of Kind.VALUES."""
        values = [one for one in self.order.transforms if one.kind is Kind.VALUES]
        return _source(self.order, values)


@functools.cache
def _text(name: str, oracle: str) -> str:
    return ast.unparse(ast.parse(oracle)) + "\n"


def honest_text(operator: OperatorText) -> str:
    """Returns the oracle in the form in which a mutant has its text."""
    return _text(operator.name, operator.oracle)


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
    if not order.has(Kind.HONEST) and text == honest_text(order.operator):
        raise NotApplicable(Reason.UNCHANGED)
    return Mutant(order, text)


def _rounds(
    operators: list[OperatorText], names: list[str], rng: random.Random
) -> list[tuple[OperatorText, str]]:
    """Returns every operator with every name. Each round has every operator once, and the names
    about equally often. So any beginning of the list is an even sample."""
    names = rng.sample(names, len(names))
    made = []
    for turn in range(len(names)):
        pairs = [(one, names[(at + turn) % len(names)]) for at, one in enumerate(operators)]
        made += rng.sample(pairs, len(pairs))
    return made


def _spread(*parts: list[Order]) -> list[Order]:
    """Merges lists, each evenly over the whole length."""
    placed = [
        ((at + 0.5) / len(part), number, order)
        for number, part in enumerate(parts)
        for at, order in enumerate(part)
    ]
    return [order for _, _, order in sorted(placed, key=lambda one: one[:2])]


def plan(
    operators: list[OperatorText],
    seed: int,
    singles: int,
    pairs: int,
    honest: int,
) -> list[Order]:
    """Returns orders. First come those of one transform and the honest rewrites, then pairs of
    transforms, which are drawn at random. `singles`, `pairs` and `honest` are the numbers of orders
    of each kind. A negative number means all orders of the kind. There are too many pairs, so a
    negative `pairs` means ten pairs for each operator."""
    rng = random.Random(seed)
    operators = rng.sample(operators, len(operators))
    every = _rounds(operators, sorted(TRANSFORMS), rng)
    controls = _rounds(operators, sorted(REWRITES), rng)
    names = sorted(TRANSFORMS)
    count = PAIRS_OF_AN_OPERATOR * len(operators) if pairs < 0 else pairs
    drawn = [
        Order(operators[at % len(operators)], tuple(rng.sample(names, 2)), seed)
        for at in range(count)
    ]
    single = [Order(one, (name,), seed) for one, name in every[: None if singles < 0 else singles]]
    rewritten = [
        Order(one, (name,), seed) for one, name in controls[: None if honest < 0 else honest]
    ]
    return [*_spread(single, rewritten), *drawn]


def honest_of_each(operators: list[OperatorText], seed: int) -> list[Order]:
    """Returns one honest rewrite for each of the operators: the first one that applies, in an order
    that is drawn from the seed."""
    rng = random.Random(seed)
    made = []
    for operator in rng.sample(operators, len(operators)):
        for name in rng.sample(sorted(REWRITES), len(REWRITES)):
            order = Order(operator, (name,), seed)
            try:
                build(order, needs_gpu=True)
            except NotApplicable:
                continue
            made.append(order)
            break
    return made


def part_of(orders: list[Order], part: int, parts: int) -> list[Order]:
    """Returns the orders of every operator in one of `parts` parts, so that each GPU's judges load
    only their own operators. `part` counts from 0."""
    names = sorted({order.operator.name for order in orders})
    own = set(names[part::parts])
    return [order for order in orders if order.operator.name in own]


def few_at_once(orders: list[Order], count: int) -> list[Order]:
    """Returns the orders such that those of `count` operators come first, in turns, then those of
    the next operators. Operators and their orders stay in the order of the list. So a judge loads
    each operator once, while an even sample has each job wait for an operator that is new."""
    of_each: dict[str, list[Order]] = {}
    for order in orders:
        of_each.setdefault(order.operator.name, []).append(order)
    waiting, current, made = iter(of_each.values()), [], []
    while True:
        while len(current) < count and (fresh := next(waiting, None)):
            current.append(iter(fresh))
        if not current:
            return made
        taken = [(one, next(one, None)) for one in current]
        made += [order for _, order in taken if order]
        current = [one for one, order in taken if order]
