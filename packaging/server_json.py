"""Writes server.json, with which the MCP registry lists Assay, and the marker in README.md by which the
registry knows that a package on PyPI belongs to it.

    python packaging/server_json.py                     # the version of CMakeLists.txt
    python packaging/server_json.py --owner OWNER       # the owner on GitHub, when it is known

The registry knows a server by its name: io.github.OWNER belongs to this owner on GitHub. The same
name stands in the label of the image (packaging/oci/Containerfile)."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
UNKNOWN_OWNER = "OWNER"
OWNER = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?")
NAME = re.compile(r"io\.github\.[A-Za-z0-9-]+/assay")
# Each option with which a container runtime lets the jail work (docs/how-to/use-a-container.md).
JAIL_OPTIONS = ("seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined")


def version() -> str:
    found = re.search(
        r"^project\(assay VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M
    )
    if found is None:
        raise SystemExit("server_json: CMakeLists.txt has no version")
    return found[1]


def variables() -> list[dict[str, Any]]:
    return [
        {
            "name": "ASSAY_PYTHON",
            "description": "A Python that has torch and triton; by default that of `assay setup`",
            "format": "filepath",
        },
        {
            "name": "ASSAY_STATE_DIR",
            "description": "The folder of the store and of caches",
            "format": "filepath",
        },
    ]


def arguments() -> list[dict[str, Any]]:
    return [
        {"type": "positional", "value": "serve"},
        {"type": "positional", "value": "--stdio"},
    ]


def document(owner: str) -> dict[str, Any]:
    runtime = [
        {"type": "named", "name": "--security-opt", "value": one, "isRepeated": True}
        for one in JAIL_OPTIONS
    ]
    stdio = {"type": "stdio"}
    return {
        "$schema": SCHEMA,
        "name": f"io.github.{owner}/assay",
        "title": "Assay",
        "description": "Judges GPU kernels in Triton and CUDA C++ that agents write, in a sandbox",
        "version": version(),
        "repository": {"url": f"https://github.com/{owner}/assay", "source": "github"},
        "packages": [
            {
                "registryType": "pypi",
                "identifier": "assay",
                "version": version(),
                "runtimeHint": "uvx",
                "transport": stdio,
                "packageArguments": arguments(),
                "environmentVariables": variables(),
            },
            {
                "registryType": "oci",
                "identifier": f"ghcr.io/{owner.lower()}/assay:{version()}",
                "runtimeHint": "docker",
                "transport": stdio,
                "runtimeArguments": runtime,
                "packageArguments": arguments(),
            },
        ],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--owner", default=UNKNOWN_OWNER, help="the owner on GitHub")
    options = parser.parse_args()
    if not OWNER.fullmatch(options.owner):
        parser.error(f"'{options.owner}' is no owner on GitHub: letters, digits and hyphens")
    text = json.dumps(document(options.owner), indent=2) + "\n"
    (ROOT / "server.json").write_text(text)
    name = f"io.github.{options.owner}/assay"
    for path in (ROOT / "README.md", ROOT / "packaging/oci/Containerfile"):
        path.write_text(NAME.sub(name, path.read_text()))
    print(f"server.json: {name} {version()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
