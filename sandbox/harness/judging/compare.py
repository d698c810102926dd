"""Compares outputs with the reference, by tolerance or exactly. It also handles NaN and infinity,
and measures errors against a float64 reference.

    result = compare(rules, expected, actual, float64)

An element is right if its error, multiplied by the output's scale, is at most `max_abs_error`. If
`max_abs_error` is 0, the element must equal the reference's element. NaN and infinity are right
only where the reference has the same value. Elements that are exempt (`Operator.open_elements`) are
not compared. The strict rule limits the error against float64. The limit is four times the error of
the reference in the case's own dtype, or one unit in the last place of the output's largest value,
if that is larger. All functions are pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from harness.judging.unstored import with_unstored_wrong
from harness.judging.wrong import Before, Chunk, Output, index_of, is_unstored, wrong_output
from harness.wire.argument import json_number
from harness.wire.tensors import bits, name_of

STRICT_FACTOR = 4.0
TWO_BYTES = (torch.float16, torch.bfloat16)
INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
# The rounding of a difference in float32, and of its product with a scale, is below this share.
ROUNDING = 2.0**-22
# The number of elements that are compared at a time, for each type of device. The errors are
# float64, so the error of each element takes eight bytes.
CHUNK = {
    "cpu": 1 << 20,
    "cuda": 1 << 24,
}


@dataclass(frozen=True)
class Rule:
    """The rule for judging one output."""

    name: str
    dtype: torch.dtype
    shape: list[int]
    max_abs_error: float
    scale: float
    # If true, an element of a two-byte float dtype may differ by one unit in its last place, even
    # if this is more than `max_abs_error`. The flag has no effect if `max_abs_error` is 0.
    last_place: bool = False
    # If true, an element whose scaled magnitude is above 1 may be off by `max_abs_error` times that
    # magnitude. Only a check (fitted_rules.py) and imported operators (`or_relative`) have such
    # rules.
    relative: bool = False


@dataclass(frozen=True)
class Yardstick:
    """The limit that the strict rule sets for an output. It depends only on the reference, so it
    can be computed before the output exists."""

    allowed: float  # the maximum error against float64


@dataclass
class Result:
    ok: bool
    kind: str = "none"  # "none", "wrong_result" or "output_mismatch"
    reason: str = ""  # the supervisor adds a sentence about `wrong`
    max_abs_error: float | None = None
    float64_error: float | None = None
    strict_pass: bool | None = None
    elements: int = 0
    mismatches: int = 0
    first_mismatch: dict[str, Any] | None = None
    wrong: list[dict[str, Any]] = field(default_factory=list)  # one description per wrong output

    def text(self) -> str:
        """Returns a sentence about a wrong result, for readers who get no verdict."""
        first = self.first_mismatch
        if self.reason or first is None:
            return self.reason
        output, index = first["output"], first["index"]
        got = "but nothing was stored" if first["unstored"] else f"got {first['actual']}"
        values = f"expected {first['expected']}, {got}"
        return f"output {output}: {self.mismatches} of {self.elements} elements are wrong; first at {index}: {values}"

    def wire(self) -> dict[str, Any]:
        """Returns the result as JSON. Non-finite numbers become strings."""
        return {
            "ok": self.ok,
            "kind": self.kind,
            "reason": self.reason,
            "max_abs_error": json_number(self.max_abs_error),
            "float64_error": json_number(self.float64_error),
            "strict_pass": self.strict_pass,
            "elements": self.elements,
            "mismatches": self.mismatches,
            "first_mismatch": self.first_mismatch,
            "wrong": self.wrong,
        }


def compare(
    rules: Sequence[Rule],
    expected: Sequence[torch.Tensor],
    actual: Sequence[torch.Tensor],
    float64: Sequence[torch.Tensor] | None,
    known: Sequence[Yardstick | None] = (),
    masks: Sequence[torch.Tensor] = (),
    before: Before | None = None,
) -> Result:
    """Judges all outputs of a case. `actual` is untrusted and may have any dtype, shape and
    strides; the other parameters are trusted. `known` is the result of yardsticks(), or empty if
    the result must be computed here. `masks` are true at exempt elements; an empty sequence means
    that no element is exempt. If `before` is given, wrong outputs are described
    (harness.judging.wrong)."""
    if problem := _mismatch(rules, actual):
        return Result(False, "output_mismatch", problem)
    known = known or yardsticks(rules, expected, float64, masks)
    result = Result(True, max_abs_error=0.0, strict_pass=True)
    for position, (rule, right, got) in enumerate(zip(rules, expected, actual, strict=True)):
        got = got.to(right.device)
        if masks:
            got = with_right_values(right, got, masks[position])
        judged = got
        clear = _error_if_right(rule, right, got)
        if clear is not None:
            count, worst, first = 0, clear, -1
        else:
            if before is not None and before.poisoned and before.kept_at(position) is None:
                judged = with_unstored_wrong(right, got)
            count, worst, first = _tally(rule, right, judged)
        compared = right.numel() - (int(masks[position].sum()) if masks else 0)
        result.elements += compared
        result.mismatches += count
        result.max_abs_error = max(result.max_abs_error or 0.0, worst)
        if count and result.ok:
            result.ok, result.kind = False, "wrong_result"
            result.first_mismatch = {
                **_first(rule, first, right, got),
                "unstored": before is not None and is_unstored(got, first, position, before),
            }
        if count and before is not None:
            output = Output(
                rule.name, position, right, compared, rule.max_abs_error, rule.scale, rule.relative
            )
            result.wrong.append(wrong_output(output, got, _reader(rule, right, judged), before))
        yardstick = known[position]
        if float64 is not None and yardstick is not None:
            truth = (
                with_right_values(right, float64[position], masks[position])
                if masks
                else float64[position]
            )
            error = _worst(truth, got, rule.scale)
            result.float64_error = max(result.float64_error or 0.0, error)
            result.strict_pass = result.strict_pass and error <= yardstick.allowed
    result.strict_pass = bool(result.strict_pass and result.ok)
    return result


def yardsticks(
    rules: Sequence[Rule],
    expected: Sequence[torch.Tensor],
    float64: Sequence[torch.Tensor] | None,
    masks: Sequence[torch.Tensor] = (),
) -> list[Yardstick | None]:
    """Returns one yardstick for each output. The yardstick is None if the strict rule does not
    apply to the output."""
    if float64 is None:
        return [None] * len(rules)
    if masks:
        float64 = [
            with_right_values(*these) for these in zip(expected, float64, masks, strict=True)
        ]
    pairs = zip(rules, expected, float64, strict=True)
    return [
        _yardstick(rule, right, truth) if right.is_floating_point() else None
        for rule, right, truth in pairs
    ]


def with_right_values(
    right: torch.Tensor, values: torch.Tensor, mask: torch.Tensor
) -> torch.Tensor:
    """Returns `values`, with the element of `right` in each place where the mask is true."""
    merged = torch.where(mask.reshape(-1), bits(right.to(values.dtype)), bits(values))
    return merged.view(values.dtype).reshape(values.shape)


def _yardstick(rule: Rule, right: torch.Tensor, truth: torch.Tensor) -> Yardstick:
    sizes = [torch.where(x.isfinite(), x, 0.0).double().abs().max() for x in parts(truth)]
    largest = float(torch.stack(sizes).max()) if sizes else 0.0
    ulp = torch.finfo(rule.dtype).eps * largest * rule.scale
    return Yardstick(max(STRICT_FACTOR * _worst(truth, right, rule.scale), ulp))


def _error_if_right(rule: Rule, right: torch.Tensor, got: torch.Tensor) -> float | None:
    """Returns the largest scaled error if a cheap computation shows that all elements are right:
    five passes in float32, or one if nothing may differ, in place of twenty in float64. Otherwise
    returns None. Elements that are not finite need the exact computation, so no element is unstored."""
    if right.dtype != got.dtype or (right.dtype not in INTEGERS and not right.is_floating_point()):
        return None
    # Some devices compare no floats of one byte.
    is_equality = rule.max_abs_error == 0 and right.element_size() > 1
    if right.dtype in INTEGERS or is_equality:
        return 0.0 if torch.equal(right, got) else None
    if not right.numel():
        return 0.0
    wide = torch.float64 if right.dtype is torch.float64 else torch.float32
    largest = _largest_difference(right, got, wide) * rule.scale
    return largest if largest * (1 + ROUNDING) <= rule.max_abs_error else None


def _tally(rule: Rule, right: torch.Tensor, got: torch.Tensor) -> tuple[int, float, int]:
    """Returns (number of wrong elements, largest error, flat index of the first wrong element or
    -1). Synchronises with the device only twice, however many chunks there are."""
    chunks = [
        (start, torch.stack([wrong.sum(), wrong.to(torch.uint8).argmax()]), error.max())
        for start, error in _chunks(right, got, rule.scale)
        for wrong in [error > _limit(rule, right, start, error.numel())]
    ]
    if not chunks:
        return 0, 0.0, -1
    counts = torch.stack([tally for _, tally, _ in chunks]).tolist()
    first = next(
        (start + at for (start, _, _), (count, at) in zip(chunks, counts, strict=True) if count), -1
    )
    return (
        sum(count for count, _ in counts),
        float(torch.stack([worst for _, _, worst in chunks]).max()),
        first,
    )


def is_wrong(
    rules: Sequence[Rule], expected: Sequence[torch.Tensor], actual: Sequence[torch.Tensor]
) -> bool:
    """Returns True if `compare`, called without `masks`, would find an output wrong. Stops at the
    first chunk that contains a wrong element."""
    if _mismatch(rules, actual):
        return True
    return any(
        bool((error > _limit(rule, right, start, error.numel())).any())
        for rule, right, got in zip(rules, expected, actual, strict=True)
        if right is not got
        for start, error in _chunks(right, got, rule.scale)
    )


def _limit(rule: Rule, right: torch.Tensor, start: int, count: int) -> float | torch.Tensor:
    """Returns the largest allowed scaled error: one number for all elements, or one for each of the
    `count` elements from index `start` on."""
    if rule.relative:
        size = right.reshape(-1)[start : start + count].double().nan_to_num(0.0, 0.0, 0.0).abs()
        return rule.max_abs_error * (size * rule.scale).clamp_min(1.0)
    if not rule.last_place or rule.max_abs_error == 0 or rule.dtype not in TWO_BYTES:
        return rule.max_abs_error
    size = right.reshape(-1)[start : start + count].double().nan_to_num(0.0, 0.0, 0.0)
    last_place = torch.ldexp(torch.ones_like(size), torch.frexp(size)[1] - 1)
    last_place *= torch.finfo(rule.dtype).eps * rule.scale
    return last_place.clamp_min(rule.max_abs_error)


def parts(values: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yields the elements in pieces, in index order. What is computed from all elements of a large
    tensor at once would need several times the memory of the tensor."""
    flat = values.reshape(-1)
    step = CHUNK.get(flat.device.type, CHUNK["cpu"])
    for start in range(0, flat.numel(), step):
        yield flat[start : start + step]


def _chunks(
    expected: torch.Tensor, actual: torch.Tensor, scale: float
) -> Iterator[tuple[int, torch.Tensor]]:
    """Yields the errors of two tensors in chunks, in index order. Each item is (index of the first
    element, errors)."""
    right, got = expected.reshape(-1), actual.reshape(-1)
    step = CHUNK.get(right.device.type, CHUNK["cpu"])
    for start in range(0, right.numel(), step):
        yield start, errors(right[start : start + step], got[start : start + step], scale)


def _reader(rule: Rule, right: torch.Tensor, got: torch.Tensor) -> Callable[[], Iterator[Chunk]]:
    """Returns a function that yields the chunks of an output with their values."""

    def read() -> Iterator[Chunk]:
        for start, error in _chunks(right, got, rule.scale):
            part = slice(start, start + error.numel())
            wrong = error > _limit(rule, right, start, error.numel())
            yield start, right.reshape(-1)[part], got.reshape(-1)[part], error, wrong

    return read


def _worst(expected: torch.Tensor, actual: torch.Tensor, scale: float) -> float:
    """Returns the largest scaled error of an output with floats."""
    if not expected.numel():
        return 0.0
    largest = _largest_difference(expected, actual, torch.float64) * scale
    if math.isfinite(largest):
        return largest
    worst = [error.max() for _, error in _chunks(expected, actual, scale)]
    return float(torch.stack(worst).max())


def _largest_difference(one: torch.Tensor, other: torch.Tensor, wide: torch.dtype) -> float:
    """Returns the largest difference of two elements, computed in the dtype `wide`. It is not finite
    if a NaN or an infinity is among the elements."""
    largest = [
        (a.to(wide) - b.to(wide)).abs_().max()
        for a, b in zip(parts(one), parts(other), strict=True)
    ]
    return float(torch.stack(largest).max())


def errors(expected: torch.Tensor, actual: torch.Tensor, scale: float) -> torch.Tensor:
    """Returns the scaled absolute errors. The error is 0 where both values are the same infinity or
    both are NaN. It is infinite where the values differ and at least one of them is not finite."""
    if not expected.is_floating_point() and not actual.is_floating_point():
        same = expected.to(torch.int64) == actual.to(torch.int64)
        distance = (expected.double() - actual.double()).abs()
        return torch.where(same, 0.0, distance.clamp_min(1.0)) * scale
    right, got = expected.double(), actual.double()
    same = (right == got) | (right.isnan() & got.isnan())
    error = (right - got).abs() * scale
    return torch.where(same, 0.0, torch.where(error.isnan(), math.inf, error))


def _mismatch(rules: Sequence[Rule], actual: Sequence[torch.Tensor]) -> str:
    if len(actual) != len(rules):
        return f"{len(actual)} outputs; the operator has {len(rules)}"
    for rule, got in zip(rules, actual, strict=True):
        if got.dtype != rule.dtype or list(got.shape) != rule.shape:
            return f"output {rule.name} is {name_of(got.dtype)} {list(got.shape)}; want {name_of(rule.dtype)} {rule.shape}"
    return ""


def _first(rule: Rule, flat: int, right: torch.Tensor, got: torch.Tensor) -> dict[str, Any]:
    index = index_of(flat, right.shape)
    return {
        "output": rule.name,
        "index": index,
        "expected": json_number(float(right[tuple(index)])),
        "actual": json_number(float(got[tuple(index)])),
    }
