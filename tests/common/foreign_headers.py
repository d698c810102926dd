"""Parses the headers of the standard library and of third parties once, for all tests that compile
Assay's headers.

    command = parsed()  # ["clang++", ..., "-include-pch", "/tmp/.../outside.pch"]

Only clang can read the result. It contains every foreign header that a header of Assay includes, so
the compiler does not notice a header of Assay that lacks a foreign include."""

from __future__ import annotations

import atexit
import json
import re
import shlex
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ("base", "operators", "metrics", "sandbox", "tools", "server", "reference_agents")
# Headers that need the headers of Python, torch or CUDA, which are not installed everywhere.
LEFT_OUT = "sandbox/harness/"
FOREIGN = re.compile(r"^#include <([^>]+)>", re.MULTILINE)


@cache
def headers() -> tuple[str, ...]:
    """Returns the paths of Assay's headers."""
    found = sorted(
        path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.h")
    )
    return tuple(name for name in found if not name.startswith(LEFT_OUT))


def compiler() -> list[str]:
    """Returns a clang command with the include folders, definitions and C++ standard of the release
    build."""
    commands = json.loads((ROOT / "build/release/compile_commands.json").read_text())
    entry = next(item for item in commands if item["file"].endswith("server/main.cc"))
    words = shlex.split(entry["command"])
    keep = [word for word in words if word.startswith(("-I", "-D", "-std="))]
    system = [words[i + 1] for i, word in enumerate(words) if word == "-isystem"]
    return ["clang++", *keep, *(flag for path in system for flag in ("-isystem", path))]


@cache
def parsed() -> tuple[str, ...]:
    """Returns a clang command that starts with the parsed foreign headers.

    The templates that the foreign headers use are instantiated once as well. Otherwise each use of
    the result would instantiate them again, which takes far longer than most of Assay's headers."""
    folder = Path(tempfile.mkdtemp(prefix="assay-headers-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    outside = sorted(
        {name for header in headers() for name in FOREIGN.findall((ROOT / header).read_text())}
    )
    source, result = folder / "outside.h", folder / "outside.pch"
    source.write_text("".join(f"#include <{name}>\n" for name in outside))
    command = compiler()
    once = [*command, "-fpch-instantiate-templates", "-x", "c++-header", str(source)]
    subprocess.run([*once, "-o", str(result)], check=True, cwd=ROOT)
    return (*command, "-include-pch", str(result))
