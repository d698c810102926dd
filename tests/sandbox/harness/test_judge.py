"""The judge over a real socket, on small operators made here: preparing, comparing, timing, and its own defects."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from conftest import MAIN
from harness import judge as judge_module
from harness.frames import Channel, Frame
from harness.operator import Operator, OperatorError
from harness.tensors import MappedFile, create_memfd, descriptor, pack, span_view

SPEC = """
name = "axpy"
entry = "axpy"
signature = "axpy(a: float, x: Tensor, index: Tensor) -> tuple[Tensor, Tensor]"
[[arguments]]
name = "a"
type = "float"
[[arguments]]
name = "x"
type = "tensor"
dtype = "case"
shape = ["rows", "2*cols"]
role = "inout"
[[arguments]]
name = "index"
type = "tensor"
dtype = "int32"
shape = ["rows"]
role = "structural"
[[outputs]]
name = "x_after"
dtype = "case"
shape = ["rows", "2*cols"]
max_abs_error = 0.01
scale = 10
from = "x"
[[outputs]]
name = "count"
dtype = "int32"
shape = ["rows"]
max_abs_error = 0
"""
REFERENCE = """
import torch
from harness.operator import Case, Cost, Rng

def inputs(case, rng):
    rows, cols = case.axes["rows"], case.axes["cols"]
    x = rng.normal((2 * cols, rows), case.dtype).t()
    if case.distribution == "holes":
        x[0, 0], x[0, 1], x[1, 0] = float("nan"), float("inf"), -float("inf")
    return {"a": 2.0, "x": x, "index": rng.permutation(rows).to(torch.int32)}

def reference(a, x, index):
    return a * x, index + 1

def cost(case):
    rows, cols = case.axes["rows"], case.axes["cols"]
    return Cost(bytes=2 * rows * 2 * cols * case.dtype.itemsize + 8 * rows, flops=2 * rows * cols)
"""
ORACLE = "import torch\n\n\ndef axpy(a, x, index):\n    x.mul_(a)\n    return index + 1\n"


def write_operator(folder: Path, spec: str = SPEC, reference: str = REFERENCE, oracle: str = ORACLE) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "spec.toml").write_text(spec)
    (folder / "reference.py").write_text(reference)
    (folder / "oracle.py").write_text(oracle)
    return folder


class JudgeClient:
    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        command = [sys.executable, str(MAIN), "judge", "--socket-fd", str(theirs.fileno()), "--device", "cpu"]
        self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stderr=subprocess.DEVNULL)
        theirs.close()
        self.channel = Channel(ours)
        ready = self.channel.receive()
        assert ready is not None and ready.type == "ready"
        self.ready = ready.header

    def ask(self, header: dict[str, Any], fds: list[int] | None = None) -> Frame:
        self.channel.send(header, fds=fds or [])
        reply = self.channel.receive()
        assert reply is not None
        return reply

    def prepare(self, folder: Path, job: str = "job_1", **changes: Any) -> Frame:
        case = {"id": "small", "axes": {"rows": 4, "cols": 3}, "dtype": "float32", "distribution": "normal", **changes.pop("case", {})}
        return self.ask({"type": "prepare", "job": job, "operator_dir": str(folder), "device": "cpu", "cases": [case], **changes})

    def compare(self, outputs: list[torch.Tensor], job: str = "job_1") -> dict[str, Any]:
        wires, fd = file_of(outputs)
        header = self.ask({"type": "compare", "job": job, "case": "small", "outputs": wires}, [fd]).header
        os.close(fd)
        return header

    def attribute(self, outputs: list[torch.Tensor], without: list[torch.Tensor]) -> dict[str, Any]:
        (wires, fd), (others, other_fd) = file_of(outputs), file_of(without)
        request = {"type": "attribute", "job": "job_1", "case": "small", "outputs": wires, "without": others}
        header = self.ask(request, [fd, other_fd]).header
        os.close(fd)
        os.close(other_fd)
        return header


def file_of(outputs: list[torch.Tensor]) -> tuple[list[dict[str, Any]], int]:
    """Descriptors of the outputs, and the memfd that holds them."""
    wires, size = pack([(f"o{i}", tensor) for i, tensor in enumerate(outputs)])
    fd = create_memfd("outputs", size)
    for tensor, wire in zip(outputs, wires, strict=True):
        os.pwrite(fd, span_view(tensor).numpy().tobytes(), wire["offset"])
    return wires, fd


@pytest.fixture(scope="module")
def judge() -> Iterator[JudgeClient]:
    client = JudgeClient()
    yield client
    client.channel.close()
    assert client.process.wait(timeout=20) == 0


@pytest.fixture
def operator(tmp_path: Path) -> Path:
    return write_operator(tmp_path / "axpy")


def prepared_inputs(frame: Frame) -> dict[str, torch.Tensor]:
    (case,) = frame.header["cases"]
    with MappedFile(frame.fds[case["input_fd"]], writable=False) as memory:
        return {wire["name"]: memory.tensor(wire).clone() for wire in case["arguments"] if wire.get("fd") == case["input_fd"]}


def right_answer(frame: Frame) -> list[torch.Tensor]:
    inputs = prepared_inputs(frame)
    return [2.0 * inputs["x"], inputs["index"] + 1]


def test_outputs_that_are_there_without_kernels_are_nobodys_work(judge: JudgeClient, operator: Path) -> None:
    right = right_answer(judge.prepare(operator))
    other = [torch.randn_like(right[0]), right[1] + 1]
    assert judge.attribute(right, other) == {"type": "attributed", "job": "job_1", "case": "small", "ok": True, "reason": ""}
    same = judge.attribute(right, [other[0], right[1]])
    assert not same["ok"] and "bit for bit" in same["reason"]
    assert judge.attribute(right, [other[0]])["ok"]  # it returned something else altogether
    assert judge.ask({"type": "attribute", "job": "job_1", "case": "small", "outputs": []}).type == "judge_error"


def test_prepare_describes_the_case_and_seals_the_inputs(judge: JudgeClient, operator: Path) -> None:
    frame = judge.prepare(operator)
    (case,) = frame.header["cases"]
    assert [argument["name"] for argument in case["arguments"]] == ["a", "x", "index"]
    assert case["arguments"][0] == {"name": "a", "kind": "scalar", "type": "float", "value": 2.0}
    assert case["arguments"][1]["shape"] == [4, 6] and case["arguments"][1]["strides"] == [1, 4]
    assert (case["structural"], case["inout"]) == (["index"], ["x"])
    assert case["outputs"][0] == {"name": "x_after", "dtype": "float32", "shape": [4, 6], "nbytes": 96, "from": "x"}
    assert case["outputs"][1]["from"] is None
    assert case["cost"] == {"bytes": 224.0, "flops": 24.0} and int(case["seed"], 16) > 0
    with pytest.raises(PermissionError):
        os.pwrite(frame.fds[0], b"x", 0)
    with pytest.raises(PermissionError):
        os.ftruncate(frame.fds[0], 0)
    frame.close()


def test_every_job_has_its_own_seed(judge: JudgeClient, operator: Path) -> None:
    first, second = judge.prepare(operator, "job_a"), judge.prepare(operator, "job_b")
    assert first.header["cases"][0]["seed"] != second.header["cases"][0]["seed"]
    assert not torch.equal(prepared_inputs(first)["x"], prepared_inputs(second)["x"])
    first.close()
    second.close()


def test_structural_only_sends_only_structural_bytes(judge: JudgeClient, operator: Path) -> None:
    frame = judge.prepare(operator, structural_only=True)
    assert list(prepared_inputs(frame)) == ["index"]
    assert "fd" not in frame.header["cases"][0]["arguments"][1]
    frame.close()


def test_right_outputs_pass_strictly_in_any_layout(judge: JudgeClient, operator: Path) -> None:
    frame = judge.prepare(operator)
    right = right_answer(frame)
    for outputs in (right, [right[0].contiguous(), right[1]]):
        result = judge.compare(outputs)
        assert result["ok"] and result["kind"] == "none" and result["strict_pass"] is True and result["max_abs_error"] == 0.0
        assert result["elements"] == 28 and result["mismatches"] == 0 and result["first_mismatch"] is None
    frame.close()


def test_wrong_values_are_counted_and_shown(judge: JudgeClient, operator: Path) -> None:
    frame = judge.prepare(operator)
    right = right_answer(frame)
    wrong = [right[0].clone(), right[1].clone()]
    wrong[0][1, 2] += 0.002  # times the scale of 10 it is over the tolerance
    result = judge.compare(wrong)
    assert (result["kind"], result["mismatches"]) == ("wrong_result", 1)
    assert result["max_abs_error"] == pytest.approx(0.02, rel=1e-3)
    assert result["first_mismatch"]["output"] == "x_after" and result["first_mismatch"]["index"] == [1, 2]
    assert "x_after: 1 of 24 elements" in result["reason"]
    result = judge.compare([torch.zeros(4, 6), right[1]])
    assert "every element is 0" in result["reason"]
    wrong = [right[0], right[1].clone()]
    wrong[1][3] += 1
    result = judge.compare(wrong)
    assert result["kind"] == "wrong_result" and result["first_mismatch"]["index"] == [3]
    frame.close()


def test_less_precise_than_the_reference_passes_but_not_strictly(judge: JudgeClient, operator: Path) -> None:
    frame = judge.prepare(operator)
    right = right_answer(frame)
    result = judge.compare([right[0] + 5e-5, right[1]])
    assert result["ok"] and result["strict_pass"] is False and result["float64_error"] == pytest.approx(5e-4, rel=0.1)
    frame.close()


def test_nan_and_infinity_are_right_only_where_the_reference_has_them(judge: JudgeClient, operator: Path) -> None:
    frame = judge.prepare(operator, case={"distribution": "holes"})
    right = right_answer(frame)
    assert judge.compare(right)["ok"]
    for at, value, shown in (((3, 3), float("nan"), "nan"), ((0, 0), 0.0, 0.0), ((0, 1), -float("inf"), "-inf"), ((1, 0), 1e30, 1e30)):
        wrong = right[0].clone()
        wrong[at] = value
        result = judge.compare([wrong, right[1]])
        assert not result["ok"] and result["first_mismatch"]["index"] == list(at)
        assert result["first_mismatch"]["actual"] == (shown if isinstance(shown, str) else pytest.approx(shown))
        assert result["max_abs_error"] == "inf"
    frame.close()


OPEN = """
def open_elements(a, x, index):
    mask = torch.zeros(x.shape, dtype=torch.bool)
    mask[:, 1] = True
    return mask, torch.zeros(index.shape, dtype=torch.bool)
"""


def test_open_elements_count_for_nothing(judge: JudgeClient, tmp_path: Path) -> None:
    folder = write_operator(tmp_path / "axpy", "imported = true" + SPEC, REFERENCE + OPEN)
    right = right_answer(judge.prepare(folder))
    answer = [right[0].clone(), right[1]]
    answer[0][:, 1] = float("nan")
    result = judge.compare(answer)
    assert (result["ok"], result["strict_pass"], result["elements"], result["max_abs_error"]) == (True, True, 4 * 6 + 4 - 4, 0.0)
    assert result["float64_error"] < 1e-5
    answer[0][2, 0] += 1
    result = judge.compare(answer)
    assert (result["ok"], result["mismatches"], result["first_mismatch"]["index"]) == (False, 1, [2, 0])
    assert "NaN" not in result["reason"]
    half = [torch.randn_like(right[0]), right[1] + 1]
    half[0][:, 1] = right[0][:, 1]
    assert judge.attribute(right, half)["ok"]


@pytest.mark.parametrize(
    ("spec", "hook", "words"),
    [
        (SPEC, OPEN, "is for imported operators"),
        (
            "imported = true" + SPEC,
            "def open_elements(a, x, index):\n    return torch.zeros(x.shape, dtype=torch.bool),\n",
            "a mask of bool",
        ),
        (
            "imported = true" + SPEC,
            "def open_elements(a, x, index):\n    return [torch.ones(y.shape, dtype=torch.bool) for y in (x, index)]\n",
            "no answer to this case can be judged",
        ),
    ],
)
def test_open_elements_excuse_no_operator(judge: JudgeClient, tmp_path: Path, spec: str, hook: str, words: str) -> None:
    right = right_answer(judge.prepare(write_operator(tmp_path / "axpy", spec, REFERENCE + hook)))
    refused = judge.compare(right)
    assert refused["type"] == "judge_error" and words in refused["message"], refused


OUTPUT_AXES = """
def output_axes(case, arguments):
    return {"count": int(arguments["index"].max()) - 1}
"""


def test_shapes_that_depend_on_values_are_those_of_this_seed(judge: JudgeClient, tmp_path: Path) -> None:
    reference = REFERENCE.replace("index + 1", "index[:2] + 1") + OUTPUT_AXES
    spec = SPEC.replace('name = "count"\ndtype = "int32"\nshape = ["rows"]', 'name = "count"\ndtype = "int32"\nshape = ["count"]')
    axes = {"axes": {"rows": 4, "cols": 3, "count": 1}}
    frame = judge.prepare(write_operator(tmp_path / "axpy", "imported = true" + spec, reference), case=axes)
    assert frame.header["cases"][0]["outputs"][1]["shape"] == [2]
    right = right_answer(frame)
    assert judge.compare([right[0], right[1][:2]])["ok"]
    assert "want int32 [2]" in judge.compare([right[0], right[1][:1]])["reason"]
    refused = judge.prepare(write_operator(tmp_path / "native", spec, reference), case=axes)
    assert "is for imported operators" in refused.header["message"]
    unknown = judge.prepare(write_operator(tmp_path / "unknown", "imported = true" + SPEC, reference))
    assert "count, which is no axis" in unknown.header["message"]


def test_what_is_open_or_as_it_was_given_tells_nothing() -> None:
    output = {"name": "x_after", "dtype": "float32", "shape": ["n"], "from": "x"}
    spec = {"imported": True, "arguments": [{"name": "x", "type": "tensor", "dtype": "float32", "role": "inout"}], "outputs": [output]}
    x, mask = torch.zeros(3), torch.tensor([False, True, False])
    module = types.SimpleNamespace(open_elements=lambda x: [mask])
    operator = Operator(Path("x"), spec, module)  # type: ignore[arg-type]
    with pytest.raises(OperatorError, match="as it was given"):
        operator.open_elements([torch.tensor([0.0, 5.0, 0.0])], {"x": x})
    assert operator.open_elements([torch.tensor([0.0, 5.0, 1.0])], {"x": x})[0] is mask


@pytest.mark.parametrize(
    ("dtype", "spec", "ok"), [("bfloat16", "imported = true", True), ("bfloat16", "", False), ("float32", "imported = true", False)]
)
def test_a_float_of_two_bytes_may_be_off_by_its_last_place(judge: JudgeClient, tmp_path: Path, dtype: str, spec: str, ok: bool) -> None:
    reference = REFERENCE.replace("a * x, index", "torch.full_like(x, -2.453125), index")
    frame = judge.prepare(
        write_operator(tmp_path / "axpy", spec + SPEC.replace("scale = 10", "scale = 1"), reference), case={"dtype": dtype}
    )
    right = torch.full((4, 6), -2.453125, dtype=getattr(torch, dtype))
    count = prepared_inputs(frame)["index"] + 1
    near, far = right.clone(), right.clone()
    near[1, 1], far[1, 1] = -2.4375, -2.421875
    assert judge.compare([near, count])["ok"] is ok
    assert not judge.compare([far, count])["ok"]


@pytest.mark.parametrize("change", ["dtype", "shape", "count", "outside", "offset", "strides", "nonsense", "endless", "long"])
def test_outputs_that_are_none_are_a_mismatch(judge: JudgeClient, operator: Path, change: str) -> None:
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
        result = judge.ask({"type": "compare", "job": "job_1", "case": "small", "outputs": wires}, [fd]).header
        os.close(fd)
    assert result["type"] == "compared" and result["kind"] == "output_mismatch" and 0 < len(result["reason"]) < 10_000
    frame.close()


def test_defects_of_the_operator_are_judge_errors_and_the_judge_lives(judge: JudgeClient, tmp_path: Path) -> None:
    def message(header: dict[str, Any]) -> str:
        assert header["type"] == "judge_error", header
        return str(header["message"])

    assert "no_such" in message(judge.prepare(tmp_path / "no_such").header)
    bad = write_operator(tmp_path / "a", spec=SPEC.replace('role = "inout"', 'role = "both"'))
    assert "input, inout, structural" in message(judge.prepare(bad).header)
    bad = write_operator(tmp_path / "b", reference=REFERENCE.replace('{"a": 2.0', '{"b": 2.0'))
    assert "inputs() returned" in message(judge.prepare(bad).header)
    bad = write_operator(tmp_path / "c", reference=REFERENCE.replace("case.dtype).t()", "torch.float16).t()"))
    assert "the spec says float32" in message(judge.prepare(bad).header)
    bad = write_operator(tmp_path / "d", reference=REFERENCE.replace("return a * x", "return (a * x)[1:]"))
    frame = judge.prepare(bad)
    assert "the spec says float32 [4, 6]" in message(judge.compare(right_answer(frame)))
    frame.close()
    bad = write_operator(tmp_path / "e", reference="1/0")
    assert "ZeroDivisionError" in message(judge.prepare(bad).header)
    assert "no prepared case" in message(judge.ask({"type": "time_reference", "job": "nobody", "case": "x"}).header)
    assert "unknown request" in message(judge.ask({"type": "dance", "job": "j"}).header)
    assert "cols" in message(judge.prepare(write_operator(tmp_path / "f"), case={"axes": {"rows": 3}}).header)
    assert judge.prepare(write_operator(tmp_path / "g")).type == "prepared"


def test_a_lost_context_is_told_apart_from_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def lost(device: str) -> object:
        ours, theirs = socket.socketpair()
        judge = judge_module.Judge("cpu")
        judge.device = torch.device(device)
        judge.answer(Channel(theirs), Frame({"type": "prepare", "job": "j", "operator_dir": str(tmp_path / "none"), "cases": []}))
        reply = Channel(ours).receive()
        assert reply is not None and reply.type == "judge_error"
        return reply.header["lost"]

    monkeypatch.setattr(torch.cuda, "synchronize", lambda _: None)
    assert lost("cuda:0") is False

    def gone(_: torch.device) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(torch.cuda, "synchronize", gone)
    assert lost("cuda:0") is True
    assert lost("cpu") is False


def test_time_and_release(judge: JudgeClient, operator: Path) -> None:
    judge.prepare(operator).close()
    timed = judge.ask({"type": "time_reference", "job": "job_1", "case": "small"}).header
    assert timed["type"] == "timed_reference" and timed["median_ns"] > 0
    judge.channel.send({"type": "release", "job": "job_1"})
    assert judge.ask({"type": "time_reference", "job": "job_1", "case": "small"}).type == "judge_error"


def test_a_judge_says_when_it_is_done(judge: JudgeClient, operator: Path) -> None:
    judge.prepare(operator).close()
    assert judge.ask({"type": "settle", "job": "job_1"}).header == {"type": "settled", "job": "job_1"}


@pytest.mark.parametrize(("unused", "given_back"), [(32, 0), (33, 1)])
def test_freed_memory_that_others_may_need_is_given_back(
    monkeypatch: pytest.MonkeyPatch, operator: Path, unused: int, given_back: int
) -> None:
    """Of 1,024 bytes in all."""
    calls = []
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 500 + unused)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda device: 500)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda device: types.SimpleNamespace(total_memory=1024))
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: calls.append("empty"))
    judge = judge_module.Judge("cpu")
    judge.device = torch.device("cuda", 0)
    case = {"id": "small", "axes": {"rows": 4, "cols": 3}, "dtype": "float32", "distribution": "normal"}
    header = {"type": "prepare", "job": "job_1", "operator_dir": str(operator), "device": "cpu", "structural_only": True, "cases": [case]}
    _, fds = judge._prepare(Frame(header))
    for fd in fds:
        os.close(fd)
    assert len(calls) == given_back


def test_references_are_computed_ahead_but_not_while_somebody_is_timed(judge: JudgeClient, tmp_path: Path) -> None:
    done = tmp_path / "done"
    body = f"    import time\n    time.sleep(0.2)\n    open({str(done)!r}, 'a').write('x')\n    return a * x, index + 1"
    slow = write_operator(tmp_path / "slow", reference=REFERENCE.replace("    return a * x, index + 1", body))
    cases = [{"id": name, "axes": {"rows": 4, "cols": 3}, "dtype": "float32", "distribution": "normal"} for name in "abcdef"]

    def prepare(job: str, count: int) -> None:
        judge.ask({"type": "prepare", "job": job, "operator_dir": str(slow), "device": "cpu", "cases": cases[:count]}).close()

    def references() -> int:
        return done.stat().st_size if done.exists() else 0

    def comes_to(count: int) -> bool:
        end = time.monotonic() + 30
        while references() < count and time.monotonic() < end:
            time.sleep(0.02)
        return references() == count

    prepare("first", 1)
    assert comes_to(references_of_one := 2)  # once more in float64
    prepare("second", len(cases))
    assert judge.ask({"type": "settle", "job": "timed"}).type == "settled"
    settled = references()
    assert settled < (1 + len(cases)) * references_of_one
    time.sleep(0.7)
    assert references() == settled
    prepare("third", 1)
    assert comes_to((2 + len(cases)) * references_of_one)
    prepare("fourth", len(cases))
    judge.channel.send({"type": "release", "job": "fourth"})  # nobody needs them any more
    judge.ask({"type": "settle", "job": "timed"})
    assert references() <= (3 + len(cases)) * references_of_one
    for job in ("first", "second", "third"):
        judge.channel.send({"type": "release", "job": job})


def lint(judge: JudgeClient, folder: Path, **case: Any) -> dict[str, tuple[bool, str]]:
    wire = {"id": "c", "axes": {"rows": 40, "cols": 9}, "dtype": "float32", "distribution": "normal", **case}
    reply = judge.ask({"type": "lint", "operator_dir": str(folder), "device": "cpu", "cases": [wire], "seed": 1}).header
    assert reply["type"] == "linted", reply
    return {check["check"]: (check["ok"], check["detail"]) for check in reply["checks"]}


def test_lint_of_a_good_operator(judge: JudgeClient, operator: Path) -> None:
    checks = lint(judge, operator)
    assert all(ok for ok, _ in checks.values()), [(name, detail) for name, (ok, detail) in checks.items() if not ok]
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


@pytest.mark.parametrize(
    ("file", "old", "new", "failing"),
    [
        ("spec", "scale = 10", "scale = 0.0001", "rejects zeros (x_after)"),
        ("spec", "scale = 10", "scale = 0.1", "rejects inputs down-cast to bfloat16"),
        ("spec", "axpy(a: float,", "axpy(b: float,", "signatures agree"),
        ("reference", "a * x, index", "a * x + torch.rand(1), index", "reference is deterministic"),
        ("reference", "return a * x", "x.mul_(a); return x.clone()", "reference leaves its arguments alone"),
        ("reference", "bytes=2 * rows", "bytes=3 * rows", "cost is the tensors' bytes"),
        ("reference", "return a * x, index + 1", "return x.clone(), index + 1", "rejects input x (x_after)"),
        ("reference", "return a * x, index", "return (a * x.float()).to(x.dtype) * 0 + 1, index", "rejects ones (x_after)"),
        (
            "reference",
            "rng.normal((2 * cols, rows), case.dtype).t()",
            "torch.randn(2 * cols, rows).t()",
            "inputs are reproducible from the seed",
        ),
        ("reference", "return a * x", "assert x.dtype == torch.float32; return a * x", "reference works in float64"),
        ("reference", "return a * x, index + 1", "raise KeyError('k')", "runs"),
        ("oracle", "import torch", "import torch, os", "oracle imports only torch and triton"),
        ("oracle", "axpy(a, x", "axpy(alpha, x", "signatures agree"),
        ("oracle", "def axpy", "def other", "signatures agree"),
    ],
)
def test_lint_finds(judge: JudgeClient, tmp_path: Path, file: str, old: str, new: str, failing: str) -> None:
    texts = {"spec": SPEC, "reference": REFERENCE, "oracle": ORACLE}
    assert old in texts[file]
    texts[file] = texts[file].replace(old, new)
    checks = lint(judge, write_operator(tmp_path / "axpy", **texts))
    assert failing in checks and not checks[failing][0], [(name, detail) for name, (ok, detail) in checks.items() if not ok]
    assert checks[failing][1] or failing.startswith(("reference", "inputs"))


def test_tf32_must_be_told_apart_where_ieee_is_asked_for(judge: JudgeClient, tmp_path: Path) -> None:
    name = "rejects inputs rounded to TF32"
    asking = SPEC.replace('name = "axpy"', 'name = "axpy"\nsummary = "IEEE float32"')
    assert lint(judge, write_operator(tmp_path / "a", spec=asking))[name][0]
    assert not lint(judge, write_operator(tmp_path / "b", spec=asking.replace("scale = 10", "scale = 1")))[name][0]


def test_mutants_that_are_right_because_the_output_is_tiny_are_no_failures(judge: JudgeClient, operator: Path) -> None:
    checks = lint(judge, operator, axes={"rows": 1, "cols": 1})
    assert checks["rejects permuted rows (x_after)"] == (True, "not applicable: the output has one row, so the mutant is the right answer")
    assert checks["rejects shifted by one (count)"][0] and "one element" in checks["rejects shifted by one (count)"][1]


def test_the_descriptor_of_a_view_spans_its_storage() -> None:
    base = torch.arange(24.0).reshape(4, 6)
    wire = descriptor("v", base[1:3, ::2], 0)
    assert (wire["shape"], wire["strides"], wire["nbytes"]) == ([2, 3], [6, 2], 4 * (6 + 4 + 1))


def test_a_judge_of_the_second_gpu_measures_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events belong to the current device: on another one they told the time between two calls of the host."""
    current: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "set_device", current.append)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "a GPU")
    monkeypatch.setattr(judge_module, "open_exchanges", lambda _: None)
    judge_module.Judge("cuda:1")
    judge_module.Judge("cpu")
    assert current == [torch.device("cuda:1")]
