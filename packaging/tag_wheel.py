"""Gives a wheel the tag of the oldest glibc on which its programs run.

    python packaging/tag_wheel.py build/raw/assay-0.1.0-py3-none-linux_x86_64.whl --out dist

The tag follows from the versions of glibc's symbols that the programs and libraries of the wheel
ask for, as manylinux defines it: `manylinux_2_36` runs on glibc 2.36 and newer. Prints the path of
the new wheel. Needs the package `wheel`."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ELF = b"\x7fELF"
VERSION = re.compile(rb"GLIBC_2\.(\d+)\b")
# The oldest tag that a wheel gets. PyTorch needs this glibc anyway.
OLDEST = 28


def glibc_minor(folder: Path) -> tuple[int, str]:
    """Returns the newest minor version of glibc that a file in the folder asks for, and the path of
    a file that asks for it."""
    newest, by = OLDEST, ""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.read_bytes()[:4] != ELF:
            continue
        needs = subprocess.run(["objdump", "-p", str(path)], check=True, capture_output=True).stdout
        minor = max((int(found) for found in VERSION.findall(needs)), default=0)
        if minor > newest:
            newest, by = minor, str(path.relative_to(folder))
    return newest, by


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="the folder of the new wheel")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        with zipfile.ZipFile(options.wheel) as wheel:
            wheel.extractall(scratch)
        minor, by = glibc_minor(Path(scratch))
    platform = f"manylinux_2_{minor}_x86_64"
    print(f"{by or 'no file'} needs glibc 2.{minor}", file=sys.stderr)
    subprocess.run(
        [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", platform]
        + [str(options.wheel)],
        check=True,
        stdout=sys.stderr,
    )
    [tagged] = options.wheel.parent.glob(f"*-{platform}.whl")
    options.out.mkdir(parents=True, exist_ok=True)
    print(tagged.replace(options.out / tagged.name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
