"""Makes an operator from one problem file of KernelBench. It executes the file, so it runs only in
the jail (golden_child.py).

    report = import_problem(golden, file, suite, case_memory_mib=20480)
    report["operators"]  # one operator, or none with a typed reason

A problem gives no operator if no verdict about it could be right: if its results are random, if they
are not finite, or if its tensors are larger than the limit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "importers/common"), str(ROOT / "sandbox")]

import torch  # noqa: E402
from benchmark_file import GoldenFile, operator_name  # noqa: E402
from harness.imported.problem import NotAnArgument, text_of  # noqa: E402
from harness.imported.problem_source import BadProblem, ProblemSource  # noqa: E402
from harness.operator import Rng  # noqa: E402
from harness.wire.tensors import NAMES  # noqa: E402
from kernelbench_meter import Measured, measure, run  # noqa: E402
from kernelbench_operator import Analysis, CaseOf, write_operator  # noqa: E402
from kernelbench_shrink import fits, shrunk  # noqa: E402

Report = dict[str, Any]
# The most bytes and operations of a problem that is computed on the CPU because it has no small
# case. Without a small case and above these, nothing is computed at import.
CPU_BYTES, CPU_FLOPS = 1 << 30, 100_000_000_000


class Refused(Exception):
    """The problem gives no operator. `kind` is one of the kinds of kernelbench.REMEDIES."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass
class Tried:
    """What came of computing Model on the CPU."""

    distributions: list[str]  # those with which the outputs are finite
    float64: bool
    constant: bool = False  # the outputs are the same for different inputs and parameters


def import_problem(golden: GoldenFile, file: Path, suite: Path, case_memory_mib: int) -> Report:
    found: Report = {"recorded": False, "calls": 0, "left_out": [], "operators": []}
    try:
        analysis = analysed(golden.text, str(file), case_memory_mib)
    except Refused as error:
        return {**found, "kind": error.kind, "message": str(error)}
    except BadProblem as error:
        return {**found, "kind": "not_a_problem", "message": str(error)}
    except NotAnArgument as error:
        return {**found, "kind": "unwritable_argument", "message": str(error)}
    except SyntaxError as error:
        return {**found, "kind": "syntax_error", "message": str(error.msg), "line": error.lineno}
    except ModuleNotFoundError as error:
        return {**found, "kind": "module_not_found", "message": str(error)}
    except MemoryError:
        return {**found, "kind": "memory_limit", "message": "it ran out of memory"}
    except Exception as error:
        return {**found, "kind": "raises", "message": f"{type(error).__name__}: {error}"}
    folder = suite / "standard" / operator_name(golden.name)
    write_operator(folder, golden, analysis)
    return {
        **found,
        "recorded": True,
        "calls": 1,
        "left_out": analysis.notes,
        "operators": [{"name": folder.name, "cases": len(analysis.cases)}],
    }


def analysed(text: str, path: str, case_memory_mib: int) -> Analysis:
    source = ProblemSource(text, path)
    full = measure(source.executed({}))
    _check(full, case_memory_mib)
    small = shrunk(source, full, 0)
    other = None if small is None else shrunk(source, full, 1)
    notes = []
    if small is not None:
        tried = _tried(source, small, full)
    elif full.bytes <= CPU_BYTES and full.flops <= CPU_FLOPS:
        notes.append("no small case: its cases need a GPU")
        tried = _tried(source, {}, full)
    else:
        notes.append("no small case, and too large for a CPU: nothing was computed at import")
        tried = Tried(["given", "signed"], False)
    cases = _cases(source, full, small, other, tried.distributions)
    if len(tried.distributions) == 1:
        notes.append("only the benchmark's own inputs: others give no finite outputs")
    if tried.constant:
        notes.append("its outputs are the same for all inputs: a kernel that stores them passes")
    return Analysis(cases, tried.float64, notes)


def _check(full: Measured, case_memory_mib: int) -> None:
    if full.random:
        raise Refused("random", f"forward draws random numbers ({full.random})")
    if not full.outputs:
        raise Refused("no_output", "forward returns no tensor")
    for tensor in (*full.outputs, *full.given.values()):
        if tensor.dtype not in NAMES:
            raise Refused("dtype", f"it has a tensor of {tensor.dtype}, which no operator has")
        if tensor.numel() == 0:
            raise Refused("empty_tensor", "it has an empty tensor")
    mib = full.bytes >> 20
    if mib > case_memory_mib:
        raise Refused(
            "case_memory",
            f"its tensors have {mib} MiB, which is over the limit of {case_memory_mib} MiB",
        )


def _cases(
    source: ProblemSource,
    full: Measured,
    small: dict[int, int] | None,
    other: dict[int, int] | None,
    distributions: list[str],
) -> list[CaseOf]:
    cases: list[CaseOf] = []

    def add(
        name: str, hidden: bool, sizes: dict[int, int], distribution: str, at: Measured
    ) -> None:
        """Adds a case, unless its distribution changes nothing or gives no finite outputs."""
        if distribution in distributions:
            cases.append(CaseOf(name, hidden, fits(at), distribution, sizes, at))

    signed = "signed" if "signed" in distributions else "shifted"
    if small is not None:
        at = measure(source.executed(small))
        add("small", False, small, "given", at)
        add("small_signed", False, small, signed, at)
        add("small_wide", True, small, "wide", at)
    if other is not None and other != small:
        at = measure(source.executed(other))
        if _same_form(at, full):
            add("other", True, other, "given", at)
            add("other_signed", True, other, signed, at)
    if small != {}:
        add("full", False, {}, "given", full)
        add("full_signed", True, {}, signed, full)
    forms = [case for case in cases if _same_form(case.measured, cases[-1].measured)]
    return forms


def _same_form(a: Measured, b: Measured) -> bool:
    """Returns True if both can be cases of one operator: they have the same arguments and outputs,
    with the same dtypes and ranks."""

    def form(one: Measured) -> Any:
        tensors = {**one.given, **{f"y{i}": x for i, x in enumerate(one.outputs)}}
        return (
            text_of(one.made.inputs, "s", {}),
            text_of(one.made.init, "i", {}),
            {name: (x.dtype, x.dim()) for name, x in tensors.items()},
            {name: type(value) for name, value in one.made.named.items()},
            len(one.draws),
            one.written,
        )

    return bool(form(a) == form(b))


def _tried(source: ProblemSource, sizes: dict[int, int], full: Measured) -> Tried:
    """Computes Model on the CPU, with each distribution."""
    module = source.executed(sizes)
    first = _outputs(module, "given", 1)
    if not all(_finite(x) for x in first):
        raise Refused("not_finite", "its outputs are not finite with the benchmark's own inputs")
    if not _equal(first, _outputs(module, "given", 1, torch_seed=7)):
        raise Refused("random", "two runs with the same inputs and parameters differ")
    distributions = ["given"]
    for name in ("signed", "shifted", "wide"):
        try:
            made = run(module, name, Rng(1, "cpu"))
        except Exception:  # the problem does not accept such inputs
            continue
        if made.made.changed and all(_finite(x) for x in made.outputs):
            distributions.append(name)
    constant = _equal(first, _outputs(module, "given", 2))
    return Tried(distributions, _works_in_float64(module), constant)


def _outputs(
    module: dict[str, Any], distribution: str, seed: int, torch_seed: int = 0
) -> list[torch.Tensor]:
    def forward(returned: Callable[[], Any]) -> Any:
        torch.manual_seed(torch_seed)
        return returned()

    return run(module, distribution, Rng(seed, "cpu"), forward).outputs


def _finite(x: torch.Tensor) -> bool:
    return not x.is_floating_point() or bool(x.isfinite().all())


def _equal(a: list[torch.Tensor], b: list[torch.Tensor]) -> bool:
    return len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


def _works_in_float64(module: dict[str, Any]) -> bool:
    try:
        wide = run(module, "given", Rng(1, "cpu"), dtype=torch.float64)
    except Exception:  # Model converts to float32, or makes tensors of it
        return False
    return all(not x.is_floating_point() or x.dtype is torch.float64 for x in wide.outputs)
