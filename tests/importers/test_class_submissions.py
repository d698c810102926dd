"""Tests class-based submissions to an imported problem without a GPU: a right one passes, and each
wrong one has its verdict. One server grades all of them, and the command line the right one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
for folder in ("tests/importers", "tests/common", "measurements"):
    sys.path.insert(0, str(ROOT / folder))

import problem_files as files  # noqa: E402
from stdio_client import StdioClient  # noqa: E402
from tool_calls import grade_of  # noqa: E402

BINARY = ROOT / "build/release/bin/assay"
DEADLINE_S = 300
PASSED, WRONG = 0, 1
SUBMISSIONS = {
    "right": ("level1_1_norm", files.NORM_KERNEL, "pass:"),
    "ignores_weight": ("level1_1_norm", files.IGNORES_WEIGHT, "fail (wrong_result)"),
    "other_names": ("level1_1_norm", files.OTHER_NAMES, "error (interface_mismatch)"),
    "other_constructor": ("level1_1_norm", files.OTHER_CONSTRUCTOR, "error (interface_mismatch)"),
    "no_class": ("level1_1_norm", "x = 1\n", "error (missing_entry)"),
    "copy_for_relu": ("level1_2_clip", files.COPY, "fail (wrong_result)"),
    "many_tensors": ("level1_3_many", files.MANY_KERNEL, "pass:"),
    "another_of_many_tensors": (
        "level1_3_many",
        files.MANY_KERNEL.replace("self.shifts[399]", "self.shifts[398]"),
        "fail (wrong_result)",
    ),
    "torch_computes": (
        "level1_2_clip",
        files.CLIP.replace("class Model(", "class ModelNew("),
        "error (not_recordable)",
    ),
}


ENVIRONMENT = {**os.environ, "ASSAY_PYTHON": sys.executable}


def assay(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BINARY), *words], capture_output=True, text=True, timeout=DEADLINE_S, env=ENVIRONMENT
    )


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not BINARY.exists():
        pytest.skip("build/release is not built")
    checkout = files.level(
        tmp_path_factory.mktemp("checkout"), Norm=files.NORM, Clip=files.CLIP, Many=files.MANY
    )
    out = tmp_path_factory.mktemp("suites") / "suite"
    done = assay("import", "kernelbench", str(checkout), "--level", "1", "--out", str(out))
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def server(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    store = tmp_path_factory.mktemp("store") / "assay.db"
    command = [str(BINARY), "serve", "--stdio", "--device", "cpu", "--suite", str(suite)]
    client = StdioClient([*command, "--store", str(store)], env=ENVIRONMENT)
    yield client
    client.close()
    assert client.process.returncode == 0


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_a_submission_has_its_verdict(server: StdioClient, name: str) -> None:
    operator, text, verdict = SUBMISSIONS[name]
    graded = grade_of(server, operator, text)
    assert graded["text"].startswith(verdict), graded


def test_the_command_line_grades_a_submission(suite: Path, tmp_path: Path) -> None:
    operator, text, verdict = SUBMISSIONS["right"]
    source = tmp_path / "submission.py"
    source.write_text(text, encoding="utf-8")
    done = assay("eval", "--suite", str(suite), operator, str(source), "--device", "cpu")
    assert done.stdout.startswith(verdict), done.stdout + done.stderr


def test_a_bench_of_an_imported_suite_ends_in_a_report(suite: Path, tmp_path: Path) -> None:
    command = ["bench", "--suite", str(suite), "--model", "sim:7", "--device", "cpu"]
    done = assay(*command, "--store", str(tmp_path / "store.db"), "--out", str(tmp_path / "bench"))
    assert "pass@1" in done.stdout, done.stdout + done.stderr
    assert "level1_1_norm" in done.stdout and "level1_2_clip" in done.stdout


def test_the_level_is_checked(suite: Path, tmp_path: Path) -> None:
    for level in ([], ["--level", "4"]):
        done = assay("import", "kernelbench", str(tmp_path), *level, "--out", str(tmp_path / "x"))
        assert done.returncode != 0 and "--level" in done.stderr, done.stderr
