"""Tests the parts of `assay operators new` that write an operator: the sizes of its cases, the form
of its outputs, the texts of its files, and that nothing is left of an operator that is refused."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "importers/new_operator"))

from harness.operator import Operator  # noqa: E402
from new_operator import write  # noqa: E402
from operator_cases import cases_of  # noqa: E402
from operator_forms import forms_of  # noqa: E402
from operator_request import FunctionInFile, Input, Refused, Request  # noqa: E402


def tensor(name: str, *shape: str, dtype: str = "float32", **others: str) -> Input:
    rest = {"distribution": "default", "low": "", "high": "", "value": "", **others}
    return Input(name, "tensor", dtype, shape, **rest)


def scalar(name: str, kind: str, value: str) -> Input:
    return Input(name, kind, "", (), "default", "", "", value)


def request(tmp_path: Path, source: str, *inputs: Input, **others: Any) -> Request:
    file = tmp_path / "ref.py"
    file.write_text(source)
    given: dict[str, Any] = {
        "name": "mine",
        "split": "standard",
        "family": "fused",
        "difficulty": 1,
        "summary": "",
        "description": "",
        "suite": tmp_path / "suite",
        "kind": "",
        "reference": FunctionInFile(file, others.pop("function", "f")),
        "oracle": None,
        "inputs": list(inputs),
        "axes": {},
        **others,
    }
    return Request(**given)


def test_cases_are_small_or_large_and_differ(tmp_path: Path) -> None:
    for axes in (["n"], ["rows", "cols"], ["m", "n", "k"], ["a", "b", "c", "d", "e"]):
        cases = cases_of(request(tmp_path, "", tensor("x", *axes)))
        public = [one for one in cases if not one.hidden and one.interpreter]
        hidden = [one for one in cases if one.hidden]
        assert len(public) == 4 and len(hidden) >= 3
        small = [tuple(one.axes.values()) for one in cases if one.interpreter]
        assert len(set(small)) == len(small)
        large, twin = (next(c for c in cases if c.id == i) for i in ("large", "hidden_large"))
        assert large.axes == twin.axes and large.distribution != twin.distribution


def test_the_sizes_that_the_author_names_are_used(tmp_path: Path) -> None:
    asked = request(tmp_path, "", tensor("x", "n", "d"), axes={"n": [10, 100, 1 << 20], "d": [64]})
    cases = cases_of(asked)
    assert {one.axes["d"] for one in cases} == {64}
    assert [one.axes["n"] for one in cases[:2]] == [10, 100]
    assert next(one for one in cases if one.id == "large").axes["n"] == 1 << 20
    with pytest.raises(Refused, match="no input has the axis 'm'; the axes are n, d"):
        cases_of(replace(asked, axes={"m": [1]}))
    with pytest.raises(Refused, match="take more than 256 MiB"):
        cases_of(request(tmp_path, "", tensor("x", "n", "100000000")))


def test_bfloat16_is_float32_in_the_interpreter(tmp_path: Path) -> None:
    cases = cases_of(request(tmp_path, "", tensor("x", "n", dtype="bfloat16")))
    assert {one.dtype for one in cases if one.interpreter} == {"float32"}
    assert {one.dtype for one in cases if not one.interpreter} == {"bfloat16"}


def test_outputs_are_products_of_axes(tmp_path: Path) -> None:
    source = (
        "import torch\n"
        "def f(x, w):\n"
        "    return x @ w, torch.cat([x, x], 1), x.reshape(-1), x.sum()\n"
    )
    asked = request(tmp_path, source, tensor("x", "m", "k"), tensor("w", "k", "3"))
    forms = forms_of(asked.inputs, "f", source, cases_of(asked))
    assert [one.shape for one in forms.outputs] == [["m", "3"], ["m", "2*k"], ["m*k"], []]
    assert forms.flops == "6*m*k"
    with pytest.raises(Refused, match="which no product of a number and the axes m, k gives"):
        forms_of(asked.inputs, "f", "def f(x, w): return x[1:]", cases_of(asked))


def test_a_reference_that_changes_its_argument(tmp_path: Path) -> None:
    source = "def reference(x, y):\n    x.add_(y)\n    return x * 2\n"
    asked = request(tmp_path, source, tensor("x", "n"), tensor("y", "n"), function="reference")
    operator = Operator.load(write(asked))
    assert operator.spec["signature"] == "mine(x: Tensor, y: Tensor) -> Tensor"
    assert [(one.name, one.source) for one in operator.outputs] == [("out", ""), ("x", "x")]
    case = operator.case(operator.spec["cases"][0], "cpu")
    arguments = operator.inputs(case, 1)
    x, y = arguments["x"].clone(), arguments["y"]
    out, after = operator.reference(arguments)
    assert bool((arguments["x"] == x).all()) and bool((after == x + y).all())
    assert bool((out == 2 * after).all())


@pytest.mark.parametrize(
    ("source", "inputs", "message"),
    [
        ("def f(x): return x.nope", [tensor("x", "n")], "line 1, .*no attribute 'nope'"),
        ("def g(x): return x", [tensor("x", "n")], "does not define `f`; it defines g"),
        ("def f(x:", [tensor("x", "n")], "SyntaxError"),
        ("def f(x): return x", [tensor("X", "n")], "input 'X': in an operator, a name begins"),
        ("def f(x): return x", [tensor("x", "N")], "axis 'N': in an operator"),
        ("def f(x): return x", [tensor("lambda", "n")], "a word of Python is no name"),
        ("def f(x, y): return x", [tensor("x", "n")] * 2, "input 'x' is named twice"),
        ("def f(x): return x", [tensor("x", "7")], "no input has an axis"),
        ("def f(x): return x", [scalar("x", "int", "n")], "no input is a tensor"),
        (
            "def inputs(): pass\ndef f(x): return x + 1",
            [tensor("x", "n")],
            "defines 'inputs', which reference.py defines",
        ),
    ],
)
def test_nothing_is_left_of_a_refused_operator(
    tmp_path: Path, source: str, inputs: list[Input], message: str
) -> None:
    with pytest.raises(Refused, match=message) as refused:
        write(request(tmp_path, source, *inputs))
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "suite").exists()


def test_an_existing_folder_is_kept(tmp_path: Path) -> None:
    asked = request(tmp_path, "def f(x): return x + 1", tensor("x", "n"))
    folder = write(asked)
    text = (folder / "spec.toml").read_text()
    with pytest.raises(Refused, match="mine: "):
        write(replace(asked, summary="Another"))
    assert (folder / "spec.toml").read_text() == text
    assert sorted(one.name for one in (tmp_path / "suite").iterdir()) == ["standard"]


def test_texts_of_the_author_are_quoted(tmp_path: Path) -> None:
    text = 'a "quoted" \\ text\nwith """three""" quotes'
    folder = write(
        request(tmp_path, "def f(x): return x + 1", tensor("x", "n"), description=text, summary='"')
    )
    spec = Operator.load(folder).spec
    assert spec["description"].strip() == text and spec["summary"] == '"'


def test_every_distribution_of_a_check_can_be_an_input(tmp_path: Path) -> None:
    inputs = [
        tensor("a", "n", distribution="uniform", low="0.5", high="2"),
        tensor("b", "n", dtype="int64", distribution="range", low="0", high="n"),
        tensor("c", "n", distribution="zeros"),
        tensor("d", "n", distribution="ones"),
        tensor("e", "n", dtype="int32", distribution="arange"),
        tensor("g", "n", dtype="int64", distribution="perm"),
        tensor("h", "n", dtype="int8"),
        tensor("i", "n", dtype="bool"),
        scalar("size", "int", "n"),
        scalar("k", "int", "3"),
        scalar("flag", "bool", "true"),
        scalar("beta", "float", "1.5"),
    ]
    source = (
        "def f(a, b, c, d, e, g, h, i, size, k, flag, beta):\n"
        "    return a[b] + c + d + e / size + a[g] + h + i + k + flag + beta\n"
    )
    operator = Operator.load(write(request(tmp_path, source, *inputs)))
    case = operator.case(operator.spec["cases"][0], "cpu")
    made = operator.inputs(case, 1)
    assert made["size"] == case.axes["n"] and made["k"] == 3 and made["beta"] == 1.5
    assert float(made["a"].min()) >= 0.5 and float(made["a"].max()) < 2
    assert sorted(made["g"].tolist()) == list(range(case.axes["n"]))
    other = operator.inputs(operator.case(operator.spec["cases"][1], "cpu"), 1)
    assert other["k"] != 3 and other["flag"] is False and other["beta"] != 1.5
