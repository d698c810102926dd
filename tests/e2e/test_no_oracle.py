"""Runs commands on a suite whose operator has no oracle. Lint makes every check that is not about
the oracle, and each answer with a Perf says that it compares with PyTorch eager."""

from __future__ import annotations

import json
import os
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
NAME, OWN = "sum_of_two", "own_sum"
UNSOUND, BAD_CONFIG = 1, 78
IMPORTED = "imported = true\n"
BASELINE = 'baseline = "torch_eager"\n'


def add_operator(suite: Path, keys: str = IMPORTED + BASELINE, name: str = NAME) -> Path:
    """Adds a copy of vector_add without its oracle. `keys` are more keys of its spec.toml."""
    folder = suite / "standard" / name
    shutil.copytree(MODEL, folder, ignore=shutil.ignore_patterns("__pycache__", "oracle.py"))
    for path in folder.iterdir():
        path.write_text(path.read_text().replace("vector_add", name))
    (folder / "spec.toml").write_text(keys + (folder / "spec.toml").read_text())
    return folder


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_lint_checks_everything_but_the_oracle(assay: Run, tmp_path: Path) -> None:
    add_operator(tmp_path / "suite")
    out = tmp_path / "lint.json"
    done = assay("operators", "--suite", str(tmp_path / "suite"), "lint", "--out", str(out))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "oracle none: Perf compares with PyTorch eager" in done.stdout
    report = json.loads(out.read_text())["operators"][0]
    assert report["sound"] and report["mutants"] == report["killed"] > 10


@pytest.fixture(scope="module")
def unsound(binary: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Lints two operators that are not sound, at once: an imported one, and one of one's own.
    Returns what lint says about each."""
    folder = tmp_path_factory.mktemp("unsound")
    imported = add_operator(folder / "suite")
    replace(imported / "spec.toml", "scale = 100", "scale = 0.01")
    replace(imported / "reference.py", "return x + y", "return x + y + torch.rand_like(x) / 1e9")
    add_operator(folder / "suite", BASELINE, OWN)
    done = subprocess.run(
        [binary, "operators", "--suite", str(folder / "suite"), "lint"],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "ASSAY_STATE_DIR": str(folder / "state")},
    )
    assert done.returncode == UNSOUND, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    return {
        name: "\n".join(line for line in lines if line.startswith(f"FAIL {name}"))
        for name in (NAME, OWN)
    }


def test_lint_finds_mistakes_without_an_oracle(unsound: dict[str, str]) -> None:
    for words in ("rejects inputs down-cast to bfloat16: ", "reference is deterministic"):
        assert words in unsound[NAME]


def test_an_operator_of_ones_own_needs_an_oracle(unsound: dict[str, str]) -> None:
    words = "key 'baseline' is 'torch_eager', which is only for an operator of an imported"
    assert words in unsound[OWN]


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
