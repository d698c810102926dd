"""Installs a Python client in a virtual environment of its own, because it needs packages that the
tests do not need otherwise.

    python = python_with("fastmcp==4.2.3")  # build/fastmcp/bin/python"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent.parent / "build"
INSTALL_S = 900
SESSION_S = 120


def python_with(requirement: str, *others: str, alone: bool = False, shared: bool = False) -> Path:
    """Returns the Python that has these packages. Installs them on first use. The folder has the
    name of the first package. If `alone` is true, the first package comes without the packages that
    it asks for. If `shared` is true, the Python also has the packages of this Python, such as PyTorch,
    which need not be downloaded again."""
    folder = BUILD / requirement.partition("==")[0]
    python = folder / "bin/python"
    installed = folder / "requirements"
    wanted = "\n".join((requirement, *others, f"{alone=}", f"{shared=}"))
    if not installed.exists() or installed.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        if shared:
            ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
            found = subprocess.check_output([str(python), "-I", "-c", ask], text=True).strip()
            Path(found, "shared.pth").write_text(sysconfig.get_path("purelib") + "\n")
        install = [str(python), "-m", "pip", "install", "-q"]
        if alone:
            subprocess.run([*install, "--no-deps", requirement], check=True, timeout=INSTALL_S)
        rest = others if alone else (requirement, *others)
        subprocess.run([*install, *rest], check=True, timeout=INSTALL_S)
        installed.write_text(wanted)
    return python


def run_session(python: Path, script: str, *arguments: str) -> dict[str, Any]:
    """Runs a script of this folder, which prints what it saw as JSON."""
    done = subprocess.run(
        [str(python), str(HERE / script), *arguments],
        capture_output=True,
        text=True,
        timeout=SESSION_S,
    )
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    return seen
