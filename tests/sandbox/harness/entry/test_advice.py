"""Tests what an error suggests: names that exist, code without prose, no code at import."""

from __future__ import annotations

import ast
import re
from types import SimpleNamespace

import pytest
import torch
import triton
import triton.language as tl
from harness.entry.advice import advice
from harness.entry.cases import CaseInput
from harness.entry.given_arguments import with_arguments
from harness.entry.replacements import IMPORTS, INSTEAD
from triton.language.extra import libdevice

PATH = "/submission.py"
SOURCE = "import triton\n\ndef f(x):\n    return x\n"


def raised(code: str, **names: object) -> Exception:
    try:
        exec(compile(code, PATH, "exec"), dict(names))
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def told(code: str, stage: str = "run", **names: object) -> str:
    return advice(raised(code, **names), code, PATH, stage)


def test_the_table_names_what_is_missing_and_suggests_what_exists() -> None:
    owners = {"tl": tl, "triton": triton, "value": tl.tensor}
    for owner, table in INSTEAD.items():
        for name, instead in table.items():
            assert not hasattr(owners[owner], name) or owner == "value", (owner, name)
            for used in re.findall(r"\btl\.(\w+)", instead):
                assert hasattr(tl, used), (name, used)
            for used in re.findall(r"\blibdevice\.(\w+)", instead):
                assert hasattr(libdevice, used), (name, used)
            for used in re.findall(r"\btriton\.(\w+)", instead):
                assert hasattr(triton, used), (name, used)
    for line in IMPORTS.values():
        exec(line, {})


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("tanh", "2 * tl.sigmoid(2 * x) - 1"),
        ("round", "libdevice.rint(x)"),
        ("relu", "tl.where(x < 0, 0.0, x)"),
        ("pow", "tl.exp2(y * tl.log2(x))"),
        ("matmul", "tl.dot(a, b, acc)"),
        ("load_block", "tl.load(pointer + offsets"),
        ("program_index", "tl.program_id(0)"),
        ("expm1", "libdevice.expm1(x)"),  # not in the table
        ("lod", "load"),  # a similar name
    ],
)
def test_a_missing_name_of_tl_names_what_exists(name: str, instead: str) -> None:
    text = told(f"tl.{name}(1)", tl=tl)
    assert text.startswith(f"tl.{name} does not exist; ") and instead in text


def test_other_objects_have_similar_names_only() -> None:
    assert "cdiv" in told("triton.ceil_div(3, 2)", triton=triton)
    assert told("triton.empty_like(1)", triton=triton, torch=torch).endswith(
        "write torch.empty_like(...)."
    )
    assert "reshape" in told("x.reshap(2)", x=torch.ones(2))
    assert told("x.zzzzzz", x=torch.ones(2)) == ""


def test_the_words_of_a_message_do_not_matter() -> None:
    forged = AttributeError("module 'triton.language' has no attribute 'tanh'")
    assert advice(forged, SOURCE, PATH, "run") == ""


def test_a_cause_that_the_compiler_hides_is_found() -> None:
    try:
        try:
            tl.tanh  # noqa: B018
        except AttributeError as error:
            raise RuntimeError(repr(error)) from None
    except RuntimeError as error:
        assert "tl.sigmoid" in advice(error, SOURCE, PATH, "run")


def test_a_hostile_object_has_no_say() -> None:
    class Hostile:
        def __dir__(self) -> list[str]:
            raise SystemExit

    assert told("x.zzzzzz", x=Hostile()) == ""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"Here is the kernel:\n```python\n{SOURCE}```\n", "without Markdown fences (line 2)"),
        (f"I'll write it.\nHere:\n{SOURCE}", "lines 1 to 2, the text is not Python"),
        ("Sure, here it is:\nclass A:\n    pass\n", "line 1, the text is not Python"),
        (
            f"Here it is:\n\n{SOURCE}\nThis adds and it's fast.\nEnjoy!\n",
            "lines 1 to 2 and from line 8 on, the text is not Python",
        ),
        # What is before the definition is code that has an error, and no prose.
        ("def f(x):\n    return (1\n\ndef g(x):\n    return x\n", ""),
        ("x = f(1\n\ndef g(x):\n    return x\n", ""),
        (f"{SOURCE}This adds and it's fast.\n", "from line 5 on, the text is not Python"),
        (
            f" for accessing data.\n\n- A block is small.\n\n{SOURCE}",
            "lines 1 to 4, the text is not",
        ),
        (f"\n {SOURCE}", "Line 2 is indented: remove the spaces before its code."),
        ("    import torch\n    x = 1\n", "Every line is indented"),
        ("def f(x):\n  return x\n    y = 1\n", ""),
        ("def f(x:\n    return x\n", ""),
    ],
)
def test_text_around_code_is_told(text: str, says: str) -> None:
    try:
        compile(text, PATH, "exec")
    except SyntaxError as error:
        found = advice(error, text, PATH, "import")
    assert says in found if says else found == ""


def test_code_that_runs_at_import_is_to_be_removed() -> None:
    test = SOURCE + "f(1) / 0\n"
    assert told(test, "import") == "Line 5 runs at import: remove tests, examples and benchmarks."
    alone = "undefined(1)\n"
    assert told(alone, "import") == "The source defines no function: line 1 runs at import."
    assert told(test, "run") == ""
    assert told("BLOCK = 1\nSIZE = BLOCK / 0\n", "import") == ""  # a constant, not a test
    assert told("@undefined\ndef f(x): pass\n", "import") == ""


def test_a_tuner_of_a_host_function_is_explained() -> None:
    code = "@triton.autotune([triton.Config({'B': 1})], key=['n'])\ndef f(n): pass\n"
    assert told(code, "import", triton=triton) == (
        "@triton.autotune and @triton.heuristics stand directly above @triton.jit."
    )


def test_a_power_in_a_kernel_is_explained() -> None:
    value = tl.tensor.__new__(tl.tensor)
    found = told("getattr(x, '__pow__')", x=value)
    assert found.startswith(".__pow__ does not exist; write x * x for x**2")


def test_a_missing_import_is_named() -> None:
    assert told("tl.load(1)") == "Add `import triton.language as tl`."


def test_functions_of_kernels_in_host_code() -> None:
    assert "on the host use triton.cdiv" in told("tl.cdiv(5, 2)", tl=tl)
    assert "on the host use triton.cdiv" in told("tl.zeros((4,), tl.float32)", tl=tl)


def test_pointers_are_passed_as_tensors() -> None:
    code = "def launch(kernel, x):\n    kernel[(1,)](x.data_ptr(), 3)\nlaunch(k, x)\n"
    kernel = {(1,): lambda pointer, n: [][pointer]}
    found = told(code, k=kernel, x=SimpleNamespace(data_ptr=lambda: 8))
    assert found == "Pass x to the kernel, not x.data_ptr()."


def test_a_relative_import_and_a_slice_in_a_kernel() -> None:
    code = "from .utils import tanh, erf\n"
    assert told(code, "import", __name__="submission", __package__="") == (
        "A submission is one file: define tanh, erf in it."
    )
    failed = ValueError("unsupported")
    failed.node = ast.parse("x[1:] * 2").body[0]  # type: ignore[attr-defined]
    assert "cannot cut a block" in advice(failed, SOURCE, PATH, "compile")
    failed.node = ast.parse("x[:, None] * 2").body[0]  # type: ignore[attr-defined]
    assert advice(failed, SOURCE, PATH, "compile") == ""


def test_a_source_that_was_cut_off() -> None:
    whole = "import torch\n\ndef f(x):\n    return torch.relu(\n        x,\n    )\n"
    cut_off = whole[: whole.index("x,")]
    assert "ends within a statement" in told(cut_off, "import")
    assert told(whole.replace("relu(", "relu(("), "import").startswith("The source ends")
    assert told(whole.replace("return", "return return"), "import") == ""


def test_a_pointer_is_no_advice_if_no_code_has_run() -> None:
    code = "def f(x):\n    kernel[(1,)](x.data_ptr())\n"
    failed = TypeError("f() got an unexpected keyword argument 'n'")
    assert advice(failed, code, PATH, "record") == ""


def test_an_error_of_host_code_shows_the_arguments() -> None:
    x = {"name": "x", "kind": "tensor", "dtype": "float32", "shape": [4, 128]}
    eps = {"name": "eps", "kind": "scalar", "value": 0.5}
    case = CaseInput({"id": "small", "arguments": [x, eps], "outputs": 1}, ())
    header = {"kind": "assertion_error", "stage": "record"}
    shown = with_arguments(header, case)["advice"]
    assert shown == "Case small gives x = float32 [4, 128], eps = 0.5."
    advised = {**header, "advice": "Do that."}
    for unchanged in (
        advised,
        {**header, "kind": "name_error"},
        {**header, "stage": "import"},
    ):
        assert with_arguments(unchanged, case) == unchanged
    many = CaseInput({"id": "small", "arguments": [x] * 50, "outputs": 1}, ())
    long = with_arguments(header, many)["advice"]
    assert long.endswith(", ...") and len(long) < 300


def test_a_reduction_of_one_number_is_explained() -> None:
    for type_, found in ((tl.float32, True), (tl.block_type(tl.float32, [4]), False)):
        value = tl.tensor.__new__(tl.tensor)
        value.type = type_
        value.shape = type_.shape if type_.is_block() else ()
        code = "reduce(value, 7, None, _semantic=object())"
        text = told(code, "compile", reduce=tl.core.reduce, value=value)
        assert text.startswith("A reduction needs a block") == found
