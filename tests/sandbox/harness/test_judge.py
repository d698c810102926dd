"""Tests the judge over a real socket, with small operators that the tests create: preparing,
comparing, and defects of operators."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from harness.operator import Operator, OperatorError
from harness.wire.tensors import create_memfd, descriptor, pack
from judge_client import REFERENCE, SPEC, JudgeClient, prepared_inputs, right_answer, write_operator


def test_outputs_that_appear_without_kernels_are_not_the_submissions_work(
    judge: JudgeClient, operator: Path
) -> None:
    right = right_answer(judge.prepare(operator))
    other = [torch.randn_like(right[0]), right[1] + 1]
    assert judge.attribute(right, other) == {
        "type": "attributed",
        "job": "job_1",
        "case": "small",
        "ok": True,
        "reason": "",
    }
    same = judge.attribute(right, [other[0], right[1]])
    assert not same["ok"] and "bit for bit" in same["reason"]
    fewer = judge.attribute(right, [other[0]])
    assert not fewer["ok"] and "returns 1 outputs, not 2" in fewer["reason"]
    assert (
        judge.ask({"type": "attribute", "job": "job_1", "case": "small", "outputs": []}).type
        == "judge_error"
    )


def test_prepare_describes_the_case_and_seals_the_inputs(
    judge: JudgeClient, operator: Path
) -> None:
    frame = judge.prepare(operator)
    (case,) = frame.header["cases"]
    assert [argument["name"] for argument in case["arguments"]] == ["a", "x", "index"]
    assert case["arguments"][0] == {"name": "a", "kind": "scalar", "type": "float", "value": 2.0}
    assert case["arguments"][1]["shape"] == [4, 6] and case["arguments"][1]["strides"] == [1, 4]
    assert (case["structural"], case["inout"]) == (["index"], ["x"])
    assert case["outputs"][0] == {
        "name": "x_after",
        "dtype": "float32",
        "shape": [4, 6],
        "nbytes": 96,
        "from": "x",
    }
    assert case["outputs"][1]["from"] is None
    assert case["cost"] == {"bytes": 224.0, "flops": 24.0} and int(case["seed"], 16) > 0
    with pytest.raises(PermissionError):
        os.pwrite(frame.fds[0], b"x", 0)
    with pytest.raises(PermissionError):
        os.ftruncate(frame.fds[0], 0)
    frame.close()


def test_a_scalar_that_json_has_no_number_for_is_a_text(judge: JudgeClient, tmp_path: Path) -> None:
    for value in ("inf", "-inf", "nan"):
        text = REFERENCE.replace('"a": 2.0', f'"a": float("{value}")')
        frame = judge.prepare(write_operator(tmp_path / value, reference=text), f"job_{value}")
        assert frame.type == "prepared", frame.header
        assert frame.header["cases"][0]["arguments"][0] == {
            "name": "a",
            "kind": "scalar",
            "type": "float",
            "value": value,
        }
        frame.close()


def test_an_answer_that_cannot_be_sent_is_an_error_and_the_judge_goes_on(
    judge: JudgeClient, operator: Path, tmp_path: Path
) -> None:
    text = REFERENCE.replace("flops=2 * rows", 'flops=float("inf") * rows')
    broken = write_operator(tmp_path / "broken", reference=text)
    answer = judge.prepare(broken, "job_broken")
    assert (answer.type, answer.header["reason"]) == ("judge_error", "defect")
    judge.prepare(operator).close()


def test_every_job_has_its_own_seed(judge: JudgeClient, operator: Path) -> None:
    first, second = judge.prepare(operator, "job_a"), judge.prepare(operator, "job_b")
    assert first.header["cases"][0]["seed"] != second.header["cases"][0]["seed"]
    assert not torch.equal(prepared_inputs(first)["x"], prepared_inputs(second)["x"])
    first.close()
    second.close()


def test_right_outputs_pass_strictly_in_any_layout(judge: JudgeClient, operator: Path) -> None:
    frame = judge.prepare(operator)
    right = right_answer(frame)
    for outputs in (right, [right[0].contiguous(), right[1]]):
        result = judge.compare(outputs)
        assert (
            result["ok"]
            and result["kind"] == "none"
            and result["strict_pass"] is True
            and result["max_abs_error"] == 0.0
        )
        assert (
            result["elements"] == 28
            and result["mismatches"] == 0
            and result["first_mismatch"] is None
        )
    frame.close()


def test_wrong_values_are_counted_and_shown(judge: JudgeClient, operator: Path) -> None:
    frame = judge.prepare(operator)
    right = right_answer(frame)
    wrong = [right[0].clone(), right[1].clone()]
    wrong[0][1, 2] += 0.002  # multiplied by the scale of 10, this error is above the tolerance
    result = judge.compare(wrong)
    assert (result["kind"], result["mismatches"]) == ("wrong_result", 1)
    assert result["max_abs_error"] == pytest.approx(0.02, rel=1e-3)
    assert result["first_mismatch"]["output"] == "x_after" and result["first_mismatch"][
        "index"
    ] == [1, 2]
    found = result["wrong"][0]
    assert (found["output"], found["elements"], found["all"]["count"]) == ("x_after", 24, 1)
    assert result["reason"] == ""  # the supervisor makes the sentence
    result = judge.compare([torch.zeros(4, 6), right[1]])
    assert result["wrong"][0]["constant"] == 0.0
    wrong = [right[0], right[1].clone()]
    wrong[1][3] += 1
    result = judge.compare(wrong)
    assert result["kind"] == "wrong_result" and result["first_mismatch"]["index"] == [3]
    frame.close()


def test_less_precise_than_the_reference_passes_but_not_strictly(
    judge: JudgeClient, operator: Path
) -> None:
    frame = judge.prepare(operator)
    right = right_answer(frame)
    result = judge.compare([right[0] + 5e-5, right[1]])
    assert (
        result["ok"]
        and result["strict_pass"] is False
        and result["float64_error"] == pytest.approx(5e-4, rel=0.1)
    )
    frame.close()


def test_nan_and_infinity_are_right_only_where_the_reference_has_them(
    judge: JudgeClient, operator: Path
) -> None:
    frame = judge.prepare(operator, case={"distribution": "holes"})
    right = right_answer(frame)
    assert judge.compare(right)["ok"]
    for at, value, shown in (
        ((3, 3), float("nan"), "nan"),
        ((0, 0), 0.0, 0.0),
        ((0, 1), -float("inf"), "-inf"),
        ((1, 0), 1e30, 1e30),
    ):
        wrong = right[0].clone()
        wrong[at] = value
        result = judge.compare([wrong, right[1]])
        assert not result["ok"] and result["first_mismatch"]["index"] == list(at)
        assert result["first_mismatch"]["actual"] == (
            shown if isinstance(shown, str) else pytest.approx(shown)
        )
        assert result["max_abs_error"] == "inf"
    frame.close()


OPEN = """
def open_elements(a, x, index):
    mask = torch.zeros(x.shape, dtype=torch.bool)
    mask[:, 1] = True
    return mask, torch.zeros(index.shape, dtype=torch.bool)
"""


def test_open_elements_are_not_compared(judge: JudgeClient, tmp_path: Path) -> None:
    folder = write_operator(tmp_path / "axpy", "imported = true" + SPEC, REFERENCE + OPEN)
    right = right_answer(judge.prepare(folder))
    answer = [right[0].clone(), right[1]]
    answer[0][:, 1] = float("nan")
    result = judge.compare(answer)
    assert (result["ok"], result["strict_pass"], result["elements"], result["max_abs_error"]) == (
        True,
        True,
        4 * 6 + 4 - 4,
        0.0,
    )
    assert result["float64_error"] < 1e-5
    answer[0][2, 0] += 1
    result = judge.compare(answer)
    assert (result["ok"], result["mismatches"], result["first_mismatch"]["index"]) == (
        False,
        1,
        [2, 0],
    )
    assert "NaN" not in result["reason"]
    half = [torch.randn_like(right[0]), right[1] + 1]
    half[0][:, 1] = right[0][:, 1]
    assert judge.attribute(right, half)["ok"]


@pytest.mark.parametrize(
    ("spec", "hook", "reason", "words"),
    [
        (SPEC, OPEN, "defect", "is for imported operators"),
        (
            "imported = true" + SPEC,
            "def open_elements(a, x, index):\n    return torch.zeros(x.shape, dtype=torch.bool),\n",
            "defect",
            "one bool mask",
        ),
        (
            "imported = true" + SPEC,
            "def open_elements(a, x, index):\n    return [torch.ones(y.shape, dtype=torch.bool) for y in (x, index)]\n",
            "reference",
            "no answer to this case can be judged",
        ),
    ],
)
def test_wrong_open_elements_are_errors_of_the_operator(
    judge: JudgeClient, tmp_path: Path, spec: str, hook: str, reason: str, words: str
) -> None:
    right = right_answer(judge.prepare(write_operator(tmp_path / "axpy", spec, REFERENCE + hook)))
    refused = judge.compare(right)
    assert refused["type"] == "judge_error" and words in refused["message"], refused
    assert refused["reason"] == reason


OUTPUT_AXES = """
def output_axes(case, arguments):
    return {"count": int(arguments["index"].max()) - 1}
"""


def test_shapes_that_depend_on_values_are_those_of_this_seed(
    judge: JudgeClient, tmp_path: Path
) -> None:
    reference = REFERENCE.replace("index + 1", "index[:2] + 1") + OUTPUT_AXES
    spec = SPEC.replace(
        'name = "count"\ndtype = "int32"\nshape = ["rows"]',
        'name = "count"\ndtype = "int32"\nshape = ["count"]',
    )
    axes = {"axes": {"rows": 4, "cols": 3, "count": 1}}
    frame = judge.prepare(
        write_operator(tmp_path / "axpy", "imported = true" + spec, reference), case=axes
    )
    assert frame.header["cases"][0]["outputs"][1]["shape"] == [2]
    right = right_answer(frame)
    assert judge.compare([right[0], right[1][:2]])["ok"]
    assert "want int32 [2]" in judge.compare([right[0], right[1][:1]])["reason"]
    refused = judge.prepare(write_operator(tmp_path / "native", spec, reference), case=axes)
    assert "is for imported operators" in refused.header["message"]
    unknown = judge.prepare(
        write_operator(tmp_path / "unknown", "imported = true" + SPEC, reference)
    )
    assert "count, which is not an axis" in unknown.header["message"]


def test_a_case_with_only_open_or_unchanged_elements_is_an_error() -> None:
    output = {"name": "x_after", "dtype": "float32", "shape": ["n"], "from": "x"}
    spec = {
        "imported": True,
        "arguments": [{"name": "x", "type": "tensor", "dtype": "float32", "role": "inout"}],
        "outputs": [output],
    }
    x, mask = torch.zeros(3), torch.tensor([False, True, False])
    module = types.SimpleNamespace(open_elements=lambda x: [mask])
    operator = Operator(Path("x"), spec, module)  # type: ignore[arg-type]
    with pytest.raises(OperatorError, match="unchanged from the input"):
        operator.open_elements([torch.tensor([0.0, 5.0, 0.0])], {"x": x})
    assert operator.open_elements([torch.tensor([0.0, 5.0, 1.0])], {"x": x})[0] is mask


@pytest.mark.parametrize(
    ("dtype", "spec", "ok"),
    [
        ("bfloat16", "imported = true", True),
        ("bfloat16", "", False),
        ("float32", "imported = true", False),
    ],
)
def test_a_float_of_two_bytes_may_be_off_by_its_last_place(
    judge: JudgeClient, tmp_path: Path, dtype: str, spec: str, ok: bool
) -> None:
    reference = REFERENCE.replace("a * x, index", "torch.full_like(x, -2.453125), index")
    frame = judge.prepare(
        write_operator(
            tmp_path / "axpy", spec + SPEC.replace("scale = 10", "scale = 1"), reference
        ),
        case={"dtype": dtype},
    )
    right = torch.full((4, 6), -2.453125, dtype=getattr(torch, dtype))
    count = prepared_inputs(frame)["index"] + 1
    near, far = right.clone(), right.clone()
    near[1, 1], far[1, 1] = -2.4375, -2.421875
    assert judge.compare([near, count])["ok"] is ok
    assert not judge.compare([far, count])["ok"]


@pytest.mark.parametrize(
    "change",
    ["dtype", "shape", "count", "outside", "offset", "strides", "nonsense", "endless", "long"],
)
def test_malformed_outputs_are_a_mismatch(judge: JudgeClient, operator: Path, change: str) -> None:
    frame = judge.prepare(operator)
    right = right_answer(frame)
    if change == "dtype":
        result = judge.compare([right[0].double(), right[1]])
    elif change == "shape":
        result = judge.compare([right[0].t(), right[1]])
    elif change == "count":
        result = judge.compare(right[:1])
    else:
        wires, size = pack([("a", right[0]), ("b", right[1])])
        wires[0] |= {
            "outside": {"offset": 1 << 20},
            "offset": {"offset": 2},
            "strides": {"strides": [1 << 30, 1]},
            "nonsense": {"shape": "x"},
            "endless": {"shape": [1 << 39] * 8, "strides": [0] * 8},
            "long": {"dtype": "\x7f" * 600_000},
        }[change]
        fd = create_memfd("outputs", size)
        result = judge.ask(
            {"type": "compare", "job": "job_1", "case": "small", "outputs": wires}, [fd]
        ).header
        os.close(fd)
    assert (
        result["type"] == "compared"
        and result["kind"] == "output_mismatch"
        and 0 < len(result["reason"]) < 10_000
    )
    frame.close()


def test_defects_of_the_operator_are_judge_errors_and_the_judge_lives(
    judge: JudgeClient, tmp_path: Path
) -> None:
    def message(header: dict[str, Any]) -> str:
        assert header["type"] == "judge_error", header
        return str(header["message"])

    assert "no_such" in message(judge.prepare(tmp_path / "no_such").header)
    bad = write_operator(tmp_path / "a", spec=SPEC.replace('role = "inout"', 'role = "both"'))
    assert "input, inout, structural" in message(judge.prepare(bad).header)
    bad = write_operator(tmp_path / "b", reference=REFERENCE.replace('{"a": 2.0', '{"b": 2.0'))
    assert "inputs() returned" in message(judge.prepare(bad).header)
    bad = write_operator(
        tmp_path / "c", reference=REFERENCE.replace("case.dtype).t()", "torch.float16).t()")
    )
    assert "the spec says float32" in message(judge.prepare(bad).header)
    bad = write_operator(
        tmp_path / "d", reference=REFERENCE.replace("return a * x", "return (a * x)[1:]")
    )
    frame = judge.prepare(bad)
    assert "the spec says float32 [4, 6]" in message(judge.compare(right_answer(frame)))
    frame.close()
    bad = write_operator(tmp_path / "e", reference="1/0")
    assert "ZeroDivisionError" in message(judge.prepare(bad).header)
    assert "no prepared case" in message(
        judge.ask({"type": "time_reference", "job": "nobody", "case": "x", "max_ms": 100}).header
    )
    assert "unknown request" in message(judge.ask({"type": "dance", "job": "j"}).header)
    assert "cols" in message(
        judge.prepare(write_operator(tmp_path / "f"), case={"axes": {"rows": 3}}).header
    )
    assert judge.prepare(write_operator(tmp_path / "g")).type == "prepared"


def test_the_descriptor_of_a_view_spans_its_storage() -> None:
    base = torch.arange(24.0).reshape(4, 6)
    wire = descriptor("v", base[1:3, ::2], 0)
    assert (wire["shape"], wire["strides"], wire["nbytes"]) == ([2, 3], [6, 2], 4 * (6 + 4 + 1))
