"""Makes the Python in which jobs run: `assay setup` starts this file.

    python3 packaging/make_python.py --folder ~/.local/share/assay/python --torch any

Makes a virtual environment in the folder, and installs PyTorch, Triton and what jobs need, by the
versions in requirements.txt, from the index that pip is configured with. Does nothing if the folder
has them already. A folder that could not be finished is removed."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The packages of requirements.txt that jobs need. The others are for tests.
NEEDED = re.compile(r"(torch|triton|numpy|nvidia-[a-z0-9-]+|safetensors|tomli)==")
LOCAL_CPU_VERSION = "+cpu"
MODULE = re.compile(r"_native\.cpython-(\d)(\d+)-")
EXIT_UNAVAILABLE = 69
PROBE = (
    "import torch, triton, numpy; print(f'torch {torch.__version__}, triton {triton.__version__}')"
)


def requirements(text: str, build: str) -> list[str]:
    """Returns the requirements of jobs. `build` is a build of PyTorch: any, cpu or cuda."""
    found = [line.partition("#")[0].strip() for line in text.splitlines()]
    needed = [line for line in found if NEEDED.match(line)]
    if build != "cpu":
        return needed
    return [line + LOCAL_CPU_VERSION if line.startswith("torch==") else line for line in needed]


def versions(python: Path) -> str:
    """Returns the versions of PyTorch and Triton, or "" if this Python cannot import them."""
    if not python.exists():
        return ""
    probe = subprocess.run([python, "-I", "-c", PROBE], capture_output=True, text=True)
    return probe.stdout.strip() if probe.returncode == 0 else ""


def served(harness: Path) -> list[str]:
    """Returns the versions of Python for which the package has the native module."""
    tags = [MODULE.match(path.name) for path in harness.glob("_native.*")]
    found = sorted((int(tag[1]), int(tag[2])) for tag in tags if tag)
    return [f"{major}.{minor}" for major, minor in found]


def compile_harness(python: Path) -> None:
    """Compiles the Python files that every start of a server imports, if they can be written."""
    harness = ROOT / "sandbox" / "harness"
    if os.access(harness, os.W_OK):
        subprocess.run(
            [python, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash", harness],
            check=False,
        )


def install(folder: Path, build: str) -> bool:
    """Returns whether the folder has become a Python with all that jobs need."""
    venv.create(folder, with_pip=True, clear=True)
    python = folder / "bin" / "python"
    wanted = requirements((ROOT / "requirements.txt").read_text(), build)
    triton = [line for line in wanted if line.startswith("triton==")]
    others = [line for line in wanted if line not in triton]
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
    # A build of PyTorch with CUDA asks for a Triton of its own. Assay's verdicts belong to the
    # Triton of requirements.txt, so that one is installed afterwards, in its place.
    for words in (others, ["--no-deps", *triton]):
        if subprocess.run([*pip, *words]).returncode != 0:
            return False
    return versions(python) != ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--torch", choices=["any", "cpu", "cuda"], default="any")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    known = served(ROOT / "harness")
    if known and own not in known:
        print(
            f"assay setup: this package serves Python {', '.join(known)}, and {sys.executable} is "
            f"Python {own}. Start `assay setup` where python3 is one of them, or build the package "
            "with ASSAY_OTHER_PYTHONS.",
            file=sys.stderr,
        )
        return EXIT_UNAVAILABLE
    python = options.folder / "bin" / "python"
    found = "" if options.again else versions(python)
    if not found:
        if not install(options.folder, options.torch):
            shutil.rmtree(options.folder, ignore_errors=True)
            print(
                "assay setup: PyTorch and Triton could not be installed; pip's messages are above. "
                "pip takes packages from the index that its configuration names: PIP_INDEX_URL and "
                "PIP_EXTRA_INDEX_URL name others, and --torch cpu needs an index with CPU builds. "
                "ASSAY_PYTHON names a Python that has torch and triton already.",
                file=sys.stderr,
            )
            return EXIT_UNAVAILABLE
        found = versions(python)
    compile_harness(python)
    print(f"{python}: {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
