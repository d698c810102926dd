"""Runs commands on a suite whose operator has no oracle. Lint makes every check that is not about
the oracle, and each answer with a Perf says that it compares with PyTorch eager."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from stdio_client import StdioClient, serve_command
from tool_calls import grade_of

Run = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).resolve().parent.parent.parent
MODEL = ROOT / "operators/standard/vector_add"
NAME = "sum_of_two"
UNSOUND, BAD_CONFIG = 1, 78
IMPORTED = "imported = true\n"
BASELINE = 'baseline = "torch_eager"\n'


def add_operator(suite: Path, keys: str = IMPORTED + BASELINE) -> Path:
    """Adds a copy of vector_add without its oracle. `keys` are more keys of its spec.toml."""
    folder = suite / "standard" / NAME
    shutil.copytree(MODEL, folder, ignore=shutil.ignore_patterns("__pycache__", "oracle.py"))
    for path in folder.iterdir():
        path.write_text(path.read_text().replace("vector_add", NAME))
    (folder / "spec.toml").write_text(keys + (folder / "spec.toml").read_text())
    return folder


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_lint_checks_everything_but_the_oracle(assay: Run, tmp_path: Path) -> None:
    folder = add_operator(tmp_path / "suite")
    out = tmp_path / "lint.json"
    lint = ("operators", "--suite", str(tmp_path / "suite"), "lint", "--out", str(out))
    done = assay(*lint)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "oracle none: Perf compares with PyTorch eager" in done.stdout
    report = json.loads(out.read_text())["operators"][0]
    assert report["sound"] and report["mutants"] == report["killed"] > 10

    replace(folder / "spec.toml", "scale = 100", "scale = 0.01")
    replace(folder / "reference.py", "return x + y", "return x + y + torch.rand_like(x) / 1e9")
    done = assay(*lint)
    assert done.returncode == UNSOUND, done.stdout + done.stderr
    for words in ("rejects inputs down-cast to bfloat16: ", "reference is deterministic"):
        assert words in done.stdout


def test_an_operator_of_ones_own_needs_an_oracle(assay: Run, tmp_path: Path) -> None:
    add_operator(tmp_path, BASELINE)
    done = assay("operators", "--suite", str(tmp_path), "lint")
    assert done.returncode == UNSOUND, done.stdout + done.stderr
    assert "key 'baseline' is 'torch_eager', which is only for an operator of an imported" in (
        done.stdout
    )


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (IMPORTED, "oracle.py: no such file"),
        (IMPORTED + 'baseline = "none"\n', "key 'baseline' is 'none'; valid: oracle, torch_eager"),
    ],
)
def test_a_missing_oracle_must_be_declared(
    assay: Run, tmp_path: Path, keys: str, words: str
) -> None:
    add_operator(tmp_path, keys)
    done = assay("operators", "--suite", str(tmp_path), "lint")
    assert done.returncode == BAD_CONFIG
    assert words in done.stderr


def test_a_grade_names_the_baseline_of_its_perf(assay: Run, tmp_path: Path) -> None:
    add_operator(tmp_path / "suite")
    source = tmp_path / "mine.py"
    source.write_text(f"# fake: perf=2.5\ndef {NAME}(x, y):\n    return x\n")
    evaluate = ("eval", NAME, str(source), "--suite", str(tmp_path / "suite"), "--device", "fake")
    done = assay(*evaluate, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    verdict = json.loads(done.stdout)
    assert (verdict["baseline"], verdict["perf"]) == ("torch_eager", 2.5)
    shown = assay(*evaluate)
    assert "(PyTorch eager latency / yours" in shown.stdout
    assert "oracle" not in shown.stdout


def test_a_submission_passes_without_a_gpu_and_without_an_oracle(
    binary: str, tmp_path: Path
) -> None:
    """Grades on one server, which costs as much as one `assay eval`."""
    add_operator(tmp_path / "suite")
    oracle = (MODEL / "oracle.py").read_text().replace("vector_add", NAME)
    suite = ("--suite", str(tmp_path / "suite"))
    server = StdioClient(serve_command(binary, "cpu", tmp_path / "assay.db", *suite))
    verdict = grade_of(server, NAME, oracle)
    wrong = grade_of(server, NAME, oracle.replace("(x + y)", "(x - y)"))
    server.close()
    assert verdict["outcome"] == "pass" and "perf" not in verdict, verdict["text"]
    assert (wrong["outcome"], wrong["error_kind"]) == ("fail", "wrong_result"), wrong["text"]
    assert server.process.returncode == 0
