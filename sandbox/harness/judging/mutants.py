"""Creates mutants: wrong answers that every operator must reject. `operators lint` compares each
mutant with the reference, to find tolerances that are too weak.

    for mutant in mutants(operator, case, arguments, expected): ...

Most mutants change one output and leave the other outputs right. So the mutants also reveal a
tolerance that is too weak for only one output. All functions are pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from harness.operator import Arguments, Case, Operator

TAIL = 128


@dataclass
class Mutant:
    name: str
    outputs: list[torch.Tensor]
    # The reason why the mutant may equal the right answer, for example because the output has only
    # one element. The reason is "" if the mutant must differ.
    trivial: str = ""


def mutants(
    operator: Operator, case: Case, arguments: Arguments, expected: Sequence[torch.Tensor]
) -> Iterator[Mutant]:
    """Yields all mutants that apply to this case."""
    for position, output in enumerate(operator.outputs):
        right = expected[position]
        if right.numel() == 0:
            continue
        for name, wrong, trivial in _of_output(right, arguments):
            changed = list(expected)
            changed[position] = wrong
            yield Mutant(f"{name} ({output.name})", changed, trivial)
    yield from _of_inputs(operator, case, arguments)


def _of_output(
    right: torch.Tensor, arguments: Arguments
) -> Iterator[tuple[str, torch.Tensor, str]]:
    yield "zeros", torch.zeros_like(right), ""
    yield (
        "ones",
        torch.ones(right.shape, dtype=torch.float32, device=right.device).to(right.dtype),
        "",
    )
    single = "the output has one element" if right.numel() == 1 else ""
    yield (
        "mean",
        torch.full(
            right.shape, float(right.double().mean()), dtype=torch.float64, device=right.device
        ).to(right.dtype),
        single,
    )
    for name, value in arguments.items():
        if isinstance(value, torch.Tensor) and value.shape == right.shape:
            yield f"input {name}", value.to(right.dtype), ""
    rows = right.reshape(-1, right.shape[-1]) if right.dim() > 1 else right.reshape(-1, 1)
    one_row = "the output has one row" if rows.shape[0] == 1 else ""
    yield "permuted rows", _roll(rows, 0).reshape(right.shape), one_row
    yield "shifted by one", _roll(right.reshape(-1), 0).reshape(right.shape), single
    yield "one row wrong", _one_row(rows).reshape(right.shape), ""
    yield "last element wrong", _last_element(right), ""
    size = right.numel()
    yield "tail skipped", _without(right, size - max(1, min(TAIL, size // 8))), ""
    yield "half computed", _without(right, size // 2), ""


def _bytewise(values: torch.Tensor) -> torch.Tensor:
    """Returns the same bits as a tensor of integers, because some dtypes lack roll or indexing."""
    word = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[values.element_size()]
    return values.contiguous().view(word)


def _roll(values: torch.Tensor, dim: int) -> torch.Tensor:
    return torch.roll(_bytewise(values), 1, dim).view(values.dtype)


def _one_row(rows: torch.Tensor) -> torch.Tensor:
    """Sets the row with the largest values to zero."""
    changed = rows.clone(memory_format=torch.contiguous_format)
    weight = rows.double().nan_to_num(0.0, 0.0, 0.0).abs().sum(1)
    _bytewise(changed)[int(weight.argmax())] = 0
    return changed


def _last_element(right: torch.Tensor) -> torch.Tensor:
    """Changes the last element. Adds the size of a typical element to a float, inverts a bool, and
    inverts the lowest bit of an integer."""
    changed = right.clone().reshape(-1)
    if right.dtype is torch.bool:
        changed[-1] = ~changed[-1]
    elif right.is_floating_point():
        wide = right.double()
        typical = (
            float(wide[wide.isfinite()].square().mean().sqrt())
            if bool(wide.isfinite().any())
            else 1.0
        )
        last = float(wide.reshape(-1)[-1])
        changed[-1] = torch.tensor(last + (typical or 1.0) if math.isfinite(last) else 0.0).to(
            right.dtype
        )
    else:
        _bytewise(changed)[-1] ^= 1
    return changed.reshape(right.shape)


def _without(right: torch.Tensor, start: int) -> torch.Tensor:
    changed = right.clone().reshape(-1)
    _bytewise(changed)[start:] = 0
    return changed.reshape(right.shape)


def requires_ieee(operator: Operator) -> bool:
    text = f"{operator.name} {operator.spec.get('summary', '')} {operator.spec.get('description', '')}".lower()
    return "ieee" in text


def round_to_tf32(values: torch.Tensor) -> torch.Tensor:
    """Rounds float32 values to the 10-bit mantissa of tensor cores (TF32), half away from zero."""
    bits = values.contiguous().view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


def _of_inputs(operator: Operator, case: Case, arguments: Arguments) -> Iterator[Mutant]:
    def rounded(how: Any) -> Arguments:
        return {
            name: how(value) if _is_float32(value) else value for name, value in arguments.items()
        }

    if not any(_is_float32(value) for value in arguments.values()):
        return
    if any(output.or_relative for output in operator.outputs):
        return  # the tolerance of a benchmark, which is wider than the rounding of these mutants
    if any(operator.dtype_of(output.dtype, case) is torch.float32 for output in operator.outputs):
        yield Mutant(
            "inputs down-cast to bfloat16",
            operator.reference(rounded(lambda x: x.to(torch.bfloat16).to(torch.float32))),
        )
    if requires_ieee(operator):
        yield Mutant("inputs rounded to TF32", operator.reference(rounded(round_to_tf32)))


def _is_float32(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype is torch.float32
