"""Tests the checks that the judge makes of an operator."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from judge_client import ORACLE, REFERENCE, SPEC, JudgeClient, write_operator


def lint(judge: JudgeClient, folder: Path, **case: Any) -> dict[str, tuple[bool, str]]:
    wire = {
        "id": "c",
        "axes": {"rows": 40, "cols": 9},
        "dtype": "float32",
        "distribution": "normal",
        **case,
    }
    reply = judge.ask(
        {"type": "lint", "operator_dir": str(folder), "device": "cpu", "cases": [wire], "seed": 1}
    ).header
    assert reply["type"] == "linted", reply
    return {check["check"]: (check["ok"], check["detail"]) for check in reply["checks"]}


def test_lint_of_a_good_operator(judge: JudgeClient, operator: Path) -> None:
    checks = lint(judge, operator)
    assert all(ok for ok, _ in checks.values()), [
        (name, detail) for name, (ok, detail) in checks.items() if not ok
    ]
    for name in (
        "zeros",
        "ones",
        "mean",
        "permuted rows",
        "shifted by one",
        "one row wrong",
        "last element wrong",
        "tail skipped",
        "half computed",
    ):
        assert f"rejects {name} (x_after)" in checks and f"rejects {name} (count)" in checks
    assert "rejects input x (x_after)" in checks and "rejects input index (count)" in checks
    assert "rejects inputs down-cast to bfloat16" in checks
    assert "rejects inputs rounded to TF32" not in checks


def test_lint_finds_a_description_that_is_not_that_of_the_inputs(
    judge: JudgeClient, tmp_path: Path
) -> None:
    drawn = "x = rng.normal((2 * cols, rows), case.dtype).t()"
    other = f'{drawn}\n    x = x.contiguous() if case.device.type == "meta" else x'
    spec = SPEC.replace('"structural"', '"input"')
    good = lint(judge, write_operator(tmp_path / "good", spec=spec))
    bad = write_operator(tmp_path / "bad", spec=spec, reference=REFERENCE.replace(drawn, other))
    assert good["inputs are as described"][0]
    ok, detail = lint(judge, bad)["inputs are as described"]
    assert not ok and ": x has another layout" in detail


@pytest.mark.parametrize(
    ("file", "old", "new", "failing"),
    [
        ("spec", "scale = 10", "scale = 0.0001", "rejects zeros (x_after)"),
        ("spec", "scale = 10", "scale = 0.1", "rejects inputs down-cast to bfloat16"),
        ("spec", "axpy(a: float,", "axpy(b: float,", "signatures agree"),
        ("reference", "a * x, index", "a * x + torch.rand(1), index", "reference is deterministic"),
        (
            "reference",
            "return a * x",
            "x.mul_(a); return x.clone()",
            "reference leaves its arguments alone",
        ),
        ("reference", "bytes=2 * rows", "bytes=3 * rows", "cost is the tensors' bytes"),
        (
            "reference",
            "return a * x, index + 1",
            "return x.clone(), index + 1",
            "rejects input x (x_after)",
        ),
        (
            "reference",
            "return a * x, index",
            "return (a * x.float()).to(x.dtype) * 0 + 1, index",
            "rejects ones (x_after)",
        ),
        (
            "reference",
            "rng.normal((2 * cols, rows), case.dtype).t()",
            "torch.randn(2 * cols, rows).t()",
            "inputs are reproducible from the seed",
        ),
        (
            "reference",
            "return a * x",
            "assert x.dtype == torch.float32; return a * x",
            "reference works in float64",
        ),
        ("reference", "return a * x, index + 1", "raise KeyError('k')", "runs"),
        ("oracle", "import torch", "import torch, os", "oracle imports only torch and triton"),
        ("oracle", "axpy(a, x", "axpy(alpha, x", "signatures agree"),
        ("oracle", "def axpy", "def other", "signatures agree"),
    ],
)
def test_lint_finds(
    judge: JudgeClient, tmp_path: Path, file: str, old: str, new: str, failing: str
) -> None:
    texts = {"spec": SPEC, "reference": REFERENCE, "oracle": ORACLE}
    assert old in texts[file]
    texts[file] = texts[file].replace(old, new)
    checks = lint(judge, write_operator(tmp_path / "axpy", **texts))
    assert failing in checks and not checks[failing][0], [
        (name, detail) for name, (ok, detail) in checks.items() if not ok
    ]
    assert checks[failing][1] or failing.startswith(("reference", "inputs"))


def test_an_operator_that_requires_ieee_must_reject_tf32(
    judge: JudgeClient, tmp_path: Path
) -> None:
    name = "rejects inputs rounded to TF32"
    asking = SPEC.replace('name = "axpy"', 'name = "axpy"\nsummary = "IEEE float32"')
    assert lint(judge, write_operator(tmp_path / "a", spec=asking))[name][0]
    assert not lint(
        judge, write_operator(tmp_path / "b", spec=asking.replace("scale = 10", "scale = 1"))
    )[name][0]


def test_mutants_that_are_right_because_the_output_is_tiny_do_not_fail(
    judge: JudgeClient, operator: Path
) -> None:
    checks = lint(judge, operator, axes={"rows": 1, "cols": 1})
    assert checks["rejects permuted rows (x_after)"] == (
        True,
        "not applicable: the output has one row, so the mutant is the right answer",
    )
    assert (
        checks["rejects shifted by one (count)"][0]
        and "one element" in checks["rejects shifted by one (count)"][1]
    )
