"""Models kernels that compute with fewer bits than a spec demands. The small cases of an operator
must reject each of these kernels, because they are faster, and their errors are often within the
tolerance.

    precision = PrecisionChecks(operator)
    for case in cases: precision.try_case(case, arguments, rules, expected)
    yield from precision.checks()

One kernel rounds all inputs to bfloat16, others round a single input to bfloat16, and one
accumulates the products of float16 matrices in float16. A kernel whose outputs are the right ones in
a case says nothing about the case. An operator whose cases cannot reject such a kernel explains this
in a table `[[indistinguishable]]` of its spec.

A small case is one that Triton's interpreter runs, because a device without a GPU judges only these
cases. For other dialects, it is a case with at most SMALL_ELEMENTS elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from harness.judging.check import Check, line_of
from harness.judging.compare import Rule, compare
from harness.operator import Arguments, Case, Loss, Operator

SMALL_ELEMENTS = 2_000_000
PRECISE = (torch.float16, torch.float32)
# The number of products that a matrix instruction of a GPU sums before it rounds to the
# accumulator's type (mma.m16n8k16). An accumulator that is rounded more often errs more.
PRODUCTS_OF_AN_INSTRUCTION = 16
ALL_INPUTS = ""  # stands for all inputs, in place of the name of one


class Float16Accumulators(TorchDispatchMode):
    """Within this context, every product of matrices has accumulators in float16. `products` counts
    the products."""

    def __init__(self) -> None:
        super().__init__()
        self.products = 0

    def _product(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        self.products += 1
        shape = (*a.shape[:-1], b.shape[-1])
        total = torch.zeros(shape, dtype=torch.float32, device=a.device)
        for start in range(0, a.shape[-1], PRODUCTS_OF_AN_INSTRUCTION):
            part = slice(start, start + PRODUCTS_OF_AN_INSTRUCTION)
            total += a[..., part].float() @ b[..., part, :].float()
            total = total.half().float()
        return total.to(a.dtype)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        aten, options = torch.ops.aten, kwargs or {}
        packet = func.overloadpacket
        if packet in (aten.mm, aten.bmm) and args[0].dtype in PRECISE:
            return self._product(args[0], args[1])
        if packet is aten.mv and args[0].dtype in PRECISE:
            return self._product(args[0], args[1][:, None])[:, 0]
        if packet is aten.dot and args[0].dtype in PRECISE:
            return self._product(args[0][None], args[1][:, None])[0, 0]
        if packet in (aten.addmm, aten.baddbmm) and args[1].dtype in PRECISE:
            added = options.get("beta", 1) * args[0]
            return added + options.get("alpha", 1) * self._product(args[1], args[2])
        return func(*args, **options)


def is_small(operator: Operator, case: Case, arguments: Arguments) -> bool:
    if operator.spec.get("dialect") == "triton":
        tables = operator.spec.get("cases", [])
        return any(table["id"] == case.id and table.get("interpreter") is True for table in tables)
    tensors = [value for value in arguments.values() if isinstance(value, torch.Tensor)]
    return sum(value.numel() for value in tensors) <= SMALL_ELEMENTS


def precise_inputs(arguments: Arguments, expected: list[torch.Tensor]) -> list[str]:
    """Returns the inputs that lose bits when they are rounded to bfloat16. The list is empty if no
    output could show the loss."""
    if not any(right.dtype in PRECISE for right in expected):
        return []
    return [
        name
        for name, value in arguments.items()
        if isinstance(value, torch.Tensor) and value.dtype in PRECISE
    ]


def with_rounded_inputs(
    operator: Operator, arguments: Arguments, names: list[str]
) -> list[torch.Tensor]:
    """Returns the outputs of a kernel that rounds these inputs to bfloat16."""
    rounded = {name: arguments[name].to(torch.bfloat16).to(arguments[name].dtype) for name in names}
    return operator.reference({**arguments, **rounded})


def with_float16_sums(
    operator: Operator, case: Case, arguments: Arguments
) -> list[torch.Tensor] | None:
    """Returns the outputs of a kernel that accumulates in float16, or None if the reference
    multiplies no float16 matrices."""
    if case.dtype is not torch.float16:
        return None
    with Float16Accumulators() as accumulators:
        outputs = operator.reference(arguments)
    return outputs if accumulators.products else None


def accepted_error(
    rules: list[Rule], expected: list[torch.Tensor], outputs: list[torch.Tensor] | None
) -> float | None:
    """Returns the largest error of outputs that the rules accept, or -1.0 if they reject the
    outputs. Returns None if the outputs are the right ones, or None."""
    if outputs is None:
        return None
    got = [one.to(right.dtype) for one, right in zip(outputs, expected, strict=True)]
    if all(torch.equal(a, b) for a, b in zip(got, expected, strict=True)):
        return None
    found = compare(rules, expected, got, None)
    return found.max_abs_error if found.ok else -1.0


class PrecisionChecks:
    """Collects, over the cases of one operator, which losses of precision they reject."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        # For each loss, "" if a case has rejected it, or else why the last case accepts it.
        self._found: dict[tuple[Loss, str], str] = {}
        self._rejected_in: dict[tuple[Loss, str], str] = {}

    def try_case(
        self, case: Case, arguments: Arguments, rules: list[Rule], expected: list[torch.Tensor]
    ) -> None:
        """Tries the losses that no earlier case has rejected. Imported operators are not tried,
        because nobody can change the cases of a benchmark."""
        if self._operator.imported or not is_small(self._operator, case, arguments):
            return
        names = precise_inputs(arguments, expected)
        if names:
            self._try(case, Loss.ROUNDED_INPUT, ALL_INPUTS, rules, expected, arguments, names)
        for name in names if len(names) > 1 else []:
            self._try(case, Loss.ROUNDED_INPUT, name, rules, expected, arguments, [name])
        self._try(case, Loss.FLOAT16_SUMS, "", rules, expected, arguments, [])

    def _try(
        self,
        case: Case,
        loss: Loss,
        argument: str,
        rules: list[Rule],
        expected: list[torch.Tensor],
        arguments: Arguments,
        names: list[str],
    ) -> None:
        key = (loss, argument)
        if self._found.get(key) == "":
            return
        outputs = (
            with_rounded_inputs(self._operator, arguments, names)
            if loss is Loss.ROUNDED_INPUT
            else with_float16_sums(self._operator, case, arguments)
        )
        error = accepted_error(rules, expected, outputs)
        if error is None:
            return
        if error < 0:
            self._found[key], self._rejected_in[key] = "", case.id
        else:
            self._found[key] = (
                f"every small case accepts it, {case.id} with an error of {error:.3g}"
            )

    def checks(self) -> Iterator[Check]:
        """Yields a check for each loss that changes the outputs of a small case, and for each loss
        that the spec calls indistinguishable although a small case rejects it."""
        spec = self._operator.folder / "spec.toml"
        explained = {(one.loss, one.argument) for one in self._operator.indistinguishable}
        for key, accepted in self._found.items():
            loss, argument = key
            if key in explained:
                yield Check(
                    None,
                    f"{_name(loss, argument)} is indistinguishable",
                    bool(accepted),
                    ""
                    if accepted
                    else f"{line_of(spec, '[[indistinguishable]]')}: case {self._rejected_in[key]} "
                    "rejects this loss: remove the table",
                )
                continue
            helper = "rng.swells" if loss is Loss.FLOAT16_SUMS else "rng.picks or rng.fine"
            yield Check(
                None,
                f"rejects {_name(loss, argument)} (in a small case)",
                not accepted,
                accepted
                and f"{line_of(spec, '[[cases]]')}: {accepted}: add a hidden small case in which the "
                f"loss shows, for example with {helper} in inputs(). If no case can show it, explain "
                "this in [[indistinguishable]]",
                mutant=True,
            )


def _name(loss: Loss, argument: str) -> str:
    if loss is Loss.FLOAT16_SUMS:
        return "sums of products in float16"
    return f"{'input ' + argument if argument else 'inputs'} rounded to bfloat16"
