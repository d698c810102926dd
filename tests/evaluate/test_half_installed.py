"""Checks what a trainer and an operator learn if the server's PyTorch is only half installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from http_serving import Server, serving

LACKS = "libtorch_cpu.so: cannot open shared object file"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A Python whose torch cannot be imported."""
    folder = tmp_path / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin/python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = Path(subprocess.check_output([str(python), "-I", "-c", ask], text=True).strip())
    for name, text in (("numpy", ""), ("torch", f"raise ImportError({LACKS!r})\n")):
        (packages / name).mkdir()
        (packages / name / "__init__.py").write_text(text)
    state = str(tmp_path / "state")
    return {**os.environ, "ASSAY_PYTHON": str(python), "ASSAY_STATE_DIR": state}


def evaluate(server: Server, device: str, source: str) -> dict[str, Any]:
    member = {"operator": "vector_add", "source": source, "device": device}
    body = {"evaluations": [member], "wait_ms": 30_000, "rewards": ["kevin"]}
    status, _, text = server.request("POST", "/v1/evaluate", json.dumps(body))
    assert status == 200, text
    found: dict[str, Any] = json.loads(text)["evaluations"][0]
    return found


def test_the_result_is_masked_and_other_devices_work(
    binary: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    arguments = ("--device", "fake")
    with serving(binary, tmp_path, *arguments, device="cpu", environment=environment) as server:
        found = evaluate(server, "cpu", "def vector_add(x, y): return x + y\n")
        assert (found["outcome"], found["infra"], found["masked"]) == ("error", True, True), found
        assert found["rewards"] == {"kevin": None}
        assert LACKS in found["summary"]
        assert evaluate(server, "fake", "# fake: pass\n")["outcome"] == "pass"


def test_doctor_names_the_cause(binary: str, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [binary, "doctor"], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode != 0
    assert LACKS in done.stdout
