"""Makes an operator of calls of one form: chooses kinds of inputs, sizes and tolerances such that
the checks of `operators lint` pass. Everything runs on the CPU, inside the jail.

    form = build(form, module, write)  # or raises Refused

`write(form)` writes the folder of the operator, and returns it (eager_operator.py)."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from eager_calls import Call, Refused, same_values  # noqa: E402
from eager_form import CaseShape, Form, Kinds, NewCase, published_kind  # noqa: E402
from eager_kinds import own_ranges, proposals  # noqa: E402
from eager_sizes import Sizes, largest, with_scale  # noqa: E402
from harness.judging.check import Check  # noqa: E402
from harness.judging.lint import lint  # noqa: E402
from harness.operator import Operator  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils.flop_counter import FlopCounterMode  # noqa: E402

LARGE, HIDDEN_LARGE = "large", "hidden_large"  # the cases that are timed
PUBLISHED = "call_"  # the id of a case that is a call of the tests
MOST_CALLS = 6  # public cases of one operator, besides the large one
MOST_VALUES = 4096  # elements of a published tensor whose values are kept
SMALL_ELEMENTS = 1 << 13  # of the hidden case with other sizes; the interpreter runs it
LEAST_ELEMENTS = 1 << 5
LARGE_ELEMENTS = 1 << 22  # of the timed cases
# The same for functions of linear algebra: they take cubic time, and torch runs many kernels.
LARGE_MATRIX_ELEMENTS = 1 << 16
LINEAR_ALGEBRA = re.compile(
    r"\.(linalg|svd|qr|cholesky\w*|lu\w*|ldl\w*|eig\w*|inverse|pinverse|det|lstsq|\w*solve)\b"
)
MOST_FLOPS = 1 << 33  # of the reference in a large case
MOST_ELEMENTS = 1 << 23  # of each tensor that the reference makes in a large case
READING_ELEMENTS = 1 << 14  # of the inputs of a reference whose work depends on values
SEEDS = (11, 12)
LINT_SEEDS = (1, 2, 3, 4)  # the operators must pass lint whatever its seed
# The error that a submission may have, as a share of the size of the small cases' outputs.
ALLOWED_SHARE = 1e-3
FLOAT_ERROR = 0.01  # max_abs_error of an output, which is the error times the output's scale
OWN_ERROR = 0.125  # the share of the tolerance that the reference's own error may take
MOST_OUTPUT = 16.0  # how many times larger the outputs of a large case may be
SHRINK = (1.0, 0.25, 1 / 16, 1 / 64, 1 / 256)
LOOSER_OR_TIGHTER = (1.0, 10.0, 0.1, 100.0)
DOWN_CAST = "down-cast"  # in the name of the mutant that only a tight tolerance rejects


class _Sizes(TorchDispatchMode):
    """Notes the number of elements of the largest tensor that operations return."""

    def __init__(self) -> None:
        super().__init__()
        self.most = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for value in made if isinstance(made, list | tuple) else [made]:
            if torch.is_tensor(value):
                self.most = max(self.most, value.numel())
        return made


class BadCase(Refused):
    """A check of `operators lint` failed. `case` is "" if the check is about the whole operator."""

    def __init__(self, kind: str, message: str, case: str) -> None:
        super().__init__(kind, message)
        self.case = case


class Builder:
    def __init__(
        self, form: Form, module: ModuleType, write: Callable[[Form], Path], text: str
    ) -> None:
        self._form = form
        self._module = module
        self._write = write
        self._text = text

    def build(self) -> Form:
        """Returns the form with its kinds, cases and scales. Raises the most telling Refused if no
        proposal passes."""
        calls = [{leaf.name: leaf.value for leaf in call.tensors} for call in self._form.calls]
        reasons: list[Refused] = []
        tiny: Kinds | None = None  # the first kinds that pass, but have no case worth timing
        for kinds in proposals(calls):
            try:
                self._attempt(kinds)
            except Refused as refused:
                reasons.append(refused)
                if refused.kind in FINAL:
                    break
                continue
            if any(case.id == LARGE for case in self._form.cases):
                return self._form
            tiny = tiny or kinds
        if tiny is not None:
            self._attempt(tiny)
            return self._form
        raise max(reversed(reasons), key=lambda refused: ORDER.index(refused.kind))

    def _attempt(self, kinds: Kinds) -> None:
        """Makes the cases with these kinds. Some inputs show that the function writes to an argument,
        which changes the outputs of all cases, so the cases are then made again."""
        for keeps_values in (True, False):
            while True:
                written = list(self._form.written)
                try:
                    self._make_cases(kinds, keeps_values)
                except Refused:
                    if written == self._form.written:
                        raise
                if written == self._form.written:
                    break
            try:
                self._lint()
                return self._drop_imprecise()
            except BadCase as refused:
                # The published values of a case may be unfit for a check. Then its values are drawn.
                if not keeps_values or not refused.case.startswith(PUBLISHED):
                    raise

    def _make_cases(self, kinds: Kinds, keeps_values: bool) -> None:
        form = self._form
        form.kinds = kinds
        form.cases = []
        calls = form.calls[:MOST_CALLS]
        shapes = [form.shape_of(call) for call in calls]
        own = [own_ranges(kinds, call) for call in calls]
        outputs = [self._checked(shape, of) for shape, of in zip(shapes, own, strict=True)]
        base = _size_of(outputs[-1])
        form.scales = [scale_for(size) for size in base]
        for i, (call, shape, drawn) in enumerate(zip(calls, shapes, outputs, strict=True), 1):
            extents = [tuple(value.shape) for value in drawn]
            known = call.fixed and all(leaf.value.numel() <= MOST_VALUES for leaf in call.tensors)
            public = self._published(call, shape, extents) if known and keeps_values else None
            for id_, hidden, of in (
                (f"{PUBLISHED}{i}", False, public or own[i - 1]),
                (f"hidden_{i}", True, own[i - 1]),
            ):
                made = table(form, shape, of)
                form.cases.append(NewCase(id_, hidden, shape, extents, made, True))
        at = shapes.index(largest(shapes))
        self._add_sizes(shapes[at], own[at], base)

    def _published(
        self, call: Call, shape: CaseShape, extents: list[tuple[int, ...]]
    ) -> Kinds | None:
        """Returns the published values of a call. Returns None if the result has NaN, as if an
        argument that is only written was not initialised."""
        values = {leaf.name: published_kind(leaf.value) for leaf in call.tensors}
        try:
            outputs = self._evaluate(shape, values, 0)
        except Refused:
            return None
        if [tuple(value.shape) for value in outputs] != extents:
            raise Refused("value_dependent_shape", "the sizes of outputs depend on values")
        return values

    def _add_sizes(self, shape: CaseShape, kinds: Kinds, base: list[float]) -> None:
        sizes = Sizes(shape, lambda other: self._accepts(other, kinds))
        form = self._form
        count = SMALL_ELEMENTS
        while count >= LEAST_ELEMENTS:
            other = sizes.grown(count, odd=True)
            if other is not None and self._is_bounded(other, kinds, 4 * SMALL_ELEMENTS):
                self._add("hidden_other", True, other, kinds, base, small=True)
                break
            count //= 4
        most = LARGE_ELEMENTS
        if LINEAR_ALGEBRA.search(self._text):
            most = LARGE_MATRIX_ELEMENTS
        for id_, hidden, count in ((LARGE, False, most), (HIDDEN_LARGE, True, most // 2)):
            shape_of = sizes.grown(count, odd=hidden)
            while shape_of is not None and count > SMALL_ELEMENTS:
                if self._is_bounded(shape_of, kinds, MOST_ELEMENTS) and self._add(
                    id_, hidden, shape_of, kinds, base, small=False
                ):
                    break
                count //= 4
                shape_of = sizes.grown(count, odd=hidden)
        large = next((case for case in form.cases if case.id == LARGE), None)
        if large is not None:
            returned = sum(math.prod(one) for one in large.outputs)
            form.counts_outputs = returned * 64 >= large.shape.elements()

    def _add(
        self, id_: str, hidden: bool, shape: CaseShape, kinds: Kinds, base: list[float], small: bool
    ) -> bool:
        """Adds a case. Normal inputs become smaller until the outputs have about the size of those of
        the small cases, because all cases of an operator have the same tolerance."""
        for factor in SHRINK:
            shrunk = with_scale(kinds, factor)
            try:
                outputs = self._checked(shape, shrunk)
            except Refused:
                return False
            pairs = zip(_size_of(outputs), base, strict=False)
            if all(size <= MOST_OUTPUT * max(least, 1e-6) for size, least in pairs):
                extents = [tuple(value.shape) for value in outputs]
                made = table(self._form, shape, shrunk)
                self._form.cases.append(NewCase(id_, hidden, shape, extents, made, small))
                return True
            if shrunk == with_scale(kinds, 1.0) and factor != 1.0:
                return False
        return False

    def _is_bounded(self, shape: CaseShape, kinds: Kinds, most: int) -> bool:
        """Returns True if the reference needs little time and memory for this shape. This is computed
        on the device meta, which has no values. A function that reads values has a lower limit."""
        given = self._form.arguments(self._form.shape_of(self._form.first), kinds, SEEDS[0])
        on_meta = {
            name: torch.empty(shape.extents[name], dtype=value.dtype, device="meta")
            if torch.is_tensor(value)
            else shape.numbers[name]
            for name, value in given.items()
        }
        sizes = _Sizes()
        try:
            with FlopCounterMode(display=False) as counter, sizes, torch.no_grad():
                self._reference()(**on_meta)
        except Exception:
            return shape.elements() <= READING_ELEMENTS
        return counter.get_total_flops() <= MOST_FLOPS and sizes.most <= most

    def _accepts(self, shape: CaseShape, kinds: Kinds) -> bool:
        try:
            self._checked(shape, kinds)
        except Refused:
            return False
        return True

    def _reference(self) -> Callable[..., Any]:
        names = dict(vars(self._module))
        exec(compile(self._form.reference_text(), "reference.py", "exec"), names)
        return names["reference"]  # type: ignore[no-any-return]

    def _checked(self, shape: CaseShape, kinds: Kinds) -> list[torch.Tensor]:
        """Returns the outputs of the reference. Raises Refused if it does not accept the inputs, or
        if its outputs have no fixed form."""
        first = self._evaluate(shape, kinds, SEEDS[0])
        second = self._evaluate(shape, kinds, SEEDS[1])
        if [value.shape for value in first] != [value.shape for value in second]:
            raise Refused("value_dependent_shape", "the sizes of outputs depend on values")
        return first

    def _evaluate(self, shape: CaseShape, kinds: Kinds, seed: int) -> list[torch.Tensor]:
        form = self._form
        try:
            given = form.arguments(shape, kinds, seed)
            before = {k: v.clone() for k, v in given.items() if torch.is_tensor(v)}
            torch.manual_seed(seed)
            with torch.no_grad():
                made = self._reference()(**given)
        except Exception as error:
            lines = str(error).splitlines() or [""]
            raise Refused("raises", f"{type(error).__name__}: {lines[0][:160]}") from error
        for name, value in before.items():
            if name not in form.written and not same_values(given[name], value):
                form.written = sorted([*form.written, name])
                return self._evaluate(shape, kinds, seed)
        outputs = outputs_of(made)
        self._check_form(outputs)
        for value, (_, _, _, source) in zip(outputs, form.outputs, strict=True):
            if source and tuple(value.shape) != shape.extents[source]:
                raise Refused("resized_argument", f"the function changes the size of {source}")
        return outputs

    def _check_form(self, outputs: list[torch.Tensor]) -> None:
        form = self._form
        for value, (name, dtype, rank, source) in zip(outputs, form.outputs, strict=True):
            if not isinstance(value, torch.Tensor) or value.dtype != dtype or value.dim() != rank:
                raise Refused("value_dependent_form", f"output {name} changes its dtype or rank")
            if value.numel() == 0:
                raise Refused("empty_tensor", f"output {name} has no elements")
            if value.is_floating_point() and not bool(value.isfinite().all()):
                raise Refused("not_finite", f"output {name} has NaN or infinities")
            if not value.is_contiguous() and not source:
                path = dict(zip([n for n, *_ in form.outputs], form.first.returned, strict=False))
                form.contiguous.add(f"result{path[name][0]}")

    def _lint(self) -> None:
        """Lints the operator with its small cases. Changes the scales if only the tolerance is
        wrong."""
        form = self._form
        start = list(form.scales)
        failed: list[Check] = []
        for factor in LOOSER_OR_TIGHTER:
            form.scales = [scale * factor for scale in start]
            failed = self._failed_checks()
            if not failed:
                return
            if not any(DOWN_CAST in check.name or "strictly" in check.name for check in failed):
                break
        worst = failed[0]
        kind = "mutant_passes" if worst.mutant else LINT_KINDS.get(worst.name, "lint")
        raise BadCase(kind, f"{worst.name}: {worst.detail[:200]}", worst.case or "")

    def _drop_imprecise(self) -> None:
        """Removes the cases for timing if the reference's own error takes too much of the tolerance,
        so that a right kernel could fail there. Raises BadCase for other cases."""
        form = self._form
        kept = [case for case in form.cases if self._is_precise(case)]
        for case in form.cases:
            if case not in kept and case.id not in (LARGE, HIDDEN_LARGE):
                text = "the reference's own error takes too much of the tolerance"
                raise BadCase("imprecise", f"case {case.id}: {text}", case.id)
        if len(kept) < len(form.cases):
            form.cases = kept
            self._write(form)

    def _is_precise(self, case: NewCase) -> bool:
        form = self._form
        kinds = {name: case.inputs[name] for name in form.tensors}
        given = form.arguments(case.shape, kinds, SEEDS[0])
        wide = {
            name: value.double() if torch.is_tensor(value) and value.is_floating_point() else value
            for name, value in form.arguments(case.shape, kinds, SEEDS[0]).items()
        }
        with torch.no_grad():
            narrow, exact = self._reference()(**given), self._reference()(**wide)
        pairs = zip(outputs_of(narrow), outputs_of(exact), form.scales, strict=True)
        return all(
            float((one.double() - other.double()).abs().max()) * scale <= OWN_ERROR * FLOAT_ERROR
            for one, other, scale in pairs
            if one.dtype is torch.float32
        )

    def _failed_checks(self) -> list[Check]:
        folder = self._write(self._form)
        operator = Operator.load(folder)
        tables = [one for one in operator.spec["cases"] if one["interpreter"]]
        cases = [operator.case(one, "cpu") for one in tables]
        for seed in LINT_SEEDS:
            failed = [check for check in lint(operator, cases, seed) if not check.ok]
            if failed:
                return failed
        return []


# The typed reasons for failed checks of lint.
LINT_KINDS = {
    "reference is deterministic": "random",
    "reference works in float64": "fails_in_float64",
    "reference computes in float64": "not_in_float64",
}
# No other inputs can help after these.
FINAL = ("random", "fails_in_float64")
# From the least to the most telling reason.
ORDER = (
    "raises",
    "resized_argument",
    "not_finite",
    "empty_tensor",
    "value_dependent_form",
    "value_dependent_shape",
    "lint",
    "imprecise",
    "mutant_passes",
    "not_in_float64",
    "fails_in_float64",
    "random",
)


def outputs_of(made: Any) -> list[torch.Tensor]:
    return list(made) if isinstance(made, tuple | list) else [made]


def _size_of(outputs: list[torch.Tensor]) -> list[float]:
    """Returns the root of the mean square of each output, or 0 for integers."""
    return [
        float(value.double().square().mean().sqrt()) if value.is_floating_point() else 0.0
        for value in outputs
    ]


def scale_for(size: float) -> float:
    """Returns the scale of an output of this size: a power of ten."""
    if size <= 0:
        return 1.0
    return float(10.0 ** round(math.log10(FLOAT_ERROR / (ALLOWED_SHARE * size))))


def table(form: Form, shape: CaseShape, kinds: Kinds) -> dict[str, Any]:
    return {**{name: kinds[name] for name in form.tensors}, **shape.numbers}
