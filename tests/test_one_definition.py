"""Checks that certain texts are each in only one C++ source, although several parts of the product
use them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CPP = ("base", "metrics", "operators", "reference_agents", "sandbox", "server", "tools")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMMENT = re.compile(r"(?m)^\s*//[^\n]*$|\s//\s[^\n]*$")

# Maps a text to the only source whose string literals may contain the text.
OWNERS: dict[str, str] = {
    r"\(no model\)": "reference_agents/llm/llm_client.h",
    # A literal with two targets is a copy of the list of targets. No source may contain such a
    # copy, because messages are built from the list itself.
    r"(cuda|hip):\w+, (cuda|hip):\w+": "",
}


def literals(source: str) -> list[str]:
    """Returns the string literals of a C++ source. Joins adjacent literals, as the compiler
    does."""
    code = re.sub(r'"\s*\n\s*"', "", COMMENT.sub("", source))
    return LITERAL.findall(code)


def holders(pattern: str) -> set[str]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *CPP]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    names = [name for name in listed.stdout.splitlines() if name.endswith((".cc", ".h"))]
    assert len(names) > 300
    return {
        name
        for name in names
        if (ROOT / name).is_file()
        and any(re.search(pattern, text) for text in literals((ROOT / name).read_text()))
    }


@pytest.mark.parametrize("pattern", OWNERS)
def test_only_the_owner_has_the_text(pattern: str) -> None:
    assert holders(pattern) == {owner for owner in [OWNERS[pattern]] if owner}


def test_literals_are_found() -> None:
    assert literals('f("a, "\n  "b");  // "c"\n// "d"\nconst char* e = "\\"e\\"";') == [
        "a, b",
        '\\"e\\"',
    ]
