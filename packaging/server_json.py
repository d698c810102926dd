"""Writes server.json, with which the MCP registry lists Assay, and the marker in README.md by which the
registry knows that a package on PyPI belongs to it.

    ASSAY_OWNER=octo-org python packaging/server_json.py     # or --owner octo-org

The tree names no owner. The release workflow sets ASSAY_OWNER to the owner of its repository, and
runs this script before it builds the packages. The registry knows a server by its name, for example
io.github.octo-org/assay, and octo-org on GitHub owns this name. `--name` prints it, for the label
of the image (packaging/oci/Containerfile)."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
OWNER = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?")
MARKER = re.compile(r"^<!-- mcp-name: \S+ -->\n", re.M)
# Each option with which a container runtime lets the jail work (docs/how-to/use-a-container.md).
JAIL_OPTIONS = ("seccomp=unconfined", "apparmor=unconfined", "systempaths=unconfined")


def server_name(owner: str) -> str:
    return f"io.github.{owner}/assay"


def with_marker(readme: str, owner: str) -> str:
    """Returns the README with the marker below its title."""
    title, _, rest = MARKER.sub("", readme).partition("\n")
    return f"{title}\n<!-- mcp-name: {server_name(owner)} -->\n{rest}"


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
        "name": server_name(owner),
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
    parser.add_argument(
        "--owner",
        default=os.environ.get("ASSAY_OWNER", ""),
        help="the owner on GitHub (default: ASSAY_OWNER)",
    )
    parser.add_argument(
        "--name", action="store_true", help="print the server's name, write nothing"
    )
    options = parser.parse_args()
    if not options.owner:
        parser.error("name the owner on GitHub: --owner, or ASSAY_OWNER")
    if not OWNER.fullmatch(options.owner):
        parser.error(f"'{options.owner}' is no owner on GitHub: letters, digits and hyphens")
    if options.name:
        print(server_name(options.owner))
        return 0
    text = json.dumps(document(options.owner), indent=2) + "\n"
    (ROOT / "server.json").write_text(text)
    readme = ROOT / "README.md"
    readme.write_text(with_marker(readme.read_text(), options.owner))
    print(f"server.json: {server_name(options.owner)} {version()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
