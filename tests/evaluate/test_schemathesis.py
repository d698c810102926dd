"""Checks a server on the fake device against its own OpenAPI document with schemathesis. `./run
clients` runs this file. Set ASSAY_SCHEMATHESIS to a program `schemathesis` that is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/clients"))
EXAMPLES = os.environ.get("ASSAY_SCHEMATHESIS_EXAMPLES", "40")


def program() -> str:
    if found := os.environ.get("ASSAY_SCHEMATHESIS"):
        return found
    from python_clients import python_with

    return str(python_with("schemathesis==4.32.5").parent / "schemathesis")


def test_the_server_keeps_its_document(url: str, tmp_path: Path) -> None:
    # A batch with a broken member is accepted, because its other members go on. So the check that
    # invalid data is refused does not apply.
    command = [program(), "run", f"{url}/v1/openapi.json", "--url", url]
    command += ["--max-examples", EXAMPLES, "--seed", "1", "--suppress-health-check", "all"]
    command += ["--exclude-checks", "negative_data_rejection,positive_data_acceptance"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
