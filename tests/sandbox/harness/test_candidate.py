"""Tests the zygote and candidates over a real socket pair, without the native jail: their start,
their end, and Triton's interpreter."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Supervisor, drain, encode_case
from sources import VECTOR_ADD


def vectors(n: int = 1000, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
    return {
        "id": "small",
        "arguments": {"x": torch.randn(n).to(dtype), "y": torch.randn(n).to(dtype)},
    }


def run(supervisor: Supervisor, source: str, **case: Any) -> Any:
    return supervisor.run(source, "vector_add", [{**vectors(), **case}])


def test_ready_names_versions_and_has_one_thread(supervisor: Supervisor) -> None:
    assert supervisor.ready["torch"] == torch.__version__
    assert supervisor.ready["threads"] == 1


def test_a_right_submission_gives_its_sum(supervisor: Supervisor) -> None:
    cases = [{**vectors(), "id": "a"}, {**vectors(77, torch.float16), "id": "b"}]
    report = supervisor.run(VECTOR_ADD, "vector_add", cases)
    assert report.types() == ["imported", "case", "case", "done"], report.stderr
    assert report.exited["how"] == "exited" and report.exited["value"] == 0
    assert report.parked["layers"] and not any(layer["active"] for layer in report.parked["layers"])
    for case in cases:
        torch.testing.assert_close(
            report.outputs[case["id"]][0], case["arguments"]["x"] + case["arguments"]["y"]
        )


def test_library_functions_reductions_and_autotuning_are_interpreted(
    supervisor: Supervisor,
) -> None:
    source = """
import torch, triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def kernel(x, y, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((), tl.float32)
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        value = tl.load(x + row * n + offsets, mask=offsets < n, other=0.0)
        total += tl.sum(tl.sigmoid(value), axis=0) - tl.sum(tl.where(offsets < n, 0.0, 0.5), axis=0)
        total += value.max(axis=0) * tl.cdiv(n, n) + tl.cumsum(tl.zeros_like(value), 0).sum(axis=0)
    tl.store(out + row, total + tl.load(y + row))

def rows(x, y):
    out = torch.empty(x.shape[0], device="cuda", dtype=x.dtype)
    torch.cuda.synchronize()
    kernel[(x.shape[0],)](x, y, out, x.shape[1])
    return out
"""
    x, y = torch.rand(3, 100), torch.randn(3)
    report = supervisor.run(source, "rows", [{"id": "a", "arguments": {"x": x, "y": y}}])
    assert report.types() == ["imported", "case", "done"], str(report.frames[-1].header)
    expected = x.sigmoid().sum(1) + x[:, :64].amax(1) + x[:, 64:].amax(1) + y
    torch.testing.assert_close(report.outputs["a"][0], expected)


def test_inout_arguments_are_outputs_and_inputs_stay_private(supervisor: Supervisor) -> None:
    source = "def step(p, g, lr):\n    p[1:].copy_(g[1:] if lr else p[:-1])\n    return p[:1, :1]\n"
    p, g = torch.randn(8, 4).t(), torch.randn(4, 8)
    case = {
        "id": "a",
        "arguments": {"p": p, "g": g, "lr": 0.5},
        "inout": ["p"],
        "outputs": 2,
        "output_from": ["p", None],
    }
    report = supervisor.run(source, "step", [case])
    new, corner = report.outputs["a"]
    assert torch.equal(new, torch.cat([p[:1], g[1:]]))
    assert torch.equal(corner, p[:1, :1])


@pytest.mark.parametrize(
    ("body", "kind", "line", "text"),
    [
        (
            "def vector_add(x, y):\n    return torch.empty(3, device='cuda')[7]",
            "index_error",
            3,
            "index",
        ),
        (
            "def vector_add(x, y):\n    raise ValueError('no ' + 'luck')",
            "value_error",
            3,
            "no luck",
        ),
        ("def vector_add(x, y):\n  return x +", "syntax_error", 3, "invalid syntax"),
        ("def vector_add(x, y):\nreturn x", "indentation_error", 3, "expected an indented block"),
        ("import nosuchmodule", "module_not_found", 2, "nosuchmodule"),
        (
            "def other(x): pass\ndef another(x): pass",
            "missing_entry",
            None,
            "it defines another, other",
        ),
        ("vector_add = 3", "missing_entry", None, "is a int"),
        ("raise SystemExit(0)", "protocol_error", 2, r"called exit\(0\) during import"),
        (
            "def vector_add(x, y):\n    import sys; sys.exit()",
            "protocol_error",
            3,
            r"called exit\(None\)",
        ),
        (
            "def vector_add(x, y):\n    raise KeyboardInterrupt",
            "protocol_error",
            3,
            "KeyboardInterrupt",
        ),
        ("def vector_add(x, y):\n    raise MemoryError", "memory_limit", 3, "MemoryError"),
        ("def vector_add(x, y):\n    return vector_add(x, y)", "recursion_error", 3, "recursion"),
        (
            "def vector_add(x, y):\n    return 3",
            "output_mismatch",
            None,
            "output 0 is an int; want a torch.Tensor",
        ),
        ("def vector_add(x, y):\n    return None", "output_mismatch", None, "NoneType"),
        ("def vector_add(x, y):\n    return x, y", "output_mismatch", None, "returned 2 values"),
        (
            "def vector_add(x, y):\n    return torch.eye(3).to_sparse()",
            "output_mismatch",
            None,
            "dense",
        ),
        (
            "def vector_add(x, y):\n    return x.to(torch.complex64)",
            "output_mismatch",
            None,
            "complex64",
        ),
        (
            "def vector_add(x, y):\n    return torch.zeros(1 << 20)",
            "output_mismatch",
            None,
            "need more than",
        ),
        (
            "class E(Exception):\n  def __str__(self): raise E\ndef vector_add(x, y):\n    raise E",
            "other_exception",
            None,
            "could not be read",
        ),
        (
            "class Odd(Exception): pass\ndef vector_add(x, y):\n    raise Odd('?')",
            "other_exception",
            4,
            r"\?",
        ),
    ],
)
def test_errors_have_kind_line_and_text(
    supervisor: Supervisor, body: str, kind: str, line: int | None, text: str
) -> None:
    source = "import torch\n" + body + "\n"
    report = run(supervisor, source)
    error = report.error()
    assert (error["kind"], error["line"]) == (kind, line), error
    import re

    assert re.search(text, error["message"]), error["message"]
    assert "done" not in report.types() and report.exited["how"] == "exited"
    if line is not None:
        assert error["code"] == source.split("\n")[line - 1].strip()
        assert f"line {line}" in error["traceback"] or kind in ("syntax_error", "indentation_error")
    assert "harness" not in error["traceback"] and "site-packages" not in error["traceback"]


def test_an_error_in_an_interpreted_kernel_names_its_line(supervisor: Supervisor) -> None:
    source = VECTOR_ADD.replace("mask = offsets < n", "mask = offsets < nonsense")
    error = run(supervisor, source).error()
    assert error["kind"] == "name_error" and "nonsense" in error["message"]
    assert error["code"] == "mask = offsets < nonsense"


def test_an_exit_by_the_submission_leaves_no_record(supervisor: Supervisor) -> None:
    report = run(supervisor, "import os\nprint('pass', flush=True)\nos._exit(0)\n")
    assert report.types() == [] and report.exited == {
        "type": "exited",
        "slot": report.exited["slot"],
        "how": "exited",
        "value": 0,
    }
    assert report.stdout == "pass\n"


def test_a_crash_is_a_signal(supervisor: Supervisor) -> None:
    report = run(supervisor, "import ctypes\nctypes.string_at(0)\n")
    assert report.exited["how"] in ("killed", "dumped") and report.exited["value"] == signal.SIGSEGV


def test_an_endless_loop_can_be_killed_and_the_zygote_lives(supervisor: Supervisor) -> None:
    channel, out, err, pid, slot = supervisor.fork()
    assert channel.receive() is not None
    channel.send(
        {"type": "job", "mode": "interpret", "entry": "f", "target": "cuda:90", "cases": []},
        b"while True: pass",
    )
    time.sleep(0.2)
    os.kill(pid, signal.SIGKILL)
    exited = supervisor.control.receive()
    assert exited is not None and exited.header == {
        "type": "exited",
        "slot": slot,
        "how": "killed",
        "value": signal.SIGKILL,
    }
    channel.close()
    drain(out)
    drain(err)
    assert run(supervisor, VECTOR_ADD).types()[-1] == "done"


def test_a_parked_candidate_leaves_when_its_socket_closes(supervisor: Supervisor) -> None:
    channel, out, err, _, slot = supervisor.fork()
    channel.close()
    exited = supervisor.control.receive()
    assert exited is not None and exited.header == {
        "type": "exited",
        "slot": slot,
        "how": "exited",
        "value": 0,
    }
    assert (drain(out), drain(err)) == ("", "")


def test_printed_text_goes_to_the_pipes(supervisor: Supervisor) -> None:
    report = run(
        supervisor,
        "import sys\nprint('out ü')\nprint('err', file=sys.stderr)\nimport os\nos.write(1, b'raw')\n"
        + VECTOR_ADD,
    )
    assert report.stdout == "out ü\nraw" and report.stderr == "err\n"


def test_submissions_that_cannot_be_interpreted_are_refused(supervisor: Supervisor) -> None:
    error = supervisor.run(VECTOR_ADD, "vector_add", [vectors(dtype=torch.bfloat16)]).error()
    assert (
        error["kind"] == "unsupported"
        and "bfloat16" in error["message"]
        and error["case"] == "small"
    )
    error = supervisor.run(VECTOR_ADD, "vector_add", [vectors()], dialect="gluon").error()
    assert error["kind"] == "unsupported" and "gluon" in error["message"]


def test_candidates_draw_different_random_numbers(supervisor: Supervisor) -> None:
    source = (
        "import random, torch, numpy\n"
        "print(random.random(), torch.rand(1).item(), numpy.random.rand())\n"
        "def vector_add(x, y): return x\n"
    )
    first, second = run(supervisor, source).stdout.split(), run(supervisor, source).stdout.split()
    assert all(a != b for a, b in zip(first, second, strict=True))


def test_a_malformed_job_ends_the_candidate_without_an_answer(supervisor: Supervisor) -> None:
    channel, out, err, _, _ = supervisor.fork()
    assert channel.receive() is not None
    channel.send({"type": "nonsense"})
    assert channel.receive() is None
    exited = supervisor.control.receive()
    assert exited is not None and exited.header["value"] == 3
    drain(out)
    assert "expected a job" in drain(err)


LOOP = "def vector_add(x, y):\n    n = 0\n    while True:\n        n += 1\n"


def test_a_slow_submission_is_stopped_and_its_line_reported(supervisor: Supervisor) -> None:
    report = supervisor.run(
        LOOP, "vector_add", [vectors()], import_wall_ms=10_000, run_wall_ms=1_000
    )
    assert report.types() == ["imported", "error"], report.stderr
    error = report.frames[-1].header
    assert (error["kind"], error["stage"], error["case"]) == ("timeout", "run", "small")
    assert error["line"] in (3, 4)
    assert error["message"] == "stopped after 950 ms; the limit is 1000 ms"


def test_only_an_import_that_takes_too_long_is_stopped(
    supervisor: Supervisor,
) -> None:
    report = supervisor.run(
        "import time\ntime.sleep(30)\n",
        "vector_add",
        [vectors()],
        import_wall_ms=500,
        run_wall_ms=1_000,
    )
    assert report.types() == ["error"], report.stderr
    assert (report.frames[0].header["kind"], report.frames[0].header["line"]) == ("timeout", 2)
    report = supervisor.run(
        VECTOR_ADD, "vector_add", [vectors()], import_wall_ms=30_000, run_wall_ms=30_000
    )
    assert report.types() == ["imported", "case", "done"], report.stderr


def test_cases_come_after_the_import_and_in_batches(supervisor: Supervisor) -> None:
    source = (
        "import os, sys\nframe, seen = sys._getframe(), []\nwhile frame:\n"
        "    seen += [n for n in ('cases', 'batch', 'case') if n in frame.f_locals]\n"
        "    frame = frame.f_back\n"
        "files = [os.readlink(f'/proc/self/fd/{fd}') for fd in os.listdir('/proc/self/fd')\n"
        "         if os.path.lexists(f'/proc/self/fd/{fd}')]\n"
        "print(seen, [path for path in files if 'memfd' in path])\n" + VECTOR_ADD
    )
    channel, out, err, _, _ = supervisor.fork()
    assert channel.receive() is not None
    job = {"type": "job", "mode": "interpret", "entry": "vector_add", "target": "cuda:90"}
    channel.send(job, source.encode())

    def next_type() -> str:
        frame = channel.receive()
        assert frame is not None
        return frame.type

    assert [next_type(), next_type()] == ["parsed", "imported"]
    for last in (False, True):
        wire, fds = encode_case({**vectors(), "id": f"last {last}"}, "interpret", 0)
        channel.send({"type": "cases", "cases": [wire], "last": last}, fds=fds)
        assert next_type() == "case"
        for fd in fds:
            os.close(fd)
    assert next_type() == "done" and channel.receive() is None
    channel.close()
    assert supervisor.control.receive() is not None
    assert (drain(out), drain(err)) == ("[] []\n", "")


def test_an_error_tells_the_number_of_a_failed_system_call(supervisor: Supervisor) -> None:
    failing = "def vector_add(x, y):\n    raise {}\n"
    assert run(supervisor, failing.format("OSError(24, 'no files')")).error()["errno"] == 24
    wrapped = failing.format("RuntimeError('open') from OSError(28, 'no space')")
    assert run(supervisor, wrapped).error()["errno"] == 28
    for without in ("OSError('no number')", "OSError('a', 'b')", "OSError(-1, 'b')", "ValueError"):
        assert "errno" not in run(supervisor, failing.format(without)).error()


def test_an_error_tells_the_number_of_a_gpus_error(supervisor: Supervisor) -> None:
    """On a GPU, torch gives its exception this attribute."""
    failing = (
        "import torch\ndef vector_add(x, y):\n    error = torch.AcceleratorError('CUDA error')\n"
        "    error.error_code = {}\n    raise error\n"
    )
    error = run(supervisor, failing.format(2)).error()
    assert (error["exception"], error["device_error"]) == ("AcceleratorError", 2)
    for wrong in ("'2'", "0", "-1", "1 << 70"):
        assert "device_error" not in run(supervisor, failing.format(wrong)).error()


def test_a_source_that_does_not_parse_is_never_parsed(supervisor: Supervisor) -> None:
    channel, out, err, _, _ = supervisor.fork()
    assert channel.receive() is not None
    job = {"type": "job", "mode": "interpret", "entry": "f", "target": "cuda:90"}
    channel.send(job, b"print('runs')\ndef f(:\n")
    frame = channel.receive()
    assert frame is not None and frame.type == "error" and frame.header["kind"] == "syntax_error"
    assert channel.receive() is None
    channel.close()
    assert supervisor.control.receive() is not None
    assert drain(out) == "" and drain(err) == ""
