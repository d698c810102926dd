"""Every header compiles alone: whoever includes it needs nothing before it."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("base", "operators", "sandbox", "tools", "server", "reference_agents")


def compile_flags() -> list[str]:
    """The flags of the release build's first source, without its input and output."""
    commands = json.loads((ROOT / "build/release/compile_commands.json").read_text())
    entry = next(item for item in commands if item["file"].endswith("server/main.cc"))
    words = shlex.split(entry["command"])
    keep = [word for word in words if word.startswith(("-I", "-D", "-std=", "-W"))]
    system = [words[i + 1] for i, word in enumerate(words) if word == "-isystem"]
    return [*keep, *(flag for path in system for flag in ("-isystem", path))]


def test_headers_compile_alone(tmp_path: Path) -> None:
    headers = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.h"))
    assert len(headers) > 20
    flags = compile_flags()
    failures = []
    for header in headers:
        unit = tmp_path / "alone.cc"
        unit.write_text(f'#include "{header.relative_to(ROOT)}"\n#include "{header.relative_to(ROOT)}"\n')
        done = subprocess.run(["g++", *flags, "-fsyntax-only", str(unit)], capture_output=True, text=True, cwd=ROOT)
        if done.returncode != 0:
            failures.append(f"{header.relative_to(ROOT)}:\n{done.stderr[:600]}")
    assert not failures, "\n".join(failures)
