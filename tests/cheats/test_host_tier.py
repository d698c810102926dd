"""Checks the tier `host`: no cheat passes there, and honest submissions do. Without a GPU, the
server has a GPU with the fake driver. Its submissions of this tier run in Triton's interpreter."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cheat_server import CheatServer, Results
from conftest import ROOT
from host_tier_addresses import ADDRESSES
from host_tier_cases import CHEATS, HONEST
from host_tier_origins import ORIGINS
from tool_calls import verdict_of

CASES = {**CHEATS, **HONEST, **ADDRESSES, **ORIGINS}
LARGEST = 20_000  # elements


def suite_of_small_cases(folder: Path) -> Path:
    """Makes a suite whose only operator is vector_add without its large cases, because the
    interpreter is slow."""
    made, source = folder / "standard/vector_add", ROOT / "operators/standard/vector_add"
    shutil.copytree(source, made)
    head, *cases = (source / "spec.toml").read_text(encoding="utf-8").split("[[cases]]")
    small = [case for case in cases if int(re.findall(r"n = (\d+)", case)[0]) <= LARGEST]
    (made / "spec.toml").write_text("[[cases]]".join([head, *small]), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def fake_gpu_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CheatServer]:
    binary = Path(os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay")))
    program = binary.with_name("assay_on_fake_gpu")
    assert os.access(program, os.X_OK), f"{program} is not built; `ninja assay_on_fake_gpu` does it"
    folder = tmp_path_factory.mktemp("host_tier")
    suite = ("--suite", str(suite_of_small_cases(folder / "suite")))
    server = CheatServer(str(program), "cuda:0", folder, *suite, control=False)
    try:
        yield server
    finally:
        status = server.close()
    assert status == 0, f"the server ended with status {status}"


def check(server: CheatServer, name: str, seen_there: dict[str, Any]) -> None:
    case = CASES[name]
    verdict: dict[str, Any] = verdict_of(
        server.client,
        "run_tests",
        {"operator": "vector_add", "code": case.source(server.prelude), "language": "python"},
    )
    seen = verdict["outcome"]
    if seen != "pass":
        seen += f":{verdict['error_kind']}"
    right = seen in case.expect.split(",") and verdict["tier"] == "host"
    seen_there[name] = {"seen": seen, "problems": [] if right else [verdict["summary"]]}
    assert right, verdict["summary"]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if not case.only_gpu])
def test_submission_on_the_host_tier_of_a_fake_gpu(
    fake_gpu_server: CheatServer, results: Results, name: str
) -> None:
    check(fake_gpu_server, name, results.setdefault("host tier, fake GPU", {}))


@pytest.mark.gpu
@pytest.mark.parametrize("name", CASES)
def test_submission_on_the_host_tier_of_a_gpu(
    host_tier_server: CheatServer, results: Results, name: str
) -> None:
    check(host_tier_server, name, results.setdefault("host tier, GPU", {}))
