"""Implements the judge's part of `operators lint`: checks that an operator's test tells right
answers from wrong answers, and that its cost model is plausible.

    for check in lint(operator, [case, ...], seed=1):
        print(check.case, check.name, check.ok, check.detail)

This module does not show that the oracle passes. For that, the command runs the oracle as a job.
An operator without an oracle gets all checks that are not about the oracle."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import torch

from harness.judging.adversaries import rejects_shortcuts, shortcuts_met, timed_twins
from harness.judging.check import Check, line_of
from harness.judging.compare import Rule, compare, is_wrong
from harness.judging.lint_files import import_check, open_place_check, signature_check
from harness.judging.mutants import Mutant, mutants
from harness.judging.precision import PrecisionChecks
from harness.judging.rules import rules_for, scaled_rules
from harness.judging.sizes import bytes_of, layout_of
from harness.operator import Arguments, Baseline, Case, Operator, is_floating
from harness.wire.device_memory import OUT_OF_MEMORY

BYTES_TOLERANCE = 0.01
# The limits for a case with `interpreter = true`: the bytes of its tensors, and its operations.
# Triton's interpreter can run a case within these limits in about two seconds. The largest such
# cases of Assay's own operators have a third of each limit.
INTERPRETER_BYTES = 1 << 20
INTERPRETER_FLOPS = 32 << 20
# The maximum noise that _float64() adds to a value, relative to the value. float64 can represent
# such noise, and float32 cannot.
FLOAT64_NOISE = 2.0**-30


def lint(operator: Operator, cases: list[Case], seed: int) -> Iterator[Check]:
    """Yields every check, whether it passed or failed. If the operator's own code raises an
    exception, the check has failed. Raises one of OUT_OF_MEMORY if the device has too little free
    memory. In that case, lint says nothing about the operator."""
    yield signature_check(operator)
    if operator.baseline is Baseline.ORACLE and not operator.imported:
        yield import_check(operator)
    yield open_place_check(operator)
    # Maps the name of a mutant to an error message, which says that every case accepts the mutant.
    # The message is "" if a case has rejected the mutant. These are the operator's own mutants and,
    # for an imported operator, all mutants: the cases of a benchmark may be tiny, and nobody can
    # change them, so it is enough if one case rejects a mutant.
    survivors: dict[str, str] = {}
    precision = PrecisionChecks(operator)
    scalars: dict[str, set[object]] = {
        argument.name: set() for argument in operator.arguments if argument.type != "tensor"
    }
    for case in cases:
        try:
            yield from _case(operator, case, seed, survivors, precision, scalars)
        except OUT_OF_MEMORY:
            raise
        except Exception as error:
            yield Check(
                case.id,
                "runs",
                False,
                f"{_raised_at(operator, case, error)}: {type(error).__name__}: {error}",
            )
    yield from precision.checks()
    for name, why in survivors.items():
        yield Check(None, f"rejects {name}", not why, why, mutant=True)
    if len(cases) > 1 and not operator.imported:
        yield from shortcuts_met(operator, cases)
        yield from _guarded(operator, cases[0], seed)
        yield from (_varies(operator, name, values) for name, values in scalars.items() if values)


def _described(operator: Operator, case: Case, arguments: Arguments) -> Check:
    """Checks that the arguments of Operator.shapes() have the layouts and the scalars of the
    inputs. A submission is recorded with these arguments, before any inputs exist."""
    shapes = operator.shapes(case)
    wrong = [
        name
        for name, value in (shapes or {}).items()
        if (layout_of(value) if isinstance(value, torch.Tensor) else value)
        != (
            layout_of(arguments[name])
            if isinstance(arguments[name], torch.Tensor)
            else arguments[name]
        )
    ]
    remedy = f"{_defined_at(operator, 'inputs')}: {', '.join(wrong)} has another layout or value"
    return _check(case, "inputs are as described", not wrong, f"{remedy} on the device meta")


def _guarded(operator: Operator, small: Case, seed: int) -> Iterator[Check]:
    try:
        yield from timed_twins(operator, small, seed)
    except OUT_OF_MEMORY:
        raise
    except Exception as error:
        detail = f"{_raised_at(operator, small, error)}: {type(error).__name__}: {error}"
        yield Check(None, "timed cases have an adversarial twin", False, detail)


def _case(
    operator: Operator,
    case: Case,
    seed: int,
    survivors: dict[str, str],
    precision: PrecisionChecks,
    scalars: dict[str, set[object]],
) -> Iterator[Check]:
    arguments = operator.inputs(case, seed)
    for name, values in scalars.items():
        values.add(arguments[name])
    before = {
        name: value.clone() if isinstance(value, torch.Tensor) else value
        for name, value in arguments.items()
    }
    again = operator.inputs(case, seed)
    drawn = _defined_at(operator, "inputs") + ": draw everything from `rng`"
    yield _check(
        case, "inputs are reproducible from the seed", _same_arguments(arguments, again), drawn
    )
    yield _described(operator, case, arguments)
    if operator.is_golden:
        # The other checks are about the reference and the choice of inputs. Here both are the
        # benchmark's, and whoever imports it cannot change them.
        return
    expected = operator.expected(case, arguments)
    where = _defined_at(operator, "reference")
    yield _check(
        case,
        "reference leaves its arguments alone",
        _same_arguments(arguments, before),
        f"{where}: reference() writes to an argument; work on a copy",
    )
    second = operator.expected(case, arguments)
    same = all(_same_bits(a, b) for a, b in zip(expected, second, strict=True))
    remedy = "the same arguments gave other bits: use no random numbers, and no sums whose order varies (scatter_add, index_add on a GPU)"
    yield _check(case, "reference is deterministic", same, f"{where}: {remedy}")
    rules = scaled_rules(operator, rules_for(operator, case), expected)
    try:
        float64 = operator.in_float64(arguments)
        own = compare(rules, expected, [x.clone() for x in expected], float64)
        yield Check(
            case.id,
            "reference passes itself, and strictly",
            own.ok and own.strict_pass is True,
            own.text(),
        )
        if float64 is not None and _in_interpreter(operator, case):
            yield _float64(operator, case, seed, arguments)
    except OUT_OF_MEMORY:
        raise
    except Exception as error:
        yield Check(
            case.id,
            "reference works in float64",
            False,
            f"{_raised_at(operator, case, error)}: {type(error).__name__}: {error}",
        )
    yield _cost(operator, case, arguments, expected)
    if _in_interpreter(operator, case):
        yield _interpreter_size(operator, case)
    for mutant in mutants(operator, case, arguments, expected):
        check = _reject(operator, mutant, case, rules, expected)
        if not operator.imported:
            yield replace(check, mutant=True)
        elif not check.ok and survivors.get(mutant.name) != "":
            survivors[mutant.name] = f"accepted by every case; {check.detail}"
        elif check.ok and not mutant.trivial:
            survivors[mutant.name] = ""
    precision.try_case(case, arguments, rules, expected)
    yield from rejects_shortcuts(operator, case, arguments, rules, expected)
    for name, outputs in operator.own_mutants(arguments).items():
        if survivors.get(name) != "":
            survivors[name] = (
                ""
                if is_wrong(rules, expected, outputs)
                else f"accepted by every case, {case.id} included: add a case that rejects it"
            )


def _check(case: Case, name: str, ok: bool, remedy: str) -> Check:
    return Check(case.id, name, ok, "" if ok else remedy)


def _reject(
    operator: Operator, mutant: Mutant, case: Case, rules: list[Rule], expected: list[torch.Tensor]
) -> Check:
    name = f"rejects {mutant.name}"
    if is_wrong(rules, expected, mutant.outputs):
        return Check(case.id, name, True)
    if not all(a is b or _same_bits(a, b) for a, b in zip(expected, mutant.outputs, strict=True)):
        error = compare(rules, expected, mutant.outputs, None).max_abs_error
        where = line_of(operator.folder / "spec.toml", "[[outputs]]")
        remedy = "raise `scale` of the output, or choose inputs for which the mutant errs more"
        return Check(
            case.id, name, False, f"{where}: passes with a largest error of {error:.3g}: {remedy}"
        )
    if mutant.trivial:
        return Check(
            case.id,
            name,
            True,
            f"not applicable: {mutant.trivial}, so the mutant is the right answer",
        )
    return Check(
        case.id,
        name,
        False,
        f"{_case_at(operator, case)}: the mutant is the right answer: choose inputs or axes for which they differ",
    )


def _case_at(operator: Operator, case: Case) -> str:
    return line_of(operator.folder / "spec.toml", f'id = "{case.id}"')


def _defined_at(operator: Operator, function: str) -> str:
    return line_of(operator.folder / "reference.py", f"def {function}(")


def _raised_at(operator: Operator, case: Case, error: Exception) -> str:
    """Returns the line of the operator's own code in which the error occurred. If it occurred
    outside of that code, returns the line of the case in spec.toml."""
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).parent == operator.folder
    ]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else _case_at(operator, case)


def _same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    word = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[a.element_size()]
    return torch.equal(a.contiguous().view(word), b.contiguous().view(word))


def _same_arguments(a: Arguments, b: Arguments) -> bool:
    return all(
        _same_bits(a[n], b[n]) if isinstance(a[n], torch.Tensor) else a[n] == b[n] for n in a
    )


def _in_interpreter(operator: Operator, case: Case) -> bool:
    return any(
        table.get("id") == case.id and table.get("interpreter") is True
        for table in operator.spec.get("cases", [])
    )


def _interpreter_size(operator: Operator, case: Case) -> Check:
    cost = operator.cost(case)
    return _check(
        case,
        "small enough for the interpreter",
        cost.bytes <= INTERPRETER_BYTES and cost.flops <= INTERPRETER_FLOPS,
        f"{_case_at(operator, case)}: cost() says {cost.bytes:g} bytes and {cost.flops:g} flops; a case "
        f"with `interpreter = true` has at most {INTERPRETER_BYTES} bytes and {INTERPRETER_FLOPS} flops",
    )


def _float64(operator: Operator, case: Case, seed: int, arguments: Arguments) -> Check:
    """Checks that the reference keeps the precision of float64 inputs. For this, adds noise to the
    inputs that float32 would lose. An output that bfloat16 can represent exactly, for example a
    rounded output, is not checked."""
    noise = torch.Generator(device=case.device).manual_seed(seed)

    def noisy(value: torch.Tensor) -> torch.Tensor:
        wide = value.double()
        draw = torch.rand(wide.shape, generator=noise, dtype=wide.dtype, device=wide.device)
        return wide * (1.0 + FLOAT64_NOISE * draw)

    outputs = operator.reference(
        {name: noisy(value) if is_floating(value) else value for name, value in arguments.items()}
    )
    narrow = [
        output.name
        for output, value in zip(operator.outputs, outputs, strict=True)
        if value.is_floating_point()
        and _survives(value, torch.float32)
        and not _survives(value, torch.bfloat16)
    ]
    return _check(
        case,
        "reference computes in float64",
        not narrow,
        f"{_defined_at(operator, 'reference')}: with float64 arguments, {', '.join(narrow)} has the "
        "precision of float32: compute in float64 if an argument is float64",
    )


def _survives(value: torch.Tensor, dtype: torch.dtype) -> bool:
    """Returns True if every finite element keeps its value when it is converted to `dtype`."""
    finite = value[torch.isfinite(value)].double()
    return bool((finite.to(dtype).double() == finite).all())


def _varies(operator: Operator, name: str, values: set[object]) -> Check:
    value = next(iter(values))
    return Check(
        None,
        f"scalar {name} varies",
        len(values) > 1,
        ""
        if len(values) > 1
        else f"{_defined_at(operator, 'inputs')}: {name} is {value!r} in every case, so a submission may "
        "ignore it: use another value in some small case",
    )


def _cost(
    operator: Operator, case: Case, arguments: Arguments, expected: list[torch.Tensor]
) -> Check:
    cost = operator.cost(case)
    tensors = sum(bytes_of(value) for value in arguments.values()) + sum(
        bytes_of(value) for value in expected
    )
    ok = (
        abs(cost.bytes + cost.untouched - tensors) <= BYTES_TOLERANCE * tensors
        and min(cost.bytes, cost.flops, cost.untouched) >= 0
    )
    costs = (
        f"cost() says {cost.bytes:g} bytes, {cost.untouched:g} untouched and {cost.flops:g} flops"
    )
    holds = f"{costs}; arguments and outputs hold {tensors} bytes"
    return _check(
        case, "cost is the tensors' bytes", ok, f"{_defined_at(operator, 'cost')}: {holds}"
    )
