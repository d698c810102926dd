"""Tests the jail of the judges of an imported suite. The judge executes the suite's references, which
are code of others. Each case in judges/ is such a reference: it makes its attempts when the judge
loads it, and raises an exception if one succeeds. A correct submission then cannot pass."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from canaries import Canaries
from case_header import Expectation, read_header
from conftest import HERE, ROOT, Results
from table import JUDGE_KEYS

OPERATOR = ROOT / "operators/standard/vector_add"
CASES = sorted((HERE / "judges").glob("*.py"))


@pytest.fixture
def folder() -> Iterator[Path]:
    """Returns a folder outside of /tmp, because the jail has its own /tmp."""
    (ROOT / "build").mkdir(exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix="escapes-", dir=ROOT / "build"))
    yield made
    shutil.rmtree(made)


def imported_suite(folder: Path, attempt: str) -> Path:
    """Makes a suite with an imported operator. Its reference makes an attempt."""
    copy = folder / "suite/standard/vector_add"
    shutil.copytree(OPERATOR, copy)
    spec = (copy / "spec.toml").read_text()
    (copy / "spec.toml").write_text(spec.replace("summary =", "imported = true\nsummary =", 1))
    with (copy / "reference.py").open("a") as stream:
        stream.write("\n\n" + attempt)
    return folder / "suite"


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem, marks=pytest.mark.short) for path in CASES]
)
def test_the_reference_of_an_imported_suite_is_jailed(
    path: Path, folder: Path, binary: str, results: Results
) -> None:
    header = read_header(path, required=set(JUDGE_KEYS), optional=set())
    expected = Expectation.parse(header["expect"], path.name)
    # The jail shows the folder above the suite, with nothing but the suite. So the canaries have a
    # folder of their own.
    (folder / "host").mkdir()
    canaries = Canaries(folder / "host")
    attempt = path.read_text().replace(
        "CANARIES: dict = {}", f"CANARIES: dict = {canaries.addresses()!r}", 1
    )
    suite = imported_suite(folder, attempt)
    done = subprocess.run(
        [
            binary,
            "eval",
            "vector_add",
            str(OPERATOR / "oracle.py"),
            "--suite",
            str(suite),
            "--device",
            "cpu",
            "--mode",
            "test",
            "--json",
        ],
        env={**os.environ, **canaries.environment(), "ASSAY_STATE_DIR": str(folder / "state")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    verdict = json.loads(done.stdout)
    problems = canaries.touched()
    canaries.close()
    if problem := expected.problem_with(verdict):
        problems.append(f"{problem}: {verdict['summary']}")
    if canaries.secret in done.stdout:
        problems.append("the answer has the secret")
    results[path.stem] = {
        "seen": f"{verdict['outcome']}:{verdict['error_kind']}",
        "problems": problems,
    }
    assert not problems, "\n".join(problems)
