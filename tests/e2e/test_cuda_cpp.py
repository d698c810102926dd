"""Tests CUDA C++ submissions with the real server and the command line, without a GPU."""

from __future__ import annotations

import ctypes
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient

ROOT = Path(__file__).resolve().parent.parent.parent
Run = Callable[..., subprocess.CompletedProcess[str]]
SOURCES = ROOT / "tests/cuda_cpp"
OPERATORS = sorted(path.stem for path in SOURCES.glob("*.cu"))
TARGETS = ["cuda:80", "cuda:90", "cuda:100"]
ADD = (SOURCES / "vector_add.cu").read_text()


def call(client: StdioClient, tool: str, operator: str, code: str, **more: Any) -> dict[str, Any]:
    result = client.call(tool, {"operator": operator, "code": code, "language": "cuda", **more})
    verdict: dict[str, Any] = result["structuredContent"]
    how = {key: more[key] for key in ("response_format",) if key in more}
    while verdict.get("status") == "running" or verdict.get("state") in ("queued", "running"):
        verdict = client.call("job", {"job": verdict["job"], "wait_s": 20, **how})[
            "structuredContent"
        ]
    return verdict


@pytest.mark.parametrize("operator", OPERATORS)
def test_compiles_for_every_target(cpu_server: StdioClient, operator: str) -> None:
    verdict = call(
        cpu_server,
        "compile",
        operator,
        (SOURCES / f"{operator}.cu").read_text(),
        targets=TARGETS,
        response_format="detailed",
    )
    assert verdict["outcome"] == "pass", json.dumps(verdict, indent=1)[:3000]
    assert verdict["language"] == "cuda"
    assert verdict["provenance"]["nvrtc"]
    assert {kernel["target"] for kernel in verdict["kernels"]} == set(TARGETS)
    assert all(
        kernel["registers"] > 0 and 0 < kernel["occupancy"] <= 1 for kernel in verdict["kernels"]
    )
    names = [artifact["name"] for artifact in verdict["artifacts"]]
    assert any("ptx" in name for name in names) and any("plan" in name for name in names)


def has_hiprtc() -> bool:
    try:
        return hasattr(ctypes.CDLL("libamdhip64.so.5"), "hiprtcCompileProgram")
    except OSError:
        return False


@pytest.mark.skipif(not has_hiprtc(), reason="needs hipRTC (libamdhip64-5)")
def test_hip_cpp_compiles_in_the_jail(cpu_server: StdioClient) -> None:
    code = (ROOT / "tests/hip_cpp/vector_add.cu").read_text()
    verdict = call(cpu_server, "profile", "vector_add", code, target="hip:gfx90a")
    assert verdict["error_kind"] == "unsupported" and "AMD GPU" in verdict["detail"], verdict
    [kernel] = verdict["kernels"]
    assert (kernel["name"], kernel["target"]) == ("add<float>", "hip:gfx90a")
    assert kernel["registers"] > 0 and kernel["spill_bytes"] == 0
    [digest] = verdict["profile"]["code"]
    assert digest["kernel"] == "add<float>" and digest["instructions"] > 0
    assert any("global_load" in one["opcode"] for one in digest["opcodes"]), digest


@pytest.mark.parametrize("tool", ["run_tests", "profile"])
def test_without_a_gpu_it_compiles_and_says_what_would_run_it(
    cpu_server: StdioClient, tool: str
) -> None:
    verdict = call(cpu_server, tool, "vector_add", ADD)
    assert (verdict["outcome"], verdict["error_kind"]) == ("error", "unsupported")
    assert "NVIDIA GPU" in verdict["detail"]
    assert verdict["kernels"][0]["registers"] > 0


def test_its_machine_code_is_shown_by_the_sources_names(cpu_server: StdioClient) -> None:
    verdict = call(cpu_server, "profile", "vector_add", ADD, detail="sass")
    code = verdict["profile"]["code"]
    assert [digest["kernel"] for digest in code] == ["add<float>"]
    assert code[0]["instructions"] > 0
    assert sum(one["count"] for one in code[0]["opcodes"]) > 0
    assert len(verdict["artifacts"]) == 1


def test_the_compilers_words_come_with_the_line(cpu_server: StdioClient) -> None:
    verdict = call(cpu_server, "run_tests", "vector_add", ADD.replace("blockIdx.x", "blockIdx.w"))
    line = next(number for number, text in enumerate(ADD.split("\n"), 1) if "blockIdx" in text)
    assert (verdict["error_kind"], verdict["stage"]) == ("compilation_error", "compile")
    assert verdict["diagnostic"]["line"] == line
    assert f"submission.cu({line}): error" in verdict["diagnostic"]["message"]


def test_a_manifest_that_asks_for_too_much(cpu_server: StdioClient) -> None:
    verdict = call(
        cpu_server, "compile", "vector_add", ADD.replace("args", "repeat = 1000000000\nargs")
    )
    assert (verdict["error_kind"], verdict["diagnostic"]["line"]) == ("value_error", 6)
    assert "16384" in verdict["diagnostic"]["message"]


def test_operators_of_a_dialect_refuse_it(cpu_server: StdioClient) -> None:
    answer = cpu_server.call(
        "compile", {"operator": "gluon_blocked_add", "code": ADD, "language": "cuda"}
    )
    assert "dialect gluon" in answer["content"][0]["text"]
    spec = cpu_server.call("fetch_spec", {"operator": "gluon_blocked_add"})["structuredContent"]
    assert spec["languages"] == ["python"]


def test_fetch_spec_says_how_it_looks(cpu_server: StdioClient) -> None:
    spec = cpu_server.call("fetch_spec", {"operator": "vector_add", "language": "cuda"})[
        "structuredContent"
    ]
    assert spec["languages"] == ["python", "cuda"]
    assert "[[launch]]" in spec["submission"] and "/* assay" in spec["submission"]
    plain = cpu_server.call("fetch_spec", {"operator": "vector_add"})["structuredContent"]
    assert "language=cuda" in plain["submission"]


def test_eval_knows_the_language_by_the_files_ending(assay: Run, tmp_path: Path) -> None:
    source = SOURCES / "vector_add.cu"
    told = assay("eval", "vector_add", str(source), "--mode", "compile", "--json")
    assert (told.returncode, json.loads(told.stdout)["language"]) == (0, "cuda"), told.stderr
    other = tmp_path / "add.txt"
    other.write_text(ADD)
    assert (
        assay(
            "eval", "vector_add", str(other), "--mode", "compile", "--language", "cuda"
        ).returncode
        == 0
    )
    assert assay("eval", "vector_add", str(other), "--mode", "compile").returncode == 2  # no Python
    wrong = assay("eval", "vector_add", str(other), "--language", "fortran")
    assert wrong.returncode == 64
    assert "valid: python, cuda" in wrong.stderr


def test_the_documents_example_compiles(assay: Run, tmp_path: Path) -> None:
    text = (ROOT / "docs/reference/cuda-submissions.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```cuda\n(.*?)```", text, re.DOTALL)
    path = tmp_path / "softmax.cu"
    path.write_text(example)
    said = assay(
        "eval",
        "softmax_last_dim",
        str(path),
        "--mode",
        "compile",
        "--target",
        "cuda:80",
        "--target",
        "cuda:90",
        "--json",
    )
    assert said.returncode == 0, said.stdout[:3000] + said.stderr


def test_doctor_names_the_compiler(assay: Run) -> None:
    said = assay("doctor", "--json")
    assert json.loads(said.stdout)["python"]["nvrtc"] == "12.8"


def whole_interface(spec: dict[str, Any]) -> str:
    """Returns a source whose kernel does nothing. The kernel's parameters are all arguments,
    outputs and axes of the operator."""
    parameters, names = [], []
    for argument in spec["arguments"]:
        names.append(argument["name"])
        parameters.append(
            {"tensor": "const void*", "int": "long long", "float": "double", "bool": "bool"}[
                argument["type"]
            ]
        )
    for output in spec["outputs"]:
        if not output["from"]:
            names.append(output["name"])
            parameters.append("void*")
    axes = {
        part.strip()
        for tensor in spec["arguments"] + spec["outputs"]
        for extent in tensor["shape"]
        for part in extent.split("*")
    }
    for axis in sorted(axes - set(names)):
        if not axis.isdigit():
            names.append(axis)
            parameters.append("int")
    taken = ", ".join(f"{kind} p{i}" for i, kind in enumerate(parameters))
    return (
        f'/* assay\n[[launch]]\nkernel = "k"\ngrid = 1\nblock = 32\nargs = {json.dumps(names)}\n*/\n'
        f'extern "C" __global__ void k({taken}) {{}}\n'
    )


def test_everything_that_a_spec_names_can_be_an_argument(cpu_server: StdioClient) -> None:
    names = cpu_server.call("list_operators", {})["structuredContent"]["names"]
    tried = 0
    for name in names:
        spec = cpu_server.call("fetch_spec", {"operator": name})["structuredContent"]
        if "cuda" not in spec["languages"]:
            continue
        verdict = call(cpu_server, "compile", name, whole_interface(spec))
        assert verdict["outcome"] == "pass", f"{name}: {verdict['summary']}"
        tried += 1
    assert tried >= 15
