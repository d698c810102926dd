"""References that a caller sends: outputs, arguments that they change, inputs, and errors."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from harness.operator.own_reference import OwnArgument, OwnReference, Reference, ReferenceFailed


def tensor(name: str, dtype: str, shape: tuple[str, ...], *how: str) -> OwnArgument:
    distribution, low, high = (*how, "", "", "")[:3]
    return OwnArgument(name, "tensor", dtype, shape, distribution or "default", low, high, "")


X = tensor("x", "float32", ("n",))
Y = tensor("y", "float32", ("n",))


def made(source: str, *arguments: OwnArgument) -> OwnReference:
    return OwnReference(Reference("f", source, arguments or (X, Y), None))


def case(reference: OwnReference, n: int = 5) -> Any:
    wire = {"id": f"n={n}", "axes": {"n": n}, "dtype": "float32", "distribution": "check"}
    return reference.case(wire, "cpu")


@pytest.mark.parametrize(
    ("body", "outputs", "roles"),
    [
        ("return x + y", [("out", "")], ["input", "input"]),
        ("return x + y, (x > y)", [("out0", ""), ("out1", "")], ["input", "input"]),
        ("return [x]", [("out", "")], ["input", "input"]),
        ("x.add_(y)", [("x", "x")], ["inout", "input"]),
        ("x.add_(y); return x", [("x", "x")], ["inout", "input"]),
        ("y[0] = 0; x += 1; return y", [("x", "x"), ("y", "y")], ["inout", "inout"]),
        ("x.add_(y); return x * 2", [("out", ""), ("x", "x")], ["inout", "input"]),
    ],
)
def test_outputs_are_those_of_the_first_run(
    body: str, outputs: list[tuple[str, str]], roles: list[str]
) -> None:
    reference = made(f"def f(x, y): {body}")
    one = case(reference)
    arguments = reference.inputs(one, 7)
    before = {name: value.clone() for name, value in arguments.items()}
    expected = reference.expected(one, arguments)
    assert [(o.name, o.source) for o in reference.outputs] == outputs
    assert [a.role for a in reference.arguments] == roles
    assert len(expected) == len(outputs)
    assert all(torch.equal(arguments[name], before[name]) for name in before)
    assert [list(value.shape) for value in expected] == [
        reference.output_shape(output, one) for output in reference.outputs
    ]


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def f(x, y):\n    return x @@ y\n", ("line 2", "SyntaxError")),
        (
            "import torch\ndef g(a): return a.nope\ndef f(x, y):\n    return g(x)\n",
            ("line 2", "nope"),
        ),
        ("raise ValueError('at import')\n", ("line 1", "at import")),
        ("import sys\ndef f(x, y): sys.exit(3)\n", ("line 2", "SystemExit")),
        ("def g(x, y): return x\n", ("does not define `f`", "it defines g")),
        ("def f(x): return x\n", ("TypeError", "positional")),
        ("def f(x, y): return {'a': x}\n", ("returned a dict",)),
        ("def f(x, y): pass\n", ("returned nothing",)),
        ("def f(x, y): return x + 1j\n", ("complex64",)),
        ("def f(x, y): return x.to('meta')\n", ("on meta",)),
    ],
)
def test_errors_name_the_line(source: str, words: tuple[str, ...]) -> None:
    with pytest.raises(ReferenceFailed) as failed:
        reference = made(source)
        one = case(reference)
        reference.expected(one, reference.inputs(one, 1))
    for word in words:
        assert word in str(failed.value), str(failed.value)


def test_outputs_may_not_depend_on_values_or_on_the_case() -> None:
    chosen = made("def f(x, y): return x[x > 0]")
    with pytest.raises(ReferenceFailed, match="other shapes or dtypes"):
        for seed in range(1, 20):
            chosen.expected(case(chosen), chosen.inputs(case(chosen), seed))
    growing = made("def f(x, y): return (x,) * len(x)")
    growing.shapes(case(growing, 2))
    with pytest.raises(ReferenceFailed, match="other outputs in case n=3"):
        growing.shapes(case(growing, 3))


def test_a_reference_that_needs_its_dtypes_has_no_float64() -> None:
    picky = made("def f(x, y):\n    assert x.dtype.itemsize == 4\n    return x + y")
    arguments = picky.inputs(case(picky), 1)
    picky.expected(case(picky), arguments)
    assert picky.in_float64(arguments) is None
    easy = made("def f(x, y): return x + y")
    easy.shapes(case(easy))
    wide = easy.in_float64(arguments)
    assert wide is not None and wide[0].dtype is torch.float64


def test_inputs_follow_their_distributions() -> None:
    arguments = (
        tensor("a", "int8", ("n",)),
        tensor("b", "int64", ("n",), "range", "2", "n"),
        tensor("c", "float16", ("n",), "uniform", "-3", "3"),
        tensor("d", "int32", ("n",), "perm"),
        tensor("e", "int32", ("n",), "offsets", "0", "2*n"),
        tensor("g", "bool", ("n",)),
        tensor("h", "float32", (), "ones"),
        OwnArgument("size", "int", "", (), "", "", "", "n"),
        OwnArgument("flag", "bool", "", (), "", "", "", "true"),
        OwnArgument("beta", "float", "", (), "", "", "", "1.5"),
    )
    reference = made("def f(*given): return given[0]", *arguments)
    values = reference.inputs(case(reference, 400), 3)
    assert values["a"].min() < -100 and values["a"].max() > 100
    assert values["b"].min() >= 2 and values["b"].max() < 400
    assert values["c"].dtype is torch.float16 and values["c"].abs().max() <= 3
    assert sorted(values["d"].tolist()) == list(range(400))
    assert values["e"][0] == 0 and values["e"][-1] == 800
    assert bool((values["e"].diff() >= 0).all())
    assert 100 < int(values["g"].sum()) < 300
    assert values["h"].shape == () and (values["size"], values["flag"]) == (400, True)
    assert values["beta"] == 1.5
    described = reference.shapes(case(reference, 400))
    assert described is not None
    assert {k: v.shape for k, v in described.items() if isinstance(v, torch.Tensor)} == {
        k: v.shape for k, v in values.items() if isinstance(v, torch.Tensor)
    }
