"""Checks that the example in the comment at the top of each header compiles.

An example may use variables that it does not declare. For each top-level folder,
`header_examples/` has a TOML file that declares these variables. The file also lists further
headers that an example needs:

    ["server/app/files.h"]
    variables = ["const sandbox::Verdict& verdict"]
    includes = ["sandbox/launcher/plan/plan.h"]

Each example becomes the body of a function in the namespace of its header. With
`outside_functions = true` it becomes the content of the namespace, because a function cannot
contain a template. Indented text directly below a line of prose, such as the content of a file, is
not an example. The examples of one folder are compiled together, without code generation.

    python tests/test_header_examples.py FOLDER...

prints the errors of some folders."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/common")]

from foreign_headers import FOLDERS, headers, parsed  # noqa: E402

TABLES = ROOT / "tests/header_examples"
EXAMPLE_LINE = re.compile(r"//   (.*)")
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{$", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    header: str
    line: int  # the number of the example's first line in the header
    code: tuple[str, ...]
    namespace: str
    variables: tuple[str, ...] = field(default=())
    includes: tuple[str, ...] = field(default=())
    outside_functions: bool = False


def table() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for folder in FOLDERS:
        entries = tomllib.loads((TABLES / f"{folder}.toml").read_text())
        outside = [header for header in entries if not header.startswith(f"{folder}/")]
        assert not outside, f"{folder}.toml: {outside}"
        found |= entries
    return found


def example_lines(text: str) -> tuple[int, list[str]]:
    """Returns the number of the example's first line, and the lines of the example. The example is
    in the header's first comment. An indented line directly below a line of prose belongs to a
    list and not to the example."""
    first, code, prose = 0, [], False
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("//"):
            break
        if (found := EXAMPLE_LINE.fullmatch(line)) and not prose:
            first = first or number
            code.append(found.group(1))
            continue
        prose = line != "//"
        if code:
            code.append("")
    return first, code


def examples() -> list[Example]:
    entries = table()
    found = []
    for header in headers():
        entry = entries.get(header, {})
        text = (ROOT / header).read_text()
        line, code = example_lines(text)
        if not code:
            continue
        namespace = NAMESPACE.search(text)
        found.append(
            Example(
                header,
                line,
                tuple(code),
                namespace.group(1) if namespace else "assay",
                tuple(entry.get("variables", ())),
                tuple(entry.get("includes", ())),
                entry.get("outside_functions", False),
            )
        )
    return found


def translation_unit(group: list[Example]) -> str:
    """Returns the source to compile. Its #line directives make the compiler report an error with
    the line of the header."""
    includes = sorted({name for one in group for name in (one.header, *one.includes)})
    lines = [f'#include "{name}"' for name in includes]
    for number, one in enumerate(group):
        lines += [
            f"namespace {one.namespace} {{",
            f"namespace example_{number} {{"
            if one.outside_functions
            else f"inline auto example_{number}({', '.join(one.variables)}) {{",
            f'#line {one.line} "{one.header}"',
            *one.code,
            "}",
            "}",
        ]
    return "\n".join(lines) + "\n"


def compile_group(group: list[Example]) -> str:
    """Returns the compiler's errors."""
    command = [*parsed(), "-fsyntax-only", "-w", "-ferror-limit=0"]
    command += ["-fno-caret-diagnostics", "-x", "c++", "-"]
    done = subprocess.run(
        command, input=translation_unit(group), capture_output=True, text=True, cwd=ROOT
    )
    return done.stderr if done.returncode != 0 else ""


def test_examples_compile() -> None:
    groups: dict[Path, list[Example]] = {}
    for one in examples():
        groups.setdefault(Path(one.header).parent, []).append(one)
    assert len(groups) > 20
    parsed()  # once, before the threads need it
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        failures = [said for said in threads.map(compile_group, groups.values()) if said]
    assert not failures, "\n".join(failures)


def test_the_tables_name_headers_with_an_example() -> None:
    wrong = [
        header
        for header in table()
        if not (ROOT / header).is_file() or not example_lines((ROOT / header).read_text())[1]
    ]
    assert not wrong


def test_a_broken_example_is_found() -> None:
    """Checks that a compiler error makes the test fail and names the line of the header."""
    wrong = Example("base/result.h", 3, ("no_such_function();",), "assay")
    assert "base/result.h:3" in compile_group([wrong])


if __name__ == "__main__":
    for name in sys.argv[1:]:
        chosen = [one for one in examples() if str(Path(one.header).parent) == name.rstrip("/")]
        print(compile_group(chosen) or f"{name}: {len(chosen)} examples compile")
