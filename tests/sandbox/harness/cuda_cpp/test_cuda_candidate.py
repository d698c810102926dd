"""Tests how a real candidate answers CUDA C++: a source that compiles, a source that does not, and
a source for which there is no compiler."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from conftest import Supervisor
from plan_reader import read_plan

SOURCES = Path(__file__).resolve().parents[3] / "cuda_cpp"
ADD = (SOURCES / "vector_add.cu").read_text()


def case(name: str, n: int, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
    described = [
        {"name": "z", "dtype": str(dtype).removeprefix("torch."), "shape": [n], "from": None}
    ]
    return {
        "id": name,
        "arguments": {"x": torch.ones(n, dtype=dtype), "y": torch.ones(n, dtype=dtype)},
        "output_tensors": described,
        "axes": {"n": n},
    }


def run(
    supervisor: Supervisor,
    source: str,
    *cases: dict[str, Any],
    mode: str = "record",
    **options: Any,
) -> Any:
    return supervisor.run(source, "vector_add", list(cases), mode, language="cuda", **options)


def test_the_zygote_loads_the_compiler_without_starting_a_thread(supervisor: Supervisor) -> None:
    assert supervisor.ready["nvrtc"] == "12.8"
    assert supervisor.ready["threads"] == 1


def test_plans_of_several_cases_and_their_ptx(supervisor: Supervisor) -> None:
    report = run(
        supervisor, ADD, case("a", 1000), case("b", 64, torch.float16), case("c", 0), artifacts=True
    )
    assert report.types() == [
        "imported",
        "case",
        "case",
        "case",
        "artifact",
        "artifact",
        "artifact",
        "done",
    ], report.frames[-1].header
    a, b, c = (read_plan(frame.payload) for frame in report.frames[1:4])
    assert [op["grid"] for op in a["ops"]] == [(4, 1, 1)]
    assert "__half" in report.frames[2].header["kernels"][0]["name"]
    assert (b["outputs"][0]["dtype"], c["ops"]) == ("float16", [])
    assert b".entry" in report.frames[4].payload
    assert report.exited["how"] == "exited"


def test_the_compilers_log_with_the_submissions_lines(supervisor: Supervisor) -> None:
    broken = ADD.replace("if (i < n)", "if (i < m)")
    error = run(supervisor, broken, case("a", 10)).error()
    line = next(number for number, text in enumerate(broken.split("\n"), 1) if "i < m" in text)
    assert (error["kind"], error["stage"], error["line"], error["case"]) == (
        "compilation_error",
        "compile",
        line,
        "a",
    )
    assert f'submission.cu({line}): error: identifier "m" is undefined' in error["message"]
    assert "if (i < m)" in error["code"]


@pytest.mark.parametrize(
    ("source", "kind", "stage", "line", "says"),
    [
        ("__global__ void f() {}", "missing_entry", "import", None, "/* assay"),
        (ADD.replace("[[launch]]", "[[launch]"), "syntax_error", "import", 2, "not valid TOML"),
        (
            ADD.replace("block = 256", "block = 256\nblok = 1"),
            "value_error",
            "import",
            2,
            "valid: kernel, grid",
        ),
        (
            ADD.replace("ceil_div(n, 256)", "ceil_div(m, 256)"),
            "name_error",
            "record",
            4,
            "unknown name 'm'; valid: multiprocessors, n, round, x, y, z",
        ),
        (
            ADD.replace("ceil_div(n, 256)", "1 // (n - n)"),
            "zero_division",
            "record",
            4,
            "divided by zero",
        ),
        (
            ADD.replace("block = 256", "block = 4096"),
            "value_error",
            "record",
            5,
            "the limits are [1024, 1024, 64]",
        ),
    ],
)
def test_mistakes(
    supervisor: Supervisor, source: str, kind: str, stage: str, line: int | None, says: str
) -> None:
    error = run(supervisor, source, case("a", 10)).error()
    assert (error["kind"], error["stage"], error["line"]) == (kind, stage, line)
    assert says in error["message"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mode": "interpret"}, "no interpreter"),
        ({"mode": "ablate"}, "no interpreter"),
        ({"dialect": "gluon"}, "dialect gluon"),
        ({"target": "hip:gfx942"}, "HIP C++ cannot be compiled"),
    ],
)
def test_unsupported_jobs_are_refused(
    supervisor: Supervisor, options: dict[str, Any], says: str
) -> None:
    error = run(supervisor, ADD, case("a", 10), **options).error()
    assert error["kind"] == "unsupported"
    assert says in error["message"]


def test_without_a_toolkit_it_says_what_to_install(guard_dir: Path, tmp_path: Path) -> None:
    without = Supervisor(
        {
            "ASSAY_FAKE_CUDA_GUARD": str(guard_dir / "libassay_fake_cuda_guard.so"),
            "ASSAY_CUDA_TOOLKIT": str(tmp_path),
        }
    )
    try:
        assert without.ready["nvrtc"] == ""
        error = run(without, ADD, case("a", 10)).error()
        assert (error["kind"], error["stage"]) == ("unsupported", "import")
        assert "ASSAY_CUDA_TOOLKIT" in error["message"]
    finally:
        assert without.close() == 0


def test_a_key_of_many_parts_is_refused_at_once(supervisor: Supervisor) -> None:
    """The TOML parser needs quadratic time for a key with many parts. So the harness limits the
    length of a line."""
    source = f"/* assay\na{'.a' * 30_000} = 1\n*/\n"
    error = run(supervisor, source, case("a", 10)).error()
    assert (error["kind"], error["stage"]) == ("value_error", "import")
    assert "a line of the manifest has 60005 characters; the limit is 4096" in error["message"]
