"""Tests the lint's checks that an operator's timed cases reveal wrong shortcuts, with small
operators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from harness.judging.adversaries import timed_twins
from harness.judging.check import Check
from harness.judging.lint import lint
from harness.judging.shortcuts import shortcut
from harness.operator import Operator

SPEC = """
name = "leaky_sum"
family = "FAMILY"
entry = "leaky_sum"
signature = "leaky_sum(x: Tensor, decay: float) -> tuple[Tensor, Tensor]"
[[arguments]]
name = "x"
type = "tensor"
dtype = "float32"
shape = ["rows", "steps"]
role = "input"
[[arguments]]
name = "decay"
type = "float"
role = "input"
[[outputs]]
name = "y"
dtype = "float32"
shape = ["rows", "steps"]
scale = 100
[[outputs]]
name = "last"
dtype = "float32"
shape = ["rows"]
scale = 100
[[adversarial]]
distribution = "early"
breaks = ["forget_past"]
axis = "steps"
"""
REFERENCE = """
import torch
from harness.operator import Cost

def inputs(case, rng):
    shape = (case.axes["rows"], case.axes["steps"])
    x = rng.normal(shape)
    if case.distribution == "early":
        x[:, 0] = 1e6  # still counts after 40 steps
    decay = 0.4 if case.distribution == "other_scalar" else 0.7
    return {"x": x, "decay": decay}

def reference(x, decay):
    y, h = torch.empty_like(x), torch.zeros_like(x[:, 0])
    for t in range(x.shape[1]):
        h = decay * h + x[:, t]
        y[:, t] = h
    return y, h

def cost(case):
    return Cost(bytes=4 * case.axes["rows"] * (2 * case.axes["steps"] + 1), flops=0)
"""
ORACLE = "def leaky_sum(x, decay):\n    return x\n"


def case_text(name: str, visibility: str, rows: int, distribution: str) -> str:
    return (
        f'[[cases]]\nid = "{name}"\nvisibility = "{visibility}"\ninterpreter = false\n'
        f'dtype = "float32"\naxes = {{ rows = {rows}, steps = 40 }}\ndistribution = "{distribution}"\n'
    )


SMALL = case_text("small", "public", 3, "normal")
LARGE = case_text("large", "public", 1000, "normal")
REDUCED = case_text("reduced", "hidden", 5, "early")
TWIN = case_text("twin", "hidden", 1000, "early")
OTHER = case_text("other", "hidden", 777, "normal")


def leaky_sum(
    folder: Path, *cases: str, family: str = "scan", spec: str = SPEC, other: str = OTHER
) -> Operator:
    (folder / "spec.toml").write_text(spec.replace("FAMILY", family) + "".join([*cases, other]))
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "oracle.py").write_text(ORACLE)
    return Operator.load(folder)


def failures(operator: Operator, *linted: str) -> list[Check]:
    tables: list[dict[str, Any]] = operator.spec["cases"]
    cases = [operator.case(table, "cpu") for table in tables if table["id"] in linted]
    # The scalar has the same value in all of these cases, which another check reports. That report
    # is left out here.
    return [
        check
        for check in lint(operator, cases, 1)
        if not check.ok and check.name != "scalar decay varies"
    ]


def test_an_operator_with_a_twin_passes(tmp_path: Path) -> None:
    operator = leaky_sum(tmp_path, SMALL, LARGE, REDUCED, TWIN)
    assert failures(operator, "small", "reduced") == []


@pytest.mark.parametrize(
    "twin",
    [
        case_text("twin", "hidden", 999, "early"),  # not a twin: it has other axes
        case_text("twin", "public", 1000, "early"),
        case_text("twin", "hidden", 1000, "normal"),
        case_text("twin", "hidden", 1000, "other"),  # this distribution is not declared adversarial
        "",
    ],
)
def test_a_timed_public_case_without_a_hidden_adversarial_twin_is_an_error(
    tmp_path: Path, twin: str
) -> None:
    operator = leaky_sum(tmp_path, SMALL, LARGE, REDUCED, twin)
    failed = failures(operator, "small", "reduced")
    assert {check.name for check in failed} == {"timed cases have an adversarial twin"}
    assert {"large"} <= {check.case for check in failed} <= {"large", "twin"}
    line = (tmp_path / "spec.toml").read_text().splitlines().index('id = "large"') + 1
    assert f"spec.toml:{line}: a submission may use" in failed[0].detail
    assert failed[0].detail.endswith("distribution of [[adversarial]] (early)")


@pytest.mark.parametrize(
    ("other", "met"),
    [
        (OTHER, True),
        (OTHER.replace("hidden", "public"), False),
        (case_text("other", "hidden", 120, "normal"), False),  # too small to be timed
        (case_text("other", "hidden", 130, "normal"), True),
        ("", False),
    ],
)
def test_a_timed_hidden_case_must_have_another_shape(tmp_path: Path, other: str, met: bool) -> None:
    operator = leaky_sum(tmp_path, SMALL, LARGE, REDUCED, TWIN, other=other)
    small = operator.case(operator.spec["cases"][0], "cpu")
    name = "a timed hidden case has another shape"
    (check,) = (one for one in timed_twins(operator, small, 1) if one.name == name)
    assert check.ok == met
    assert met or "spec.toml:" in check.detail


def test_small_public_cases_need_no_twin(tmp_path: Path) -> None:
    operator = leaky_sum(tmp_path, SMALL, LARGE, TWIN)
    small = operator.case(operator.spec["cases"][0], "cpu")
    checks = [check.case for check in timed_twins(operator, small, 1) if check.case is not None]
    assert checks == ["large"]


def test_a_twin_with_other_scalars_can_be_told_apart(tmp_path: Path) -> None:
    spec = SPEC.replace('"early"', '"other_scalar"')
    twin = case_text("twin", "hidden", 1000, "other_scalar")
    operator = leaky_sum(tmp_path, SMALL, LARGE, twin, spec=spec)
    small = operator.case(operator.spec["cases"][0], "cpu")
    (failed,) = [check for check in timed_twins(operator, small, 1) if not check.ok]
    assert "scalar arguments differ from those of large" in failed.detail


@pytest.mark.parametrize(
    ("family", "complaints"), [("scan", ["a shortcut is declared"]), ("sparse", [])]
)
def test_some_families_must_declare_a_shortcut(
    tmp_path: Path, family: str, complaints: list[str]
) -> None:
    spec = SPEC.replace("forget_past", "low_precision")
    operator = leaky_sum(tmp_path, SMALL, LARGE, REDUCED, TWIN, family=family, spec=spec)
    assert [check.name for check in failures(operator, "small", "reduced")] == complaints


def test_a_shortcut_must_be_tried_in_a_linted_case(tmp_path: Path) -> None:
    operator = leaky_sum(tmp_path, SMALL, LARGE, TWIN)
    (failed,) = failures(operator, "small", "large")
    assert failed.name == "early is in a small case"


def test_a_distribution_that_lets_the_shortcut_pass_is_an_error(tmp_path: Path) -> None:
    spec = SPEC.replace('"early"', '"benign"')
    cases = [SMALL, LARGE, *(one.replace('"early"', '"benign"') for one in (REDUCED, TWIN))]
    operator = leaky_sum(tmp_path, *cases, spec=spec)
    # With a decay of 0.7, 0.7^10 = 0.03 of a state is left after ten steps. That is more than the
    # tolerance, so a kernel that forgets the state is wrong. With a decay of 0.1 the kernel passes.
    weak = (tmp_path / "reference.py").read_text().replace("else 0.7", "else 0.1")
    (tmp_path / "reference.py").write_text(weak)
    (failed,) = failures(Operator.load(operator.folder), "small", "reduced")
    assert (failed.case, failed.name) == ("reduced", "rejects shortcut forget_past")
    assert failed.mutant


def test_forgetting_restarts_one_part_before_each_part(tmp_path: Path) -> None:
    operator = leaky_sum(tmp_path, SMALL, LARGE, REDUCED, TWIN)
    case = operator.case(operator.spec["cases"][2], "cpu")
    arguments = operator.inputs(case, 1)
    y, last = shortcut(operator, case, arguments, operator.adversaries[0], "forget_past")
    right, right_last = operator.reference(arguments)
    assert torch.equal(y[:, :20], right[:, :20])  # parts 0 and 1 start at step 0
    fresh, fresh_last = operator.reference({**arguments, "x": arguments["x"][:, 20:]})
    assert torch.equal(y[:, 30:], fresh[:, 10:])
    assert torch.equal(last, fresh_last)
    assert not torch.equal(last, right_last)


@pytest.mark.parametrize(
    "reference",
    [
        "torch.softmax(x, -1)",
        "x.softmax(-1)",
        "torch.nn.functional.softmax(x, dim=-1)",
        "torch.log_softmax(x, -1).exp()",
        "(x - torch.logsumexp(x, -1, keepdim=True)).exp()",
        "(x - x.amax(-1, keepdim=True)).exp() / (x - x.amax(-1, keepdim=True)).exp().sum(-1, keepdim=True)",
    ],
)
def test_a_softmax_without_its_maximum_overflows(tmp_path: Path, reference: str) -> None:
    operator = leaky_sum(tmp_path, SMALL, LARGE, REDUCED, TWIN)
    text = f"    return {reference}, x[:, 0]\n"
    start = REFERENCE.index("    y, h =")
    end = REFERENCE.index("\ndef cost")
    (tmp_path / "reference.py").write_text(REFERENCE[:start] + text + REFERENCE[end:])
    operator = Operator.load(operator.folder)
    case = operator.case(operator.spec["cases"][0], "cpu")
    x = torch.tensor([[1.0, 2.0, 3.0], [101.0, 102.0, 103.0]])
    arguments = {"x": x, "decay": 0.7}
    made, _ = shortcut(operator, case, arguments, operator.adversaries[0], "drop_maximum")
    right, _ = operator.reference(arguments)
    assert torch.allclose(made[0], right[0])
    assert not made[1].isfinite().all() or bool((made[1] == 0).all())


def test_an_operators_own_shortcut_takes_precedence(tmp_path: Path) -> None:
    operator = leaky_sum(tmp_path, SMALL, LARGE, REDUCED, TWIN)
    own = "\ndef shortcuts(x, decay):\n    return {'forget_past': (x, x[:, 0])}\n"
    (tmp_path / "reference.py").write_text(REFERENCE + own)
    operator = Operator.load(operator.folder)
    case = operator.case(operator.spec["cases"][0], "cpu")
    arguments = operator.inputs(case, 1)
    made, _ = shortcut(operator, case, arguments, operator.adversaries[0], "forget_past")
    assert made is arguments["x"]
