"""Tests the judge's part of `operators lint` with small operators. tests/e2e/test_operators_lint.py
tests the whole command."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import torch
from harness.judging.lint import Check, lint
from harness.operator import Operator, OperatorError

SPEC = """
name = "row_max"
entry = "row_max"
signature = "row_max(x: Tensor) -> Tensor"
[[arguments]]
name = "x"
type = "tensor"
dtype = "float32"
shape = ["rows", "cols"]
role = "input"
[[outputs]]
name = "y"
dtype = "float32"
shape = ["rows"]
max_abs_error = 0.01
scale = 100
"""
REFERENCE = """
import torch
from harness.operator import Cost

def inputs(case, rng):
    x = rng.normal((case.axes["rows"], case.axes["cols"]))
    return {"x": x if case.distribution == "normal" else x - 10.0}

def reference(x):
    return x.amax(1)

def cost(case):
    return Cost(bytes=4 * case.axes["rows"] * (case.axes["cols"] + 1), flops=0)
"""
ORACLE = "def row_max(x):\n    return x\n"
OWN = """
def mutants(x):
    return {"starts at zero": x.amax(1).clamp(min=0.0), "half of the columns left out": x[:, ::2].amax(1)}
"""


def row_max(folder: Path, more: str = "") -> Operator:
    for name, text in {
        "spec.toml": SPEC,
        "reference.py": REFERENCE + more,
        "oracle.py": ORACLE,
    }.items():
        (folder / name).write_text(text)
    return Operator.load(folder)


def checks_of(operator: Operator, *distributions: str) -> list[Check]:
    wire = {"axes": {"rows": 40, "cols": 19}, "dtype": "float32"}
    cases = [
        operator.case({"id": name, "distribution": name, **wire}, "cpu") for name in distributions
    ]
    return list(lint(operator, cases, 1))


def named(checks: list[Check], name: str) -> Check:
    (found,) = [check for check in checks if check.name == name]
    return found


def without_oracle(folder: Path, more: str = "") -> Operator:
    """Returns row_max as an operator of an imported suite that has no oracle."""
    row_max(folder, more)
    (folder / "oracle.py").unlink()
    (folder / "spec.toml").write_text('imported = true\nbaseline = "torch_eager"\n' + SPEC)
    return Operator.load(folder)


def test_an_operator_without_an_oracle_gets_all_other_checks(tmp_path: Path) -> None:
    checks = checks_of(without_oracle(tmp_path, OWN), "normal", "low")
    assert [check for check in checks if not check.ok] == []
    names = {check.name for check in checks}
    assert {"signatures agree", "reference is deterministic", "cost is the tensors' bytes"} <= names
    assert "oracle imports only torch and triton" not in names
    assert any(check.mutant for check in checks)
    surviving = named(checks_of(without_oracle(tmp_path, OWN), "normal"), "rejects starts at zero")
    assert not surviving.ok


def test_one_case_of_an_imported_operator_must_reject_each_mutant(tmp_path: Path) -> None:
    def of_case(distribution: str) -> str:
        return f"""
def inputs(case, rng):
    x = rng.normal((case.axes["rows"], case.axes["cols"]))
    return {{"x": x.round() if case.distribution == {distribution!r} else x}}
"""

    # Rounded inputs are exact in bfloat16, so only the other case can reject this mutant.
    mutant = "rejects inputs down-cast to bfloat16"
    operator = without_oracle(tmp_path, of_case("rounded"))
    checks = checks_of(operator, "rounded", "plain")
    assert named(checks, mutant).ok and named(checks, mutant).case is None
    refused = named(checks_of(operator, "rounded"), mutant)
    assert not refused.ok and "accepted by every case" in refused.detail


def test_an_unknown_baseline_is_an_error_that_names_the_valid_ones(tmp_path: Path) -> None:
    without_oracle(tmp_path)
    (tmp_path / "spec.toml").write_text('baseline = "fast"\n' + SPEC)
    with pytest.raises(OperatorError, match="'fast'; valid: oracle, torch_eager"):
        Operator.load(tmp_path)


def test_a_sound_operator_passes_every_check(tmp_path: Path) -> None:
    checks = checks_of(row_max(tmp_path, OWN), "normal", "low")
    assert [check for check in checks if not check.ok] == []
    assert named(checks, "rejects starts at zero").case is None


def test_a_reference_that_is_edited_within_a_second_is_loaded_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python uses cached bytecode if the source's size and its time in whole seconds are unchanged.
    The edit in this test changes neither, but the edited reference must be loaded."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    body = "def mutants(x):\n    return {'1': x.amax(1)}\n"
    operator = row_max(tmp_path, body)
    reference = operator.folder / "reference.py"
    times = reference.stat().st_atime_ns, reference.stat().st_mtime_ns
    reference.write_text(reference.read_text().replace("'1'", "'2'"))
    os.utime(reference, ns=times)
    assert list(Operator.load(operator.folder).own_mutants({"x": torch.zeros(2, 3)})) == ["2"]


def test_an_operators_own_mutant_must_be_rejected_by_some_case(tmp_path: Path) -> None:
    # The input has 40 rows of 19 normal values, so every maximum is above zero. So the mutant that
    # starts from zero gives the right answer here.
    checks = checks_of(row_max(tmp_path, OWN), "normal")
    assert not named(checks, "rejects starts at zero").ok
    assert named(checks, "rejects half of the columns left out").ok


def test_a_surviving_mutant_is_reported_with_the_last_case_that_accepted_it(tmp_path: Path) -> None:
    checks = checks_of(
        row_max(tmp_path, "def mutants(x):\n    return {'the same': x.amax(1)}\n"), "normal", "low"
    )
    survivor = named(checks, "rejects the same")
    assert not survivor.ok
    assert survivor.detail == "accepted by every case, low included: add a case that rejects it"


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("return [x]", "mutants() returned a list; want a dict"),
        ("return {'one': (x, x)}", "mutant 'one' must have 1 tensors"),
        ("return {'one': 3}", "mutant 'one' must have 1 tensors"),
    ],
)
def test_mutants_of_a_wrong_form_are_reported(tmp_path: Path, body: str, complaint: str) -> None:
    operator = row_max(tmp_path, f"def mutants(x):\n    {body}\n")
    with pytest.raises(OperatorError, match="mutant"):
        operator.own_mutants({"x": torch.zeros(2, 3)})
    runs = named(checks_of(operator, "normal"), "runs")
    assert not runs.ok
    assert complaint in runs.detail


def test_an_exception_is_reported_with_its_line(tmp_path: Path) -> None:
    operator = row_max(tmp_path, "def mutants(x):\n    return {'none': x.nothing()}\n")
    runs = named(checks_of(operator, "normal"), "runs")
    line = (tmp_path / "reference.py").read_text().splitlines().index(
        "    return {'none': x.nothing()}"
    ) + 1
    assert f"reference.py:{line}: AttributeError" in runs.detail


SCALED = """
import torch
from harness.operator import Cost

def inputs(case, rng):
    x = rng.normal((case.axes["rows"], case.axes["cols"]))
    return {"x": x, "factor": FACTOR}

def reference(x, factor):
    return WIDE.amax(1) * factor

def cost(case):
    return Cost(bytes=4 * case.axes["rows"] * (case.axes["cols"] + 1), flops=0)
"""


def scaled(folder: Path, factor: str, wide: str, rows: int = 5) -> dict[str, str]:
    """Returns the failed checks of an operator that has a scalar. Maps the check's name to its
    details."""
    spec = SPEC.replace("(x: Tensor)", "(x: Tensor, factor: float)").replace(
        "[[outputs]]", '[[arguments]]\nname = "factor"\ntype = "float"\nrole = "input"\n[[outputs]]'
    )
    spec += '[[adversarial]]\ndistribution = "far"\nbreaks = ["low_precision"]\n'
    for name, visibility, distribution, cols in (
        ("a", "public", "normal", 9),
        ("b", "hidden", "wide", 9),
        ("c", "hidden", "far", 9),
        ("d", "hidden", "normal", 8),
    ):
        axes = f"{{ rows = {rows}, cols = {cols} }}"
        spec += (
            f'\n[[cases]]\nid = "{name}"\nvisibility = "{visibility}"\ninterpreter = true\n'
            f'dtype = "float32"\naxes = {axes}\ndistribution = "{distribution}"\n'
        )
    row_max(folder)
    (folder / "spec.toml").write_text(spec)
    (folder / "reference.py").write_text(SCALED.replace("FACTOR", factor).replace("WIDE", wide))
    (folder / "oracle.py").write_text("def row_max(x, factor):\n    return x\n")
    operator = Operator.load(folder)
    wire = {"axes": {"rows": rows, "cols": 9}, "dtype": "float32"}
    cases = [
        operator.case({**wire, "id": name, "distribution": distribution}, "cpu")
        for name, distribution in (("a", "normal"), ("b", "wide"))
    ]
    return {check.name: check.detail for check in lint(operator, cases, seed=1) if not check.ok}


VARYING = "0.5 if case.distribution == 'wide' else 1.5"


def test_a_scalar_must_differ_between_cases(tmp_path: Path) -> None:
    assert scaled(tmp_path, VARYING, "x") == {}
    failed = scaled(tmp_path, "1.5", "x")
    assert set(failed) == {"scalar factor varies"}
    assert "factor is 1.5 in every case" in failed["scalar factor varies"]


def test_a_reference_must_compute_in_float64_if_its_arguments_are_float64(tmp_path: Path) -> None:
    failed = scaled(tmp_path, VARYING, "x.float()")
    assert set(failed) == {"reference computes in float64"}
    assert "y has the precision of float32" in failed["reference computes in float64"]


def test_a_case_for_the_interpreter_must_be_small(tmp_path: Path) -> None:
    failed = scaled(tmp_path, VARYING, "x", rows=30_000)
    assert set(failed) == {"small enough for the interpreter"}
    assert f"at most {1 << 20} bytes" in failed["small enough for the interpreter"]


def test_inputs_that_ignore_the_generator_are_no_fault_of_the_reference(tmp_path: Path) -> None:
    operator = row_max(tmp_path)
    (tmp_path / "reference.py").write_text(
        REFERENCE.replace('rng.normal((case.axes["rows"], case.axes["cols"]))', "torch.randn(4, 6)")
    )
    operator = Operator.load(tmp_path)
    case = operator.case(
        {"id": "c", "axes": {"rows": 4, "cols": 6}, "dtype": "float32", "distribution": "normal"},
        "cpu",
    )
    failed = [check.name for check in lint(operator, [case], seed=1) if not check.ok]
    assert failed == ["inputs are reproducible from the seed"]


@pytest.mark.parametrize(
    ("cost", "sound"),
    [
        ("bytes=4 * 40 * 20, flops=0", True),
        ("bytes=4 * 40 * 10, flops=0, untouched=4 * 40 * 10", True),
        ("bytes=4 * 40 * 10, flops=0", False),
        ("bytes=4 * 40 * 21, flops=0", False),
        ("bytes=4 * 40 * 10, flops=0, untouched=4 * 40 * 11", False),
        ("bytes=4 * 40 * 21, flops=0, untouched=-4 * 40", False),
    ],
)
def test_the_minimum_traffic_and_the_untouched_bytes_add_up_to_the_tensors(
    tmp_path: Path, cost: str, sound: bool
) -> None:
    operator = row_max(tmp_path, OWN + f"\ndef cost(case):\n    return Cost({cost})\n")
    checked = [
        check
        for check in checks_of(operator, "normal")
        if check.name == "cost is the tensors' bytes"
    ]
    assert [check.ok for check in checked] == [sound]
    assert sound or "untouched" in checked[0].detail


PRECISE = """
def inputs(case, rng):
    x = rng.normal((case.axes["rows"], case.axes["cols"]))
    if case.distribution == "coarse":
        x = (4 * x).round() / 4
    if case.distribution == "small":
        x = 0.01 * x
    return {"x": x}
"""


@pytest.mark.parametrize(
    ("distributions", "ok"),
    [(["small"], False), (["small", "normal"], True), (["normal", "small"], True)],
)
def test_a_rounding_to_bfloat16_must_show_in_one_case(
    tmp_path: Path, distributions: list[str], ok: bool
) -> None:
    operator = row_max(tmp_path, PRECISE)
    check = named(
        checks_of(operator, *distributions), "rejects inputs rounded to bfloat16 (in a small case)"
    )
    assert check.ok is ok and check.mutant
    assert ok or "every small case accepts it, small with an error of" in check.detail


def test_inputs_that_bfloat16_represents_need_no_such_case(tmp_path: Path) -> None:
    checks = checks_of(row_max(tmp_path, PRECISE), "coarse")
    assert not [check for check in checks if "rounded to bfloat16 (" in check.name]
