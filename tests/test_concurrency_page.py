"""Checks that each class, function and file that docs/explanation/concurrency.md names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/explanation/concurrency.md"
FOLDERS = ("base", "sandbox", "server", "tools")
NAMES = sorted(set(re.findall(r"`([^`\n]+)`", PAGE.read_text(encoding="utf-8"))))
FILES = [name for name in NAMES if re.fullmatch(r"[a-z_]+(/[a-z_]+)+\.(h|cc)", name)]
CLASSES = [name for name in NAMES if re.fullmatch(r"[A-Z][A-Za-z]+", name)]
MEMBERS = [name for name in NAMES if re.fullmatch(r"[A-Z][A-Za-z]+::\w+", name)]


def code() -> str:
    return "\n".join(
        path.read_text(encoding="utf-8")
        for folder in FOLDERS
        for pattern in ("*.h", "*.cc")
        for path in sorted((ROOT / folder).rglob(pattern))
    )


CODE = code()


def test_the_page_names_classes_files_and_members() -> None:
    assert len(CLASSES) > 10
    assert len(FILES) > 10
    assert len(MEMBERS) > 10


@pytest.mark.parametrize("name", FILES)
def test_each_file_exists(name: str) -> None:
    assert (ROOT / name).is_file()


@pytest.mark.parametrize("name", CLASSES)
def test_each_class_exists(name: str) -> None:
    assert re.search(rf"\b(class|struct)\s+(ASSAY_\w+(\([^)]*\))?\s+)?{name}\b[^;]*{{", CODE)


@pytest.mark.parametrize("name", MEMBERS)
def test_each_member_exists(name: str) -> None:
    owner, member = name.split("::")
    body = re.search(
        rf"\b(class|struct)\s+(?:ASSAY_\w+(?:\([^)]*\))?\s+)?{owner}\b[^;{{]*{{(.*?)\n}};",
        CODE,
        re.S,
    )
    enum = re.search(rf"\benum class {owner}\b[^{{]*{{(.*?)}};", CODE, re.S)
    found = body.group(2) if body else enum.group(1) if enum else ""
    assert re.search(rf"\b{member}\b", found)
