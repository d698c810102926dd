"""Runs clang-tidy over the product's sources: tests/clang_tidy.py [JOBS]

The release build compiles the sources of one folder or of several as one file, which includes
them. This script joins such files, and gives the result to clang-tidy. Most of the time goes into
foreign headers, and clang-tidy reads them once for each file. `HeaderFilterRegex` in
.clang-tidy makes clang-tidy report findings in the included sources.

The script does not join folders that may define the same name in an unnamed namespace. If joined
folders still do not compile without warnings, the script checks each of them separately."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
JOINED = ROOT / "build/tidy"
FOLDERS = ("base", "server", "tools", "sandbox", "operators", "metrics", "reference_agents")
# The folder that is not checked. It includes the headers of Python and torch, which do not pass the
# checks.
LEFT_OUT = "sandbox/harness/native"
# The maximum number of source lines in a joined file. At this size there are enough files to keep
# all cores busy, and clang-tidy needs less than 2 GiB for one file.
MOST_LINES = 6000

INCLUDE = re.compile(r'^#include "(/[^"]+\.cc)"', re.MULTILINE)
UNNAMED = re.compile(r"^namespace \{$(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
# Matches the names that a line may define: names before one of these signs or before the end of the
# line.
DEFINED = re.compile(r"([A-Za-z_]\w*)\s*(?:\(|\{|=|;|\[|:(?!:)|$)")
# Lines that define nothing, or that several sources may contain.
HARMLESS = re.compile(r"(using|namespace|static_assert|return)\b|\W")
MAIN = re.compile(r"^int main\(", re.MULTILINE)
COMPILER = "[clang-diagnostic-"


@dataclass
class Group:
    """Files that the script gives to clang-tidy as one file."""

    files: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    lines: int = 0


def commands() -> dict[str, list[str]]:
    """Maps each file that the release build compiles to the flags for it. Leaves out tests."""
    found = {}
    for command in json.loads((BUILD / "compile_commands.json").read_text()):
        path = Path(command["file"])
        base = BUILD if path.is_relative_to(BUILD) else ROOT
        relative = path.relative_to(base).as_posix()
        ours = relative.startswith((*FOLDERS, "CMakeFiles/assay_"))
        if ours and not relative.startswith(LEFT_OUT):
            words = shlex.split(command["command"])
            found[command["file"]] = [
                word
                for before, word in pairwise(words)
                if not {"-o", "-c"} & {before, word} and word not in ("-fPIC", "-fPIE")
            ]
    return found


def flags() -> list[str]:
    """Returns the flags of all files, each flag once. Any file can be compiled with all of them,
    because files differ only in include folders, and in definitions that only one library uses."""
    found: dict[tuple[str, ...], None] = {}
    for words in commands().values():
        at = iter(words)
        found.update(((word, next(at)) if word == "-isystem" else (word,), None) for word in at)
    defined = [words[0].split("=")[0] for words in found if words[0].startswith("-D")]
    assert len(defined) == len(set(defined)), f"a name has two definitions: {defined}"
    return [word for words in found for word in words]


def texts(file: str) -> list[str]:
    """Returns the text of a source, or the texts of the sources that a folder's file includes."""
    text = Path(file).read_text()
    included = INCLUDE.findall(text)
    return [Path(name).read_text() for name in included] or [text]


def own_names(text: str) -> set[str]:
    """Returns the names that a source defines only for itself: `main`, and names in unnamed
    namespaces. The result may contain some other names."""
    found = {"main"} if MAIN.search(text) else set()
    for block in UNNAMED.findall(text):
        for line in block.splitlines():
            if not HARMLESS.match(line):
                found.update(DEFINED.findall(line))
    return found


def groups() -> list[Group]:
    found: list[Group] = []
    for file in sorted(commands()):
        contents = texts(file)
        names = {name for text in contents for name in own_names(text)}
        lines = sum(text.count("\n") for text in contents)
        fits = (
            group
            for group in found
            if group.lines + lines <= MOST_LINES and not group.names & names
        )
        group = next(fits, None)
        if group is None:
            found.append(group := Group())
        group.files.append(file)
        group.names |= names
        group.lines += lines
    return sorted(found, key=lambda group: -group.lines)


def tidy(file: Path) -> str:
    """Returns clang-tidy's findings. Returns an empty text if there are none."""
    # GCC's flags contain warnings that clang does not know. -Wshadow is off, because a name of one
    # folder may shadow a name of another folder in the same joined file. The builds join no
    # folders, and they find names that really shadow others.
    without = ["-Wno-unknown-warning-option", "-Wno-shadow"]
    command = ["clang-tidy", "--quiet", str(file), "--", *flags(), *without]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return done.stdout + done.stderr if done.returncode != 0 else ""


def check(number: int, group: Group) -> str:
    joined = JOINED / f"{number}.cc"
    joined.write_text("".join(f'#include "{file}"\n' for file in group.files))
    said = tidy(joined)
    if COMPILER in said and len(group.files) > 1:
        print(f"clang-tidy: these give warnings together: {group.files}", flush=True)
        said = "".join(tidy(Path(file)) for file in group.files)
    return said


def main() -> int:
    chosen = groups()
    files = sum(len(group.files) for group in chosen)
    if files < 20:
        print(f"clang-tidy: only {files} sources in {BUILD}/compile_commands.json")
        return 1
    JOINED.mkdir(parents=True, exist_ok=True)
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count()
    with ThreadPoolExecutor(jobs) as threads:
        said = threads.map(check, range(len(chosen)), chosen)
        findings = [one for one in said if one]
    print("\n".join(findings))
    print(f"clang-tidy: {files} files in {len(chosen)} groups, {len(findings)} with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
