"""Tries the adapters with the real libraries from PyPI. `./run clients` runs this file; the normal
suite leaves it out, because the libraries are large. A library that needs a newer Python than this
one runs in that of Debian 13, which only root can make."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/clients"))
REQUIREMENTS = {
    "verifiers": ("verifiers==0.4.0", "httpx"),
    "openenv": ("openenv-core==0.3.0", "httpx"),
    "inspect_ai": ("inspect_ai==0.3.285", "mcp==2.3.0"),  # as tests/clients/test_inspect_ai.py
    "nemo_gym": ("nemo-gym==0.4.0", "httpx"),
    "verl": (  # without most of what it asks for: these are the packages that it imports here
        "verl==0.9.1",
        "aiohttp",
        "codetiming",
        "hydra-core",
        "pylatexenc",  # of slime
        "ray==2.60.0",
        "tensordict==0.10.0",
        "transformers==5.5.3",
        "httpx",
    ),
    "harbor": ("harbor==0.26.0", "httpx"),
}
NEWER = {"nemo_gym": (3, 12), "harbor": (3, 13)}  # the Python that a library needs

INSTALL_S = 1_800
SHARED = {"slime": "verl"}  # the library whose Python another one uses


def python_of(name: str) -> str:
    """Returns the Python that has the library: ASSAY_ADAPTERS/NAME/bin/python, or a new one."""
    name = SHARED.get(name, name)
    folder = os.environ.get("ASSAY_ADAPTERS")
    if folder:
        found = Path(folder) / name / "bin/python"
        if not found.exists():
            pytest.skip(f"{found} does not exist")
        return str(found)
    if sys.version_info < NEWER.get(name, ()):
        return newer_python_of(name)
    from python_clients import python_with

    try:
        bare = name == "verl"  # it also shares PyTorch with the Python of the tests
        return str(python_with(*REQUIREMENTS[name], alone=bare, shared=bare))
    except subprocess.CalledProcessError:
        pytest.skip(f"pip cannot install {REQUIREMENTS[name][0]} for this Python")


def newer_python_of(name: str) -> str:
    if os.geteuid() != 0:
        pytest.skip(f"{name} needs a newer Python, which only root can make")
    command = [str(ROOT / "packaging/newer_python.sh"), name, *REQUIREMENTS[name]]
    made = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_S)
    assert made.returncode == 0, made.stderr[-4000:]
    return made.stdout.splitlines()[-1]


def seen(name: str, url: str, tmp_path: Path, *more: str) -> Any:
    script = Path(__file__).parent / "adapter_checks.py"
    done = subprocess.run(
        [python_of(name), str(script), name, url, str(tmp_path), *more],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_verifiers(url: str, tmp_path: Path) -> None:
    found = seen("verifiers", url, tmp_path)
    assert sorted(found["names"]) == ["relu", "vector_add"]
    assert found["pass"]["rewards"] == {"kevin": 0.3}
    assert found["fail"]["rewards"] == {"kevin": 0.0}
    assert found["ours"]["error"] == "TaskError" and 0.0 not in found["ours"]["rewards"].values()


def test_openenv(url: str, tmp_path: Path) -> None:
    found = seen("openenv", url, tmp_path)
    assert found["operator"] == "vector_add" and found["count"] == 3
    assert found["steps"] == [
        [None, False, False, True],
        [0.0, True, False, False],
        [0.3, True, True, False],
    ]
    assert "completion" in found["action"] and found["health"] == 200


def test_inspect_ai(url: str, tmp_path: Path) -> None:
    found = seen("inspect_ai", url, tmp_path)
    assert found["status"] == "success", found["error"]
    assert {"finish", "submit", "run_tests"} <= set(found["tools"])
    assert found["scores"] == [{"correct": 1, "reward": 0.3}]


def test_nemo_gym(url: str, tmp_path: Path) -> None:
    found = seen("nemo_gym", url, tmp_path)
    assert found["verdicts"] == [[0.3, False, True], [0.0, False, False], [0.0, True, False]]


def test_verl(url: str, tmp_path: Path) -> None:
    expected = [[0.3, 0], [0.0, 0], [0.0, 1]]
    assert seen("verl", url, tmp_path) == {"naive": expected, "dapo": expected}


def test_slime(url: str, tmp_path: Path) -> None:
    """slime is not on PyPI. ASSAY_SLIME is a checkout of it, and its Python is that of verl, whose
    packages it needs too."""
    if "ASSAY_SLIME" not in os.environ:
        pytest.skip("ASSAY_SLIME names no checkout of slime")
    found = seen("slime", url, tmp_path)
    assert found == {"group": [[0.3, False], [0.0, False], [0.0, True]], "one": 0.3}


def test_harbor(url: str, tmp_path: Path) -> None:
    found = seen("harbor", url, tmp_path)
    assert found == {"name": "assay/vector_add", "instruction": True, "timeout": 600.0}


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_a_policy_learns_through_the_adapter(name: str, url: str, tmp_path: Path) -> None:
    """The policy of examples/train_tiny_policy.py begins with a third of wrong answers."""
    found = seen(name, url, tmp_path, "train")
    assert sorted(found) == ["relu", "vector_add"]
    assert all(wrong < 0.05 for wrong in found.values()), found
