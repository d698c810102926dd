"""Every header compiles alone: whoever includes it needs nothing before it."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("base", "operators", "metrics", "sandbox", "tools", "server", "reference_agents")
FIRST_INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)', re.MULTILINE)


def headers() -> list[str]:
    found = sorted(
        path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.h")
    )
    assert len(found) > 20
    return found


def source_of(header: str) -> Path:
    return (ROOT / header).with_suffix(".cc")


def compiler() -> list[str]:
    """The compiler and flags of the release build's main.cc, without optimisation, input and
    output."""
    commands = json.loads((ROOT / "build/release/compile_commands.json").read_text())
    entry = next(item for item in commands if item["file"].endswith("server/main.cc"))
    words = shlex.split(entry["command"])
    keep = [word for word in words if word.startswith(("-I", "-D", "-std=", "-W"))]
    system = [words[i + 1] for i, word in enumerate(words) if word == "-isystem"]
    return [
        "g++",
        "-fsyntax-only",
        *keep,
        *(flag for path in system for flag in ("-isystem", path)),
        "-x",
        "c++",
        "-",
    ]


def compile_alone(header: str, command: list[str]) -> str:
    """What the compiler says when it is not content."""
    text = f'#include "{header}"\n#include "{header}"\n'
    done = subprocess.run(command, input=text, capture_output=True, text=True, cwd=ROOT)
    return f"{header}:\n{done.stderr[:600]}" if done.returncode != 0 else ""


def test_a_source_includes_its_header_first() -> None:
    """So that the build itself proves that the header needs nothing before it."""
    firsts = {
        header: FIRST_INCLUDE.search(source_of(header).read_text())
        for header in headers()
        if source_of(header).exists()
    }
    wrong = [
        header for header, first in firsts.items() if first is None or first.group(1) != header
    ]
    assert not wrong, f"not the first include of their own source: {wrong}"


def test_headers_without_a_source_compile_alone() -> None:
    alone = [header for header in headers() if not source_of(header).exists()]
    command = compiler()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        failures = [
            said
            for said in threads.map(lambda header: compile_alone(header, command), alone)
            if said
        ]
    assert not failures, "\n".join(failures)
