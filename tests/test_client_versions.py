"""Tests that the table of tested clients names the versions that the tests install."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def installed() -> dict[str, str]:
    """Returns the version of each package that a test installs, by the package's name."""
    found: dict[str, str] = {}
    for package in ("tests/node/package.json", "tests/node/command_lines/package.json"):
        found |= json.loads((ROOT / package).read_text())["dependencies"]
    for line in (ROOT / "requirements.txt").read_text().splitlines():
        if pin := re.match(r"([\w.-]+)(?:\[\w+\])?==([\w.]+)", line):
            found[pin[1]] = pin[2]
    for package in ("fastmcp", "inspect_ai"):
        test = (ROOT / f"tests/clients/test_{package}.py").read_text()
        version = re.search(r'^VERSION = "(.+)"$', test, re.MULTILINE)
        assert version
        found[package] = version[1]
    frameworks = (ROOT / "tests/clients/test_frameworks.py").read_text()
    found |= dict(re.findall(r'^    "([\w-]+)": "([\d.]+)",$', frameworks, re.MULTILINE))
    return found


def test_the_table_of_clients_has_the_versions_that_are_tested() -> None:
    page = (ROOT / "docs/how-to/connect-a-client.md").read_text()
    table = page.partition("## Tested versions")[2]
    rows = re.findall(r"^\| `([^`]+)`[^|]* \| ([^ |]+) \|", table, re.MULTILINE)
    assert len(rows) >= 9
    versions = installed()
    assert {name: versions.get(name) for name, _ in rows} == dict(rows)
