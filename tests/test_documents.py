"""Checks the documents: the paths, functions, links and anchors in them exist, the index is
complete, and lines are short enough.

Documents are README.md, CONTRIBUTING.md and everything below docs/. A path is a word in backticks
with a folder and an ending, such as `sandbox/job/job.h`. A name without a folder is not checked."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted((ROOT / "docs").rglob("*.md"))
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
GENERATED = ROOT / "docs/reference/generated"
COLUMNS = 100
MOST_HOPS = 12
# Paths that a running program or a reader creates. They are not in the repository.
MADE = (
    "bench-out/",
    "build/",
    "SUITE/",
    "my-suite/",
    "OUT/",
    "HARNESS/",
    "data/",
    "/",
    "~",
    ".cursor/",
    ".junie/",
    ".vscode/",
)
MADE += (".gemini/", ".venv/", "include/", "lib64/")
PLACEHOLDER = re.compile(r"NAME|AGENT|OPERATOR|SUITE|TARGET")
TRACKED = set(
    subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
)
FOLDERS = {str(parent) for name in TRACKED for parent in Path(name).parents}

PATH = re.compile(r"`([\w.~/*{},-]+/[\w.*{},-]*\.(?:h|cc|py|md|toml|json|sh|txt)|[\w/.-]+/)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} +(.*)$", re.MULTILINE)
HOP = re.compile(r"^\d+\. .*?`([\w/.]+\.(?:cc|h|py))` *(?:→|:|,)? *`([\w:~]+)\(?\)?`", re.MULTILINE)


def without_code(text: str) -> str:
    """Removes the text of fenced blocks and generated parts, but keeps the number of lines."""

    def blank(match: re.Match[str]) -> str:
        return "\n" * match[0].count("\n")

    written = r"^<!-- \S+ writes this -->.*?^<!-- to here -->|^```.*?^```"
    return re.sub(written, blank, text, flags=re.MULTILINE | re.DOTALL)


def name(document: Path) -> str:
    return str(document.relative_to(ROOT))


def anchors(document: Path) -> set[str]:
    """Returns the anchors that GitHub makes from a document's headings."""
    found: set[str] = set()
    for heading in HEADING.findall(without_code(document.read_text(encoding="utf-8"))):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        number = 1
        while (unique := anchor if number == 1 else f"{anchor}-{number - 1}") in found:
            number += 1
        found.add(unique)
    return found


def expanded(path: str) -> list[str]:
    """Expands `a.{h,cc}` to two names."""
    braces = re.search(r"\{([^}]*)\}", path)
    if braces is None:
        return [path]
    return [path.replace(braces[0], one) for one in braces[1].split(",")]


def exists(path: str) -> bool:
    if "*" in path:
        return any(Path(file).match(path) for file in TRACKED)
    return path in TRACKED or path.rstrip("/") in FOLDERS


def paths(document: Path) -> Iterator[str]:
    for path in PATH.findall(without_code(document.read_text(encoding="utf-8"))):
        if not path.startswith(MADE) and not PLACEHOLDER.search(path):
            yield from expanded(path)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_path_exists(document: Path) -> None:
    assert sorted({path for path in paths(document) if not exists(path)}) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_link_leads_somewhere(document: Path) -> None:
    dead = []
    for link in LINK.findall(without_code(document.read_text(encoding="utf-8"))):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        file = (document.parent / target).resolve() if target else document
        if not file.exists() or (anchor and anchor not in anchors(file)):
            dead.append(link)
    assert dead == []


@pytest.mark.parametrize(
    "document", [one for one in DOCUMENTS if GENERATED not in one.parents], ids=name
)
def test_lines_fit(document: Path) -> None:
    """Checks the width of lines. Only tables, comments, code and lines with a long link may be
    wider."""
    wide = []
    for number, line in enumerate(
        without_code(document.read_text(encoding="utf-8")).splitlines(), start=1
    ):
        breakable = re.sub(r"\]\([^)]*\)", "]()", line)
        if len(breakable) > COLUMNS and not line.lstrip().startswith(("|", "<!-- ")):
            wide.append(f"{number}: {line}")
    assert wide == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_the_rows_of_a_table_are_alike(document: Path) -> None:
    """Checks that all rows of a table have the same number of cells. A pipe in a cell must be
    written as `\\|`, even in code. Otherwise it begins another cell."""
    columns, broken = 0, []
    for number, line in enumerate(document.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.startswith("|"):
            columns = 0
            continue
        cells = len(re.findall(r"(?<!\\)\|", line))
        columns = columns or cells
        if cells != columns:
            broken.append(f"{number}: {line}")
    assert broken == []


def test_the_index_lists_every_document() -> None:
    index = ROOT / "docs/README.md"
    listed = {
        (index.parent / link.partition("#")[0]).resolve()
        for link in LINK.findall(index.read_text(encoding="utf-8"))
        if "://" not in link
    }
    assert [name(one) for one in DOCS if one != index and one not in listed] == []


def test_every_hop_of_the_architecture_is_in_the_code() -> None:
    text = (ROOT / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    section = re.search(
        r"^## One submission, traced\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL
    )
    assert section, "the section with the hops is gone"
    numbered = re.findall(r"^\d+\. ", section[1], re.MULTILINE)
    hops = HOP.findall(section[1])
    assert 0 < len(hops) == len(numbered) <= MOST_HOPS, "each hop names a file, then a function"
    missing = [
        f"{function} in {file}"
        for file, function in hops
        if not (ROOT / file).is_file()
        or not re.search(
            rf"\b{re.escape(function.split('::')[-1])}\b", (ROOT / file).read_text(encoding="utf-8")
        )
    ]
    assert missing == []


def test_readme_fits_two_screens() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 95


def test_the_first_run_on_amd_installs_what_setup_asks_for() -> None:
    asked = re.search(r"-c 'import (.+?)'", (ROOT / "run").read_text())
    assert asked
    text = (ROOT / "docs/how-to/first-run-on-amd.md").read_text()
    installed = " ".join(re.findall(r"pip install (.+)", text))
    # A PyTorch for ROCm brings its own Triton.
    assert [name for name in asked[1].split(", ") if name not in installed] == ["triton"]
    # The programs do not remember which Python `./run setup` used.
    assert "export ASSAY_PYTHON=$PWD/rocm/bin/python" in text
