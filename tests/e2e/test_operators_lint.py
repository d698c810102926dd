"""Runs `assay operators lint` on typical mistakes in a new operator. Checks that the message for
each mistake names the file, the line and the remedy."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).resolve().parent.parent.parent
MODEL = ROOT / "operators/standard/vector_add"
UNSOUND, UNDECIDED, BAD_CONFIG = 1, 2, 78
# Maps each mistake to: the changed file, the old text, the new text, the exit status, and the text
# of the message.
MISTAKES = {
    "missing key": (
        "spec.toml",
        'dtype = "float32"\n',
        "",
        BAD_CONFIG,
        ["spec.toml:45: [[cases]] 'small': key 'dtype' is missing", "required:"],
    ),
    "unknown axis": (
        "spec.toml",
        'shape = ["n"]',
        'shape = ["m"]',
        BAD_CONFIG,
        ["spec.toml:17: [[arguments]] 'x': key 'shape'", "axes: n"],
    ),
    "no TOML": (
        "spec.toml",
        '"elementwise"',
        "elementwise",
        BAD_CONFIG,
        ["spec.toml:3: not valid TOML"],
    ),
    "shapes that do not fit": (
        "reference.py",
        "x = rng.normal((n,)",
        "x = rng.normal((n + 1,)",
        UNSOUND,
        [
            "spec.toml:46: OperatorError",
            "argument x is float32 [4113]; the spec says float32 [4112]",
        ],
    ),
    "a reference that draws numbers": (
        "reference.py",
        "return x + y",
        "return x + y + torch.rand_like(x)",
        UNSOUND,
        ["reference is deterministic", "reference.py:29: ", "no random numbers"],
    ),
    "a tolerance that lets mutants pass": (
        "spec.toml",
        "scale = 100",
        "scale = 0.01",
        UNSOUND,
        [
            "rejects inputs down-cast to bfloat16: ",
            "spec.toml:33: passes with a largest error of",
            "raise `scale`",
        ],
    ),
    "a tolerance that the oracle uses up": (
        "oracle.py",
        "(x + y)",
        "(x + y + 7e-5)",
        UNSOUND,
        ["case small, oracle: its error is", "lower the output's `scale`"],
    ),
    "no Python": (
        "reference.py",
        "return x + y",
        "return x +",
        UNSOUND,
        ["reference.py", "SyntaxError", "line 31"],
    ),
    "too few public cases for the interpreter": (
        "spec.toml",
        "interpreter = true",
        "interpreter = false",
        UNSOUND,
        [
            "spec.toml: [[cases]]: public cases with interpreter = true: 3 (three_elements, half, "
            "full_blocks); at least 4 are needed",
        ],
    ),
    "a hidden case that is a public one": (
        "spec.toml",
        "axes = { n = 3001 }",
        "axes = { n = 1027 }",
        UNSOUND,
        ["[[cases]] 'hidden_half': dtype, axes and distribution are those of case 'half'"],
    ),
    "a cost of its own": (
        "reference.py",
        "bytes=3 *",
        "bytes=2 *",
        UNSOUND,
        ["cost is the tensors' bytes: ", "reference.py:42: cost() says"],
    ),
}


def add_operator(suite: Path, name: str, file: str, old: str, new: str) -> Path:
    """Adds a copy of vector_add to the suite, with another name. In one file, replaces `old` by
    `new`, which is the mistake."""
    folder = suite / "standard" / name
    shutil.copytree(MODEL, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.iterdir():
        path.write_text(path.read_text().replace("vector_add", name))
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    return folder


def words_of(mistake: str) -> list[str]:
    return MISTAKES[mistake][4]


@pytest.mark.parametrize("mistake", [name for name in MISTAKES if MISTAKES[name][3] == BAD_CONFIG])
def test_a_mistake_in_the_spec_is_named_with_its_place_and_remedy(
    assay: Run, tmp_path: Path, mistake: str
) -> None:
    add_operator(tmp_path, "sum_of_two", *MISTAKES[mistake][:3])
    done = assay("operators", "--suite", str(tmp_path), "lint")
    assert done.returncode == BAD_CONFIG, done.stdout + done.stderr
    for words in words_of(mistake):
        assert words in done.stderr


@pytest.fixture(scope="module")
def linted(binary: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Lints a suite once and returns the output. The suite has one operator for each mistake that
    lint finds only by running the operator."""
    folder = tmp_path_factory.mktemp("lint")
    for name in MISTAKES:
        if MISTAKES[name][3] == UNSOUND:
            add_operator(folder / "suite", name.lower().replace(" ", "_"), *MISTAKES[name][:3])
    command = [binary, "operators", "--suite", str(folder / "suite"), "lint"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "ASSAY_STATE_DIR": str(folder / "state")},
    )
    assert done.returncode == UNSOUND, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("mistake", [name for name in MISTAKES if MISTAKES[name][3] == UNSOUND])
def test_a_mistake_is_named_with_its_place_and_remedy(linted: str, mistake: str) -> None:
    lines = "\n".join(
        line
        for line in linted.splitlines()
        if line.startswith("FAIL " + mistake.lower().replace(" ", "_"))
    )
    for words in words_of(mistake):
        assert words in lines, linted


def test_an_operator_is_not_decided_while_the_device_has_no_memory(
    assay: Run, tmp_path: Path
) -> None:
    no_memory = "raise torch.cuda.OutOfMemoryError('none is free')"
    add_operator(tmp_path / "suite", "too_large", "reference.py", "return x + y", no_memory)
    out = tmp_path / "lint.json"
    done = assay("operators", "--suite", str(tmp_path / "suite"), "lint", "--out", str(out))
    assert done.returncode == UNDECIDED, done.stdout + done.stderr
    assert "?    too_large: OutOfMemoryError: none is free" in done.stdout
    assert "not decided: too_large" in done.stdout and "FAIL" not in done.stdout
    report = json.loads(out.read_text())["operators"][0]
    assert report["failures"] == [] and report["sound"] is False


def test_an_operator_is_linted_again_only_when_something_changed(
    assay: Run, tmp_path: Path
) -> None:
    suite = tmp_path / "suite"
    oracle = (
        add_operator(suite, "sum_of_two", "spec.toml", "difficulty = 1", "difficulty = 2")
        / "oracle.py"
    )
    out = tmp_path / "lint.json"
    lint = ("operators", "--suite", str(suite), "lint", "--out", str(out))
    first = assay(*lint)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "unchanged" not in first.stdout
    report = json.loads(out.read_text())["operators"][0]
    assert (report["name"], report["sound"], report["killed"]) == (
        "sum_of_two",
        True,
        report["mutants"],
    )
    assert report["mutants"] > 20
    assert "all 11 cases record" in report["recorded"]
    assert report["interpreter_ms"] > 0
    assert {case["id"] for case in report["verdict"]["cases"]} == {
        "small",
        "three_elements",
        "half",
        "full_blocks",
        "hidden_small",
        "hidden_half",
    }

    second = assay(*lint)
    assert "1 of them unchanged" in second.stdout
    assert json.loads(out.read_text())["operators"] == [report]
    assert "unchanged" not in assay(*lint, "--fresh").stdout

    oracle.write_text(oracle.read_text().replace("(x + y)", "(x - y)"))
    changed = assay(*lint)
    assert changed.returncode == UNSOUND
    assert "FAIL sum_of_two, oracle: fail (wrong_result)" in changed.stdout
    assert "FAIL" in assay(*lint).stdout  # lint runs again after a failure
