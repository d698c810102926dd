"""Every header compiles alone: whoever includes it needs nothing before it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNITS = ROOT / "build/header_units"  # kept, so that ccache answers for headers that have not changed
FOLDERS = ("base", "operators", "sandbox", "tools", "server", "reference_agents")


def compiler() -> list[str]:
    """The compiler and flags of the release build's first source, without optimisation, input and output."""
    commands = json.loads((ROOT / "build/release/compile_commands.json").read_text())
    entry = next(item for item in commands if item["file"].endswith("server/main.cc"))
    words = shlex.split(entry["command"])
    keep = [word for word in words if word.startswith(("-I", "-D", "-std=", "-W"))]
    system = [words[i + 1] for i, word in enumerate(words) if word == "-isystem"]
    cache = [ccache] if (ccache := shutil.which("ccache")) else []
    return [*cache, "g++", "-O0", *keep, *(flag for path in system for flag in ("-isystem", path))]


def compile_alone(header: Path, command: list[str]) -> str:
    """What the compiler says when it is not content."""
    name = header.relative_to(ROOT).as_posix()
    unit = UNITS / f"{name.replace('/', '_')}.cc"
    unit.write_text(f'#include "{name}"\n#include "{name}"\n')
    done = subprocess.run([*command, "-c", str(unit), "-o", f"{unit}.o"], capture_output=True, text=True, cwd=ROOT)
    return f"{name}:\n{done.stderr[:600]}" if done.returncode != 0 else ""


def test_headers_compile_alone() -> None:
    headers = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.h"))
    assert len(headers) > 20
    UNITS.mkdir(parents=True, exist_ok=True)
    command = compiler()
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        failures = [said for said in threads.map(lambda header: compile_alone(header, command), headers) if said]
    assert not failures, "\n".join(failures)
