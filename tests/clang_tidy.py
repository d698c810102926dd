"""Runs clang-tidy over the product's sources: tests/clang_tidy.py [JOBS]

The release build compiles each folder as one file, which includes all sources of the folder. This
script gives these files to clang-tidy. So headers are parsed once for each folder, which takes a
fifth of the time of one run for each source. `HeaderFilterRegex` in .clang-tidy makes clang-tidy
report findings in the included sources.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
FOLDERS = ("base", "server", "tools", "sandbox", "operators", "metrics", "reference_agents")
# The folder that is not checked. It includes the headers of Python and torch, which do not pass the
# checks.
LEFT_OUT = "sandbox/harness/native"


def sources() -> list[str]:
    """Returns the files that the release build compiles. Leaves out tests."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    found = set()
    for command in commands:
        path = Path(command["file"])
        base = BUILD if path.is_relative_to(BUILD) else ROOT
        relative = path.relative_to(base).as_posix()
        ours = relative.startswith((*FOLDERS, "CMakeFiles/assay_"))
        if ours and not relative.startswith(LEFT_OUT):
            found.add(command["file"])
    return sorted(found)


def check(source: str) -> str:
    """Returns clang-tidy's findings in `source`. Returns an empty text if there are none."""
    command = ["clang-tidy", "-p", str(BUILD), "--quiet"]
    # GCC's flags contain warnings that clang does not know.
    command += ["--extra-arg=-Wno-unknown-warning-option", source]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout + done.stderr if done.returncode != 0 else ""


def main() -> int:
    files = sources()
    if len(files) < 20:
        print(f"clang-tidy: only {len(files)} sources in {BUILD}/compile_commands.json")
        return 1
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count()
    with ThreadPoolExecutor(jobs) as threads:
        findings = [said for said in threads.map(check, files) if said]
    print("\n".join(findings))
    print(f"clang-tidy: {len(files)} files, {len(findings)} with findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
