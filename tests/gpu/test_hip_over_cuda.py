"""Runs a server whose launchers use the HIP driver, over stand-in libraries that pass HIP's calls on
to CUDA (tests/hip_over_cuda), on an NVIDIA GPU: every oracle is judged, the times of oracles are
compared with those of the CUDA driver, and the cheats that need a GPU are refused.

    ninja -C build/release assay_hip_over_cuda
    pytest tests/gpu/test_hip_over_cuda.py

ASSAY_HIP_OVER_CUDA_RESULTS  a folder that gets a JSON file from each test
ASSAY_HIP_OVER_CUDA_SECONDS  the time of each test; what it does not reach is stored as not run
                             (default: no limit)
ASSAY_HIP_OVER_CUDA_FIRST    the names of cheats that are sent before all others, with commas between
                             them, for a run whose time may not reach all"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from stdio_client import META, StdioClient, serve_command
from tool_calls import verdict_of

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cheats"))

from cheat_file import cheats  # noqa: E402
from cheat_server import CheatServer  # noqa: E402
from environment import environment  # noqa: E402

pytestmark = pytest.mark.gpu
BUILD = Path(os.environ.get("ASSAY_BUILD", str(ROOT / "build/release")))
OVER_HIP, OVER_CUDA = BUILD / "bin/assay_hip_over_cuda", BUILD / "bin/assay"
SECONDS = float(os.environ.get("ASSAY_HIP_OVER_CUDA_SECONDS", "inf"))
FIRST = tuple(filter(None, os.environ.get("ASSAY_HIP_OVER_CUDA_FIRST", "").split(",")))
# The features that the HIP driver refuses by name, as its errors name them.
REFUSED = ("AMD GPUs have",)
IN_FLIGHT = 12  # the number of oracles that are judged at a time
# Operators whose large cases take from 25 us to 2 ms on an H200, with one kernel and with several.
TIMED = (
    "vector_add",
    "softmax_last_dim",
    "fused_add_rms_norm",
    "decode_attn_gqa",
    "selective_scan_mamba1",
    "rope_neox",
    "adamw_step",
    "flash_decode_splitkv",
    "csr_spmm",
    "matmul_fp16",
)
REPEATS = 3
SHORT_NS = 10_000  # shorter times are not compared
LARGEST_DIFFERENCE = 0.02  # of the medians, as a part
WAIT_S = 20


def store(name: str, found: dict[str, Any]) -> None:
    folder = os.environ.get("ASSAY_HIP_OVER_CUDA_RESULTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        result = {"environment": environment(), **found}
        (Path(folder) / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")


def unsupported(verdict: dict[str, Any]) -> str:
    """Returns why the machine cannot judge the submission, for example because Triton lacks the
    dialect TLX. Otherwise returns an empty text."""
    return str(verdict.get("summary")) if verdict.get("error_kind") == "unsupported" else ""


def oracle_of(operator: str) -> str:
    return next((ROOT / "operators").glob(f"*/{operator}/oracle.py")).read_text()


@pytest.fixture(scope="module")
def hip_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StdioClient]:
    assert OVER_HIP.exists(), f"{OVER_HIP} is not built; ninja builds assay_hip_over_cuda"
    folder = tmp_path_factory.mktemp("hip")
    client = StdioClient(serve_command(OVER_HIP, "cuda:0", folder / "assay.db"))
    yield client
    client.close()


def judge_all(client: StdioClient, operators: list[str], seconds: float) -> dict[str, Any]:
    """Sends the oracles to the server, several at a time. Returns the verdicts by operator."""
    verdicts: dict[str, Any] = {}
    waiting = list(reversed(operators))
    asked: dict[int, str] = {}
    begin = time.monotonic()

    def ask(operator: str, tool: str, arguments: dict[str, Any]) -> None:
        client.next_id += 1
        asked[client.next_id] = operator
        params = {"name": tool, "arguments": {**arguments, "response_format": "detailed"}}
        client.write(client.next_id, "tools/call", {**params, "_meta": META})

    while asked or waiting:
        while waiting and len(asked) < IN_FLIGHT and time.monotonic() - begin < seconds:
            operator = waiting.pop()
            ask(operator, "run_tests", {"operator": operator, "code": oracle_of(operator)})
        if not asked:
            break
        message = client.read()
        if message.get("id") not in asked:
            continue
        operator = asked.pop(message["id"])
        verdict = message.get("result", {}).get("structuredContent", message)
        if verdict.get("status") == "running" or verdict.get("state") in ("queued", "running"):
            ask(operator, "job", {"job": verdict["job"], "wait_s": WAIT_S})
        else:
            verdicts[operator] = verdict
    return verdicts


def test_oracles_are_judged_through_hip(hip_server: StdioClient) -> None:
    operators = sorted(
        folder.parent.name
        for folder in (ROOT / "operators").glob("*/*/oracle.py")
        if (folder.parent / "spec.toml").exists()
    )
    begin = time.monotonic()
    verdicts = judge_all(hip_server, operators, SECONDS)
    rows: dict[str, Any] = {}
    for operator in operators:
        verdict = verdicts.get(operator)
        if verdict is None:
            rows[operator] = {"outcome": "not run"}
            continue
        refused = next((one for one in REFUSED if one in str(verdict.get("detail"))), "")
        rows[operator] = {
            key: verdict.get(key) for key in ("outcome", "tier", "error_kind", "summary")
        } | {"refused": refused or unsupported(verdict)}
    passed = [name for name, row in rows.items() if row["outcome"] == "pass"]
    refused = [name for name, row in rows.items() if row.get("refused")]
    wrong = [
        name
        for name, row in rows.items()
        if row["outcome"] not in ("pass", "not run") and not row["refused"]
    ]
    store(
        "oracles",
        {
            "passed": len(passed),
            "refused": refused,
            "wrong": wrong,
            "not_run": [name for name, row in rows.items() if row["outcome"] == "not run"],
            "seconds": time.monotonic() - begin,
            "oracles": rows,
        },
    )
    assert not wrong, {name: rows[name] for name in wrong}
    assert passed and all(rows[name]["tier"] == "plan" for name in passed)


def time_of(client: StdioClient, operator: str, case: str) -> float:
    arguments = {"operator": operator, "code": oracle_of(operator), "case": case}
    verdict = verdict_of(client, "profile", arguments)
    assert verdict["outcome"] == "pass", verdict["text"]
    latency: float = verdict["cases"][0]["latency"]["median_ns"]
    return latency


def largest_case(client: StdioClient, operator: str) -> str:
    verdict = verdict_of(client, "profile", {"operator": operator, "code": oracle_of(operator)})
    assert verdict["outcome"] == "pass", verdict["text"]
    case: str = verdict["cases"][0]["id"]
    return case


def test_times_of_oracles_are_those_of_the_cuda_driver(
    hip_server: StdioClient, tmp_path: Path
) -> None:
    cuda_server = StdioClient(serve_command(OVER_CUDA, "cuda:0", tmp_path / "assay.db"))
    begin = time.monotonic()
    rows: dict[str, Any] = {}
    try:
        for operator in TIMED:
            if time.monotonic() - begin > SECONDS:
                rows[operator] = "not run"
                continue
            case = largest_case(cuda_server, operator)
            times: dict[str, list[float]] = {"hip": [], "cuda": []}
            for repeat in range(REPEATS):
                servers = [("hip", hip_server), ("cuda", cuda_server)]
                for name, server in servers if repeat % 2 == 0 else reversed(servers):
                    times[name].append(time_of(server, operator, case))
            hip_ns, cuda_ns = median(times["hip"]), median(times["cuda"])
            rows[operator] = {
                "case": case,
                "hip_ns": hip_ns,
                "cuda_ns": cuda_ns,
                "hip_over_cuda": hip_ns / cuda_ns,
                "all_ns": times,
            }
    finally:
        cuda_server.close()
        store("oracle-times", {"operators": rows, "seconds": time.monotonic() - begin})
    compared = {name: row for name, row in rows.items() if row != "not run"}
    assert compared
    different = {
        name: row
        for name, row in compared.items()
        if row["cuda_ns"] > SHORT_NS and abs(row["hip_over_cuda"] - 1) > LARGEST_DIFFERENCE
    }
    assert not different, different


def test_cheats_that_need_a_gpu_are_refused_through_hip(tmp_path: Path) -> None:
    from test_cheats import problems_of

    cases = [one for one in cheats() if one.device == "gpu" and one.expected_on("gpu") is not None]
    assert set(FIRST) <= {case.name for case in cases}, FIRST
    cases.sort(key=lambda case: case.name not in FIRST)
    begin = time.monotonic()
    rows: dict[str, Any] = {}
    server = CheatServer(str(OVER_HIP), "cuda:0", tmp_path, "--no-host-tier")
    try:
        for case in cases:
            if time.monotonic() - begin > SECONDS:
                rows[case.name] = {"seen": "not run", "problems": []}
                continue
            verdict = server.send(case)
            refused = next((one for one in REFUSED if one in str(verdict.get("detail"))), "")
            problems = problems_of(server, case, verdict, "gpu")
            declared = case.expected_on("gpu")
            # Clocks differ between the drivers, so a cheat may be noticed by another check.
            if declared is not None and "pass" not in (declared.outcome, verdict["outcome"]):
                problems = []
            rows[case.name] = {
                "seen": f"{verdict.get('outcome')}:{verdict.get('error_kind')}",
                # A cheat by a feature that HIP lacks is refused for this feature.
                "refused": refused,
                "problems": [] if refused and verdict["outcome"] != "pass" else problems,
                "summary": verdict.get("summary"),
            }
        control = server.control()
    finally:
        server.close()
        store("cheats", {"cheats": rows, "seconds": time.monotonic() - begin})
    assert control["outcome"] == "pass", control
    got_through = {name: row for name, row in rows.items() if row["problems"]}
    assert not got_through, got_through
