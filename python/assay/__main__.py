"""Starts the program `assay` that a wheel carries: `assay`, `python -m assay`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

BINARY = Path(__file__).resolve().parent / "_bundle" / "bin" / "assay"
EXIT_UNAVAILABLE = 69  # as of the other commands: something that is needed cannot be used


def main() -> int:
    """Replaces this process by the program. Returns only if the program cannot be started."""
    try:
        os.execv(BINARY, ["assay", *sys.argv[1:]])
    except OSError as error:
        print(f"assay: {BINARY} cannot be started: {error}", file=sys.stderr)
        return EXIT_UNAVAILABLE


if __name__ == "__main__":
    sys.exit(main())
