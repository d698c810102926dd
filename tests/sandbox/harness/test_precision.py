"""Tests that lint finds operators whose small cases accept kernels that compute with fewer bits."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from harness.judging.lint import lint
from harness.judging.precision import Float16Accumulators
from harness.operator import Operator, OperatorError

SPEC = """
name = "add_product"
dialect = "triton"
entry = "add_product"
signature = "add_product(a: Tensor, b: Tensor, bias: Tensor) -> Tensor"
[[arguments]]
name = "a"
type = "tensor"
dtype = "float16"
shape = ["m", "k"]
role = "input"
[[arguments]]
name = "b"
type = "tensor"
dtype = "float16"
shape = ["k", "n"]
role = "input"
[[arguments]]
name = "bias"
type = "tensor"
dtype = "float16"
shape = ["n"]
role = "input"
[[outputs]]
name = "y"
dtype = "float16"
shape = ["m", "n"]
max_abs_error = 0.01
scale = 1
"""
CASE = """
[[cases]]
id = "{0}"
visibility = "hidden"
interpreter = {1}
dtype = "float16"
axes = {{ m = 8, k = 64, n = 12 }}
distribution = "{0}"
"""
REFERENCE = """
import torch
from harness.operator import Cost

def inputs(case, rng):
    m, k, n = (case.axes[name] for name in "mkn")
    if case.distribution == "picks":
        a, b = rng.picks(m, k, n)
    elif case.distribution == "swells":
        a, b = rng.swells(m, k, n)
    else:
        a, b = 0.1 * rng.normal((m, k)), rng.normal((k, n))
    bias = torch.zeros((n,), device=rng.device)
    if case.distribution == "fine":
        a, bias = 0.0 * a, rng.fine((n,))
    elif case.distribution == "normal":
        bias = 0.1 * rng.normal((n,))
    return {"a": a.half(), "b": b.half(), "bias": bias.half()}

def reference(a, b, bias):
    wide = torch.float64 if a.dtype == torch.float64 else torch.float32
    return (a.to(wide) @ b.to(wide) + bias.to(wide)).to(a.dtype)

def cost(case):
    m, k, n = (case.axes[name] for name in "mkn")
    return Cost(bytes=2 * (m * k + k * n + n + m * n), flops=2 * m * k * n)
"""
ORACLE = "def add_product(a, b, bias):\n    return a\n"
ALL, A, B, BIAS = (
    f"rejects {what} rounded to bfloat16 (in a small case)"
    for what in ("inputs", "input a", "input b", "input bias")
)
SUMS = "rejects sums of products in float16 (in a small case)"
INDISTINGUISHABLE = """
[[indistinguishable]]
loss = "rounded_input"
argument = "bias"
why = "A bias of this size changes no output by more than the tolerance."
"""


def failed(folder: Path, *distributions: str, more: str = "", large: str = "") -> dict[str, str]:
    """Returns the messages of the failed checks about precision, by the name of the check."""
    tables = "".join(
        CASE.format(name, "false" if name == large else "true") for name in distributions
    )
    (folder / "spec.toml").write_text(SPEC + more + tables)
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "oracle.py").write_text(ORACLE)
    operator = Operator.load(folder)
    cases = [operator.case(table, "cpu") for table in operator.spec["cases"]]
    return {
        check.name: check.detail
        for check in lint(operator, cases, 1)
        if not check.ok and ("bfloat16" in check.name or "float16" in check.name)
    }


def test_cases_that_show_every_loss_pass(tmp_path: Path) -> None:
    assert failed(tmp_path, "normal", "picks", "swells", "fine") == {}


@pytest.mark.parametrize(
    ("missing", "names", "helper"),
    [
        ("picks", {A, B}, "rng.picks or rng.fine in inputs()"),
        ("swells", {SUMS}, "rng.swells in inputs()"),
        ("fine", {BIAS}, "rng.picks or rng.fine in inputs()"),
    ],
)
def test_a_loss_that_no_small_case_shows_is_named_with_the_remedy(
    tmp_path: Path, missing: str, names: set[str], helper: str
) -> None:
    others = [name for name in ("normal", "picks", "swells", "fine") if name != missing]
    found = failed(tmp_path, *others)
    assert set(found) - {ALL} == names
    for detail in found.values():
        assert detail.startswith(f"{tmp_path / 'spec.toml'}:")
        assert "every small case accepts it" in detail
        assert "[[indistinguishable]]" in detail
    assert all(helper in found[name] for name in names)


def test_a_case_that_the_interpreter_does_not_run_is_not_small(tmp_path: Path) -> None:
    assert set(failed(tmp_path, "normal", "picks", "swells", "fine", large="fine")) == {BIAS}


def test_an_explained_loss_needs_no_case(tmp_path: Path) -> None:
    assert failed(tmp_path, "normal", "picks", "swells", more=INDISTINGUISHABLE) == {}


def test_an_explanation_is_refused_if_a_case_shows_the_loss(tmp_path: Path) -> None:
    found = failed(tmp_path, "normal", "picks", "swells", "fine", more=INDISTINGUISHABLE)
    (detail,) = found.values()
    assert "case fine rejects this loss: remove the table" in detail


def test_an_unknown_loss_is_an_error_that_names_the_valid_ones(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="'half'; valid: rounded_input, float16_sums"):
        failed(tmp_path, "normal", more=INDISTINGUISHABLE.replace("rounded_input", "half"))


def test_an_accumulator_in_float16_rounds_after_each_instruction() -> None:
    a = torch.full((1, 48), 64.0, dtype=torch.float16)
    b = torch.ones((48, 1), dtype=torch.float16)
    a[0, 1::16] += 0.5
    with Float16Accumulators() as accumulators:
        products = [a @ b, (a.float() @ b[:, 0].float())[None]]
        exact = a.double() @ b.double()
    # The partial sums are 1024.5, 2049 and 3073.5. float16 rounds them to 1024, 2048 and 3072.
    assert [float(one) for one in products] == [3072.0, 3072.0]
    assert float(exact) == 3073.5
    assert accumulators.products == 2
