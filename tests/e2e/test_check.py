"""`assay check` with the real binary on the CPU device: right and wrong kernels, bad references, bad
input, axes, and --watch."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient
from tool_calls import verdict_of

Run = Callable[..., subprocess.CompletedProcess[str]]

KERNELS = """
import torch, triton
import triton.language as tl


@triton.jit
def _swish(x, y, beta, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, at < n)
    tl.store(y + at, value / (1 + tl.exp(-beta * value)), at < n)


def swish(x, beta):
    y = torch.empty_like(x)
    _swish[(triton.cdiv(x.numel(), 256),)](x, y, beta, x.numel(), 256)
    return y


def half(x, beta):
    y = torch.empty(x.shape, dtype=torch.float16, device=x.device)
    _swish[(triton.cdiv(x.numel(), 256),)](x, y, beta, x.numel(), 256)
    return y


def flat(x, beta):
    return swish(x, beta).reshape(1, -1)


def in_place(x, beta):
    _swish[(triton.cdiv(x.numel(), 256),)](x, x, beta, x.numel(), 256)


def pair(x, beta):
    return swish(x, beta), swish(x, 2 * beta)


def missing_load(x, beta):
    return swish(x, gamma)
"""

REFERENCES = """
import os
import torch


def swish(x, beta):
    return x * torch.sigmoid(beta * x)


def shifted(x, beta):
    return swish(x, beta) + 0.1


def slightly_off(x, beta):
    return swish(x, beta) * 1.0002


def pair(x, beta):
    return swish(x, beta), swish(x, 2 * beta)


def in_place(x, beta):
    x.mul_(torch.sigmoid(beta * x))
    return x


def raises(x, beta):
    y = x + 1
    return torch.sofmax(y)


def hangs(x, beta):
    while True:
        x = x + 1


def leaves(x, beta):
    os._exit(7)


def number(x, beta):
    return 1.5


def unstable(x, beta):  # two draws of inputs have the same size once in a million times
    return x.new_zeros(1 + int(x.double().abs().sum() * 1e9) % 1_000_000)


def greedy(x, beta):
    return torch.ones(1 << 36)[: x.numel()]


def spy(x, beta):
    import socket

    if os.path.exists("SECRET"):
        raise RuntimeError("the caller's files are visible")
    try:
        socket.create_connection(("127.0.0.1", PORT), timeout=1)
    except OSError:
        return swish(x, beta)
    raise RuntimeError("the network is reachable")
"""
CUDA = """/* assay
[[launch]]
kernel = "twice"
grid = "ceil_div(n, 128)"
block = 128
args = ["x", "out", "n"]
*/
extern "C" __global__ void twice(const float* x, float* out, int n) {
  const int at = blockIdx.x * 128 + threadIdx.x;
  if (at < n) out[at] = 2 * x[at];
}
"""
INPUTS = ("--input", "x=f32[{n}]", "--input", "beta=1.5")


@pytest.fixture
def check(assay: Run, tmp_path: Path) -> Callable[..., tuple[int, dict[str, Any]]]:
    (tmp_path / "my.py").write_text(KERNELS)
    (tmp_path / "ref.py").write_text(REFERENCES)

    def run(kernel: str, reference: str, *options: str) -> tuple[int, dict[str, Any]]:
        given = options or ("--n", "700")
        done = assay(
            "check",
            f"{tmp_path}/my.py:{kernel}",
            "--against",
            f"{tmp_path}/ref.py:{reference}",
            *INPUTS,
            "--no-profile",
            "--json",
            *given,
        )
        assert done.stdout, done.stderr
        return done.returncode, json.loads(done.stdout)

    return run


@pytest.fixture
def served(cpu_server: StdioClient) -> Callable[..., dict[str, Any]]:
    """Returns a function that checks a kernel on the server that all tests share. Each run of `assay
    check` starts processes that import torch, which takes ten times as long as a check. The command
    prints the same verdict."""

    def run(
        kernel: str, reference: str, axis: str = "n=700", references: str = REFERENCES, **more: Any
    ) -> dict[str, Any]:
        sources = {"code": KERNELS, "reference": references, "entry": f"{kernel}:{reference}"}
        inputs = ["x=f32[{n}]", "beta=1.5"]
        return verdict_of(
            cpu_server, "check", {**sources, "inputs": inputs, "axes": [axis], **more}
        )

    return run


Check = Callable[..., tuple[int, dict[str, Any]]]
Served = Callable[..., dict[str, Any]]


def test_right_kernels_pass(check: Check, served: Served) -> None:
    status, first = check("swish", "swish")
    assert status == 0
    others = [served("pair", "pair"), served("in_place", "in_place")]
    for reference, verdict in zip(("swish", "pair", "in_place"), (first, *others), strict=True):
        assert verdict["outcome"] == "pass", verdict["summary"]
        assert verdict["operator"] == f"check:{reference}"
        assert verdict["kernels"][0]["registers"] > 0


def test_each_combination_of_axes_is_a_case(served: Served) -> None:
    verdict = served("swish", "swish", axis="n=1,256,1000")
    assert verdict["outcome"] == "pass"
    assert [case["id"] for case in verdict["cases"]] == ["n=1", "n=256", "n=1000"]
    verdict = served("swish", "swish", axis="n=31,2000000")
    assert [case["id"] for case in verdict["cases"]] == ["n=31"]
    assert verdict["skipped_cases"][0]["ids"] == ["n=2000000"]


@pytest.mark.parametrize(
    ("kernel", "reference", "kind", "words"),
    [
        ("swish", "shifted", "wrong_result", "700 of 700 elements"),
        ("swish", "slightly_off", "wrong_result", "typical size"),
        ("half", "swish", "output_mismatch", "float16"),
        ("flat", "swish", "output_mismatch", "[1, 700]"),
        ("swish", "in_place", "wrong_result", "output x"),
    ],
)
def test_wrong_kernels_fail(
    served: Served, kernel: str, reference: str, kind: str, words: str
) -> None:
    verdict = served(kernel, reference)
    assert (verdict["outcome"], verdict["error_kind"]) == ("fail", kind)
    assert words in verdict["summary"]


def test_the_tolerance_can_be_chosen(check: Check, served: Served) -> None:
    assert served("swish", "slightly_off", tolerance=1e-3)["outcome"] == "pass"
    assert check("swish", "swish", "--n", "700", "--tolerance", "0")[0] == 1


def test_an_error_of_the_kernel_is_the_kernels(check: Check) -> None:
    status, verdict = check("missing_load", "swish")
    assert (status, verdict["error_kind"]) == (2, "name_error")
    assert verdict["diagnostic"]["code"].strip() == "return swish(x, gamma)"


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("raises", ("line 29", "torch.sofmax(y)", "AttributeError")),
        ("leaves", ("its process ended", "7")),
        ("number", ("returned a float", "tensor or a tuple of tensors")),
        ("unstable", ("other shapes or dtypes",)),
        ("nowhere", ("does not define `nowhere`", "swish")),
    ],
)
def test_an_error_of_the_reference_is_the_references(
    served: Served, reference: str, words: tuple[str, ...]
) -> None:
    verdict = served("swish", reference)
    assert (verdict["outcome"], verdict["error_kind"]) == ("error", "reference_error")
    for word in words:
        assert word in verdict["detail"], verdict["detail"]
    assert "diagnostic" not in verdict


def test_a_reference_that_hangs_is_named(check: Check) -> None:
    options = ("--n", "10", "--reference-wall-ms", "1500")
    status, verdict = check("swish", "hangs", *options)
    assert (status, verdict["error_kind"]) == (2, "reference_error")
    assert "`while True:`: timeout" in verdict["detail"] or "`x = x + 1`" in verdict["detail"]
    assert "1500 ms" in verdict["detail"]


def test_a_reference_has_a_memory_limit(served: Served) -> None:
    verdict = served("swish", "greedy")
    assert (verdict["outcome"], verdict["error_kind"]) == ("error", "reference_error"), verdict


def test_a_reference_sees_no_files_and_no_network(served: Served, tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text(KERNELS)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        source = REFERENCES.replace("SECRET", str(tmp_path / "my.py"))
        source = source.replace("PORT", str(listening.getsockname()[1]))
        verdict = served("swish", "spy", references=source)
    assert verdict["outcome"] == "pass", verdict["summary"]


def test_a_syntax_error_of_the_reference_is_named(served: Served) -> None:
    verdict = served("swish", "swish", references="def swish(x, beta):\n    return x +\n")
    assert (verdict["outcome"], verdict["error_kind"]) == ("error", "reference_error")
    assert "line 2" in verdict["detail"] and "SyntaxError" in verdict["detail"]


def test_the_text_says_what_limits_the_speed(assay: Run, check: Check, tmp_path: Path) -> None:
    done = assay(
        "check", f"{tmp_path}/my.py:swish", "--against", f"{tmp_path}/ref.py:swish", *INPUTS,
        "--n", "1000,100003",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("pass: 2 cases right")
    assert "-bound" in done.stdout and "registers" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--input", "x=f33[{n}]"), ("f33", "f16, bf16, f32", "x=f32[{n},64]")),
        (("--input", "x"), ("'=' is missing", "beta=1.5")),
        (("--input", "x=f32[{n}"), ("']' is missing",)),
        (("--input", "x=f32[{n}+1]"), ("size '{n}+1'",)),
        (("--input", "x=f32[{n}] gauss"), ("gauss", "normal, uniform, range")),
        (("--input", "x=f32[{n}] range"), ("range takes 1 to 2 parameters",)),
        (("--input", "x=wide"), ("neither a tensor nor a number",)),
        (("--input", "beta=1.5"), ("no input is a tensor",)),
        (("--input", "x=f32[{m}]"), ("axis 'm' has no value",)),
        (("--input", "x=f32[4]"), ("no input uses the axis 'n'",)),
        (("--input", "x=f32[{n}]", "--input", "x=f32[{n}]"), ("two inputs have the name 'x'",)),
        (("--input", "x=f32[{n}]", "--n", "5,x"), ("--n", "n=1000,100003")),
        (("--input", "x=f32[{n}]", "--axis", "n=0"), ("at least 1",)),
        (("--input", "x=f32[{n}]", "--tolerance", "-1"), ("tolerance must be from 0 to 1",)),
        (("--input", "x=f32[{n}]", "--n", ",".join(["7"] * 17)), ("16", "kMostCheckCases")),
        (("--input", "x=f64[{n},{n}]", "--n", "100000"), ("kMostCheckBytes",)),
    ],
)
def test_bad_input_names_what_is_valid(
    assay: Run, options: tuple[str, ...], words: tuple[str, ...]
) -> None:
    axes = () if any(option in ("--n", "--axis") for option in options) else ("--n", "5")
    done = assay("check", "my.py:swish", "--against", "ref.py:swish", *options, *axes)
    assert done.returncode == 64, done.stderr
    for word in words:
        assert word in done.stderr, done.stderr


def test_bad_files_are_named(assay: Run, check: Check, tmp_path: Path) -> None:
    done = assay("check", "my.py", "--against", "ref.py:swish", *INPUTS, "--n", "5")
    assert done.returncode == 64 and "my.py:swish" in done.stderr
    done = assay(
        "check", f"{tmp_path}/none.py:swish", "--against", f"{tmp_path}/ref.py:swish", *INPUTS,
        "--n", "5",
    )  # fmt: skip
    assert done.returncode == 66 and "none.py" in done.stderr


def test_watch_checks_again_when_a_file_is_saved(binary: str, tmp_path: Path) -> None:
    kernel, reference = tmp_path / "my.py", tmp_path / "ref.py"
    kernel.write_text(KERNELS)
    reference.write_text(REFERENCES)
    command = [binary, "check", f"{kernel}:swish", "--against", f"{reference}:swish", *INPUTS]
    environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state")}
    with subprocess.Popen(
        [*command, "--n", "50", "--watch", "--no-profile"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as watching:
        try:
            assert watching.stdout is not None
            assert next(watching.stdout).startswith("pass: 1 case right")
            reference.write_text(REFERENCES.replace("beta * x)\n", "beta * x) + 0.5\n", 1))
            rest = (line for line in watching.stdout if line.startswith(("pass", "fail", "error")))
            assert next(rest).startswith("fail (wrong_result)")
            reference.write_text(REFERENCES)
            assert next(rest).startswith("pass: 1 case right")
        finally:
            watching.terminate()  # SIGINT is ignored if the tests run in the background


def test_cuda_cpp_is_compiled_and_needs_a_gpu(assay: Run, check: Check, tmp_path: Path) -> None:
    (tmp_path / "my.cu").write_text(CUDA)
    done = assay(
        "check", f"{tmp_path}/my.cu:twice", "--against", f"{tmp_path}/ref.py:swish", *INPUTS,
        "--n", "100", "--json",
    )  # fmt: skip
    verdict = json.loads(done.stdout)
    assert (done.returncode, verdict["error_kind"]) == (2, "unsupported"), verdict["summary"]
    assert verdict["kernels"][0]["registers"] > 0 and "NVIDIA GPU" in verdict["detail"]


def test_a_check_is_never_an_operator(cpu_server: Any) -> None:
    answer = cpu_server.call(
        "check",
        {
            "code": KERNELS,
            "entry": "swish",
            "reference": REFERENCES,
            "inputs": ["x=f32[{n}]", "beta=1.5"],
            "axes": ["n=64"],
        },
    )["structuredContent"]
    assert answer["outcome"] == "pass", answer
    started = cpu_server.call("start_run", {"agent": "test", "model": "none", "track": "practice"})
    run = started["structuredContent"]["run"]
    submitted = cpu_server.call(
        "submit", {"operator": answer["operator"], "code": KERNELS, "run": run}
    )
    assert submitted["isError"] and "check:swish" in submitted["content"][0]["text"]
    listed = cpu_server.call("list_operators", {})
    assert "check:" not in json.dumps(listed)
    bound = cpu_server.call(
        "check",
        {
            "code": KERNELS,
            "entry": "swish",
            "reference": REFERENCES,
            "inputs": ["x=f32[{n}]", "beta=1.5"],
            "axes": ["n=64"],
            "bound": True,
        },
    )["content"][0]["text"]
    assert bound.startswith("pass: case 'n=64'") and "-bound" in bound
