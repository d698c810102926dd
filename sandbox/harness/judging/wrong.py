"""Describes how an output is wrong: which elements, how many of them no kernel has stored, and how
the actual values differ from the expected ones.

    chunks = lambda: iter([(0, expected, actual, error, wrong)])
    output = Output("y", 0, expected, expected.numel(), 0.01, 1.0)
    found = wrong_output(output, actual, chunks, Before())

Only the comparison of a wrong output calls this module. It reads the output a few times, one chunk
at a time, and keeps one byte for each element. All functions are pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from harness.wire.argument import json_number
from harness.wire.poison import is_poison, poison_value
from harness.wire.tensors import WORDS, bits

# For an output with more elements, the description has numbers but no places.
MOST_ELEMENTS = 1 << 27
# A pattern with holes must hold at least this share of wrong elements, and it may cover at most
# this share of an axis. A pattern without holes may cover any part of the axis.
LEAST_SHARE = 0.5
MOST_COVERED = 0.75
LONGEST_PERIOD = 4096
# A period must occur so many times. If each run has at least LONG_RUN elements, two times suffice.
LEAST_TIMES = 4
LONG_RUN = 8
WORST = 3  # the number of wrong elements that are shown with their values
MOST_INPUTS = 4  # the number of inputs that are shown for such an element
# A factor or an offset must explain so many wrong elements, and leave at most this share of the
# error.
LEAST_EXPLAINED = 3
MOST_ROWS = 1 << 24  # the factors of rows are computed for outputs of at most so many elements
MOST_LEFT = 0.1

WRONG, UNSTORED, COMPUTED_NAN = 1, 2, 3

Chunk = tuple[int, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]
"""(index of the first element, expected, actual, scaled errors, whether each element is wrong)"""


@dataclass(frozen=True)
class Before:
    """What is known about the memory of the outputs before the kernels ran, and about the inputs.
    `kept` has the value of each output that is also an input, and None for every other output.
    Memory of the others has the poison (harness/wire/poison.py) if `poisoned` is true. As a float
    of 16 bits or more it is a NaN with other bits than the NaN that arithmetic yields."""

    poisoned: bool = False
    kept: Sequence[torch.Tensor | None] = ()
    inputs: Sequence[tuple[str, torch.Tensor]] = field(default_factory=list)

    def kept_at(self, position: int) -> torch.Tensor | None:
        return self.kept[position] if position < len(self.kept) else None


@dataclass(frozen=True)
class Output:
    name: str
    position: int
    expected: torch.Tensor
    compared: int  # the number of elements that are compared
    allowed: float
    scale: float
    # If true, an element may be off by `allowed` times its own size, or times 1 / scale.
    relative: bool = False


def wrong_output(
    output: Output, actual: torch.Tensor, chunks: Callable[[], Iterator[Chunk]], before: Before
) -> dict[str, Any]:
    """Returns the description of a wrong output, in the form that messages use
    (docs/reference/frames.md). `chunks` returns the chunks of the output from the beginning."""
    right = output.expected
    shape = list(right.shape)
    places = right.numel() <= MOST_ELEMENTS
    codes = torch.zeros(right.numel() if places else 0, dtype=torch.uint8, device=right.device)
    counts = [0, 0, 0, 0]
    for start, _, got, _, wrong in chunks():
        code = _codes(got, wrong, start, output.position, before)
        counts = [
            old + new
            for old, new in zip(
                counts, torch.bincount(code.long(), minlength=4).tolist(), strict=True
            )
        ]
        if places:
            codes[start : start + code.numel()] = code
    kept = before.kept_at(output.position)
    found: dict[str, Any] = {
        "output": output.name,
        "shape": shape,
        "elements": output.compared,
        "allowed": output.allowed,
        "scale": output.scale,
        "relative": output.relative,
        "all": _region(codes != 0, shape, sum(counts[1:])),
        "unstored": _region(codes == UNSTORED, shape, counts[UNSTORED]),
        "nan": _region(codes == COMPUTED_NAN, shape, counts[COMPUTED_NAN]),
        "memory": json_number(poison_value(right.dtype))
        if before.poisoned and kept is None
        else None,
    }
    return {
        **found,
        **_relation(chunks, output),
        "row_ratios": _row_ratios(output, actual, codes),
        "worst": _worst(chunks, output, actual, before.inputs),
    }


def is_unstored(actual: torch.Tensor, at: int, position: int, before: Before) -> bool:
    """Returns True if a wrong element of an output still has the value that memory had before. `at`
    is its place in index order."""
    element = actual.reshape(-1)[at : at + 1]
    wrong = torch.ones(1, dtype=torch.bool, device=actual.device)
    return int(_codes(element, wrong, at, position, before)) == UNSTORED


def _codes(
    got: torch.Tensor, wrong: torch.Tensor, start: int, position: int, before: Before
) -> torch.Tensor:
    """Returns WRONG, UNSTORED or COMPUTED_NAN for each wrong element of a chunk, and 0 for each
    right element."""
    code = wrong.to(torch.uint8)
    if got.is_floating_point():
        code[wrong & got.double().isnan()] = COMPUTED_NAN
    kept = before.kept_at(position)
    if kept is not None and kept.dtype == got.dtype and kept.numel() >= start + got.numel():
        same = bits(got) == bits(kept.reshape(-1)[start : start + got.numel()].to(got.device))
        code[wrong & same] = UNSTORED
    elif kept is None and before.poisoned and got.element_size() in WORDS:
        code[wrong & is_poison(bits(got), start)] = UNSTORED
    return code


def _region(mask: torch.Tensor, shape: list[int], count: int) -> dict[str, Any]:
    """Returns the number of elements, and the smallest simple set of indexes that contains them. If
    `spans` is empty, no simple set is known, or the set is the whole output. `share` is the share
    of wrong elements in the set."""
    whole: dict[str, Any] = {"count": count, "share": count / max(math.prod(shape), 1), "spans": []}
    if not count or mask.numel() != math.prod(shape) or count == mask.numel():
        return whole
    found = [whole]
    if len(shape) > 1:
        found.append(_box(mask.reshape(shape), shape, count))
    if (span := _span(mask)) is not None:
        axis = 0 if len(shape) == 1 else -1
        share = count / _covered(span, mask.numel())
        found.append({"count": count, "share": share, "spans": [{"axis": axis, **span}]})
    named = [one for one in found if one["spans"] and one["share"] >= LEAST_SHARE]
    return max(named, key=lambda one: one["share"], default=whole)


def _box(mask: torch.Tensor, shape: list[int], count: int) -> dict[str, Any]:
    """Returns the region that takes some indexes of each axis."""
    spans, volume = [], 1
    for axis, size in enumerate(shape):
        others = [other for other in range(len(shape)) if other != axis]
        span = _span(mask.sum(dim=others) > 0)
        volume *= size if span is None else _covered(span, size)
        if span is not None:
            spans.append({"axis": axis, **span})
    return {"count": count, "share": count / volume, "spans": spans}


def _covered(span: dict[str, int], size: int) -> int:
    """Returns the number of indexes in the span."""
    first, last, run, period = span["first"], span["last"], span["run"], span["period"]
    if not period:
        return last - first + 1
    end = min(last + 1, size)
    return sum(min(run, end - at) for at in range(first, end, period))


def _span(mask: torch.Tensor) -> dict[str, int] | None:
    """Returns the simplest set of indexes that contains all true elements of a flat mask: one run,
    or runs that repeat with a period. Returns None if there is no such set, or if all are true."""
    size, count = mask.numel(), int(mask.sum())
    if count in (0, size):
        return None
    flat = mask.to(torch.uint8)
    first = int(flat.argmax())
    last = size - 1 - int(flat.flip(0).argmax())
    one = {"first": first, "last": last, "run": last - first + 1, "period": 0}
    if count == one["run"]:
        return one
    found = []
    if count >= LEAST_SHARE * one["run"] and one["run"] <= MOST_COVERED * size:
        found.append((count / one["run"], one))
    for period in _periods(flat, first):
        again = _folded(mask, first, last, period)
        if again is None:
            continue
        covered = _covered(again, size)
        times = -(-(last - again["first"] + 1) // period)
        exact = count == covered
        enough = times >= LEAST_TIMES or (exact and times > 1 and again["run"] >= LONG_RUN)
        if enough and covered <= MOST_COVERED * size and count >= LEAST_SHARE * covered:
            found.append((count / covered, again))
    return max(found, key=lambda pair: (pair[0], -pair[1]["period"]))[1] if found else None


def _periods(flat: torch.Tensor, first: int) -> list[int]:
    """Returns the periods to try: the distance of the first two runs, and powers of two."""
    near = flat[first : first + 2 * LONGEST_PERIOD]
    powers = [1 << bit for bit in range(1, LONGEST_PERIOD.bit_length())]
    gap = int(near.argmin())
    if near[gap] == 0 and bool(near[gap:].any()):
        own = gap + int(near[gap:].argmax())
        if own <= LONGEST_PERIOD and own not in powers:
            powers.append(own)
    return [period for period in powers if 2 * period <= flat.numel()]


def _folded(mask: torch.Tensor, first: int, last: int, period: int) -> dict[str, int] | None:
    """Returns the span with this period, if the true elements form one run in it."""
    inside = mask[first : last + 1]
    padded = torch.nn.functional.pad(inside.to(torch.uint8), (0, -inside.numel() % period))
    rest = padded.view(-1, period).amax(0)
    run = int(rest.sum())
    if run == period or int(rest[:run].sum()) != run:
        return None
    return {"first": first, "last": last, "run": run, "period": period}


def _relation(chunks: Callable[[], Iterator[Chunk]], output: Output) -> dict[str, Any]:
    """Returns the value that all wrong elements have, and a factor or an offset between expected
    and actual values, if there is one. Looks only at elements whose values are both finite."""
    none: dict[str, Any] = {"constant": None, "ratio": None, "offset": None}
    sums = torch.zeros(4, dtype=torch.float64, device=output.expected.device)
    low, high, largest = [], [], []
    for _, right, got in _finite(chunks):
        difference = got - right
        sums += torch.stack(
            [
                torch.tensor(float(right.numel()), device=right.device, dtype=torch.float64),
                (right * right).sum(),
                (right * got).sum(),
                difference.sum(),
            ]
        )
        low.append(got.min())
        high.append(got.max())
        largest.append(difference.abs().max())
    count, squares, product, shift = sums.tolist()
    if not low:
        return none
    least, most = float(torch.stack(low).min()), float(torch.stack(high).max())
    error = float(torch.stack(largest).max())
    if least == most:
        return {**none, "constant": least + 0.0 if count > 1 else None}
    if count < LEAST_EXPLAINED:
        return none
    limit = max(output.allowed / output.scale if output.scale else 0.0, 1e-9 * error)
    limit = min(limit, MOST_LEFT * error)
    guesses = {"ratio": product / squares if squares else None, "offset": shift / count}
    left = dict.fromkeys(guesses, 0.0)
    for _, right, got in _finite(chunks):
        for name, guess in guesses.items():
            if guess is not None:
                fitted = right * guess if name == "ratio" else right + guess
                left[name] = max(left[name], float((got - fitted).abs().max()))
    fitting = [name for name in guesses if guesses[name] is not None and left[name] <= limit]
    if not fitting:
        return none
    best = min(fitting, key=lambda name: left[name])
    return {**none, best: guesses[best]}


def _row_ratios(output: Output, actual: torch.Tensor, codes: torch.Tensor) -> list[float]:
    """Returns the smallest and the largest factor, if each row of the output is the expected row
    times a factor of its own. Otherwise returns an empty list."""
    right = output.expected
    if right.dim() < 2 or right.shape[-1] < LEAST_EXPLAINED or not 0 < codes.numel() <= MOST_ROWS:
        return []
    right, got = (one.double().reshape(-1, right.shape[-1]) for one in (right, actual))
    # The factor fits all elements that a kernel has computed, right or wrong.
    codes = codes.reshape(right.shape)
    kept = (codes <= WRONG) & right.isfinite() & got.isfinite()
    right, got = right.where(kept, 0.0), got.where(kept, 0.0)
    rows = (codes != 0).any(1)
    ratio = (right * got).sum(1) / (right * right).sum(1)
    left = (got - right * ratio[:, None]).abs().amax(1)
    error = (got - right).abs().amax(1)
    limit = torch.full_like(error, output.allowed / output.scale if output.scale else 0.0)
    fits = left <= torch.minimum(limit, MOST_LEFT * error)
    if not bool(fits[rows].all()):
        return []
    ratios = ratio[rows]
    return [float(ratios.min()), float(ratios.max())]


def _finite(
    chunks: Callable[[], Iterator[Chunk]],
) -> Iterator[tuple[int, torch.Tensor, torch.Tensor]]:
    """Yields the wrong elements of each chunk whose expected and actual values are finite, as
    (index of the chunk's first element, expected, actual)."""
    for start, right, got, _, wrong in chunks():
        right, got = right.double(), got.double()
        kept = wrong & right.isfinite() & got.isfinite()
        if bool(kept.any()):
            yield start, right[kept], got[kept]


def _worst(
    chunks: Callable[[], Iterator[Chunk]],
    output: Output,
    actual: torch.Tensor,
    inputs: Sequence[tuple[str, torch.Tensor]],
) -> list[dict[str, Any]]:
    """Returns the elements with the largest errors. If all errors are infinite, returns the first
    wrong element."""
    found: list[tuple[float, int]] = []
    other = None
    for start, _, _, error, wrong in chunks():
        finite = torch.where(wrong & error.isfinite(), error, -1.0)
        top = finite.topk(min(WORST, finite.numel()))
        found += zip(top.values.tolist(), (start + top.indices).tolist(), strict=True)
        if other is None and bool(wrong.any()):
            other = start + int(wrong.to(torch.uint8).argmax())
    found = sorted((one for one in found if one[0] >= 0), key=lambda one: (-one[0], one[1]))
    flat = [at for _, at in found[:WORST]] or ([] if other is None else [other])
    return [_element(at, output.expected, actual, inputs) for at in flat]


def index_of(flat: int, shape: Sequence[int]) -> list[int]:
    index = []
    for size in reversed(shape):
        index.append(flat % size)
        flat //= size
    return index[::-1]


def _element(
    flat: int,
    right: torch.Tensor,
    got: torch.Tensor,
    inputs: Sequence[tuple[str, torch.Tensor]],
) -> dict[str, Any]:
    index = index_of(flat, right.shape)
    values: dict[str, float | str | None] = {}
    for name, value in inputs:
        # The index of the element in this input, if its shape fits the end of the output's shape.
        own = index[len(index) - value.dim() :] if value.dim() <= len(index) else []
        ends = list(right.shape)[len(index) - value.dim() :]
        fits = value.dim() > 0 and value.dim() <= len(index) and list(value.shape) == ends
        if fits and len(values) < MOST_INPUTS and not value.is_complex():
            values[name] = json_number(float(value[tuple(own)]))
    return {
        "index": index,
        "expected": json_number(float(right[tuple(index)])),
        "actual": json_number(float(got[tuple(index)])),
        "inputs": values,
    }
