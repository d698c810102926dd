"""Tests which changes make an importer import a file again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "importers/common"))
sys.path.insert(0, str(ROOT / "importers/tritonbench"))

import import_digest  # noqa: E402
from benchmark_file import GoldenFile  # noqa: E402
from checkout import Provenance  # noqa: E402
from import_exchange import Result  # noqa: E402
from suite_folder import SuiteFolder, SuiteName  # noqa: E402


def test_the_digest_covers_what_an_import_runs_and_nothing_else() -> None:
    covered = {
        path.relative_to(ROOT).as_posix()
        for path in import_digest.sources(import_digest.STEPS + import_digest.TRACE_STEPS)
    }
    golden = {
        path.relative_to(ROOT).as_posix() for path in ROOT.glob("importers/tritonbench/golden_*.py")
    }
    assert golden <= covered
    imported = (ROOT / "sandbox/harness/imported").glob("*.py")
    assert {path.relative_to(ROOT).as_posix() for path in imported} <= covered
    assert "sandbox/harness/recording/record.py" in covered  # a step imports it in a function
    new_operators = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.glob("importers/new_operator/operator_*.py")
    }
    new_operators.add("importers/new_operator/new_operator.py")
    assert len(new_operators) > 5 and not new_operators & covered
    assert not [path for path in covered if path.startswith("sandbox/harness/cuda_cpp/")]


def test_a_change_of_a_covered_file_changes_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "first.py").write_text("def f():\n    from package import second\n")
    (tmp_path / "package/__init__.py").write_text("")
    (tmp_path / "package/second.py").write_text("import third\n")
    (tmp_path / "third.py").write_text("x = 1\n")
    (tmp_path / "fourth.py").write_text("")
    monkeypatch.setattr(import_digest, "ROOT", tmp_path)
    monkeypatch.setattr(import_digest, "FOLDERS", (tmp_path,))
    before = import_digest.importer_digest(("first",))
    (tmp_path / "fourth.py").write_text("y = 2\n")
    assert import_digest.importer_digest(("first",)) == before
    seen = {before}
    for name in ("first.py", "package/__init__.py", "package/second.py", "third.py"):
        (tmp_path / name).write_text((tmp_path / name).read_text() + "# changed\n")
        seen.add(import_digest.importer_digest(("first",)))
    assert len(seen) == 5


def golden() -> GoldenFile:
    return GoldenFile("a.py", "x", "", 1, Provenance("B", "", ""))


@pytest.mark.parametrize(
    ("kind", "again"), [("timeout", True), ("memory_limit", True), ("", False)]
)
def test_a_file_that_reached_a_limit_is_imported_with_other_limits(
    tmp_path: Path, kind: str, again: bool
) -> None:
    report = {"tier": "neither", "kind": kind, "reason": "", "operators": []}
    name = SuiteName("b", "")
    with SuiteFolder(tmp_path / "suite", {}, name, {"timeout_s": 1}) as suite:
        suite.keep(golden(), Result(dict(report)))
        assert suite.has(golden())
    with SuiteFolder(tmp_path / "suite", {}, name, {"timeout_s": 2}) as suite:
        assert suite.has(golden()) is not again


def test_a_suite_has_a_name_and_a_version(tmp_path: Path) -> None:
    with SuiteFolder(tmp_path / "suite", {}, SuiteName("bench-g", "603e28a")):
        pass
    text = (tmp_path / "suite/suite.toml").read_text()
    assert text == 'name = "bench-g"\nversion = "603e28a"\n'
    with SuiteFolder(tmp_path / "suite", {}, SuiteName("bench-g", "")):
        pass
    assert (tmp_path / "suite/suite.toml").read_text() == 'name = "bench-g"\n'
