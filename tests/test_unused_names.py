"""Checks that each source uses the names that it declares with `using` and the namespaces that it
renames. clang-tidy has checks for this, but they look only at the file that clang-tidy is given.
tests/clang_tidy.py gives it files that include the sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("base", "operators", "metrics", "sandbox", "tools", "server", "reference_agents")
DECLARATION = re.compile(r"^\s*using (?:\w+::)+(\w+);|^\s*namespace (\w+) = [\w:]+;", re.MULTILINE)
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


def unused(text: str) -> list[str]:
    """Returns the declared names that the rest of a source does not contain."""
    code = COMMENT_OR_TEXT.sub("", text)
    rest = DECLARATION.sub("", code)
    declared = [used or renamed for used, renamed in DECLARATION.findall(code)]
    return [name for name in declared if not re.search(rf"\b{name}\b", rest)]


def test_each_declared_name_is_used() -> None:
    sources = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.cc")]
    assert len(sources) > 100
    wrong = {str(path.relative_to(ROOT)): unused(path.read_text()) for path in sources}
    wrong = {path: names for path, names in wrong.items() if names}
    assert not wrong, f"declared, but not used: {wrong}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("using tools::Job;\nJob job;", []),
        ("using tools::Job;\n// Job\nJobs jobs;", ["Job"]),
        ("namespace fs = std::filesystem;\nfs::path path;", []),
        ('namespace fs = std::filesystem;\nint fsx; f("fs");', ["fs"]),
    ],
)
def test_an_unused_name_is_found(text: str, expected: list[str]) -> None:
    assert unused(text) == expected
