"""The tier that each golden file of TritonBench-G gets on real hardware: its operators' oracles through judge, recorder and launcher.

    assay import tritonbench-g .golden/TritonBench_G_v1 --out .golden/suite --jobs 8
    python bench/tritonbench_tiers.py .golden/suite --device cuda:0 --out bench-out/gpu/tritonbench-tiers.json

Every operator of the suite is judged on its public cases with its golden kernel part as the submission: fresh inputs from the test part,
expected outputs from the golden kernels in the judge. A file counts as `plan` when all of its operators pass there, as `host` when all pass
and one of them needed the GPU inside the jail, else as `neither`, with the reason. Files of which no operator could be made keep what the
importer saw.
"""

from __future__ import annotations

import argparse
import collections
import json
import queue
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from environment import environment
from stdio_client import StdioClient

ROOT = Path(__file__).resolve().parent.parent
WAIT_S = 20  # at once, for a verdict
KEPT = ("outcome", "tier", "tier_reason", "error_kind", "summary", "detail")


def judge(client: StdioClient, name: str, source: str) -> dict[str, Any]:
    try:
        answer = client.call("run_tests", {"operator": name, "code": source})["structuredContent"]
        while answer.get("status") == "running":
            answer = client.call("job", {"job": answer["job"], "wait_s": WAIT_S})["structuredContent"]
    except RuntimeError as error:
        return {"outcome": "error", "tier": "none", "summary": str(error)[:400]}
    return {key: answer.get(key) for key in KEPT}


def tier_of(operators: list[dict[str, Any]]) -> tuple[str, str]:
    """Of a file: the worst of its operators', and why it is no better."""
    failed = [one for one in operators if one["verdict"]["outcome"] != "pass"]
    if failed:
        return "neither", f"{failed[0]['name']}: {failed[0]['verdict']['summary']}"
    slower = [one for one in operators if one["verdict"]["tier"] != "plan"]
    return (str(slower[0]["verdict"]["tier"]), str(slower[0]["verdict"]["tier_reason"])) if slower else ("plan", "")


def judge_file(clients: queue.Queue[StdioClient], suite: Path, file: dict[str, Any]) -> dict[str, Any]:
    """The file with a verdict for each of its operators, by whichever server is free."""
    client = clients.get()
    for operator in file["operators"]:
        source = (suite / "standard" / operator["name"] / "oracle.py").read_text(encoding="utf-8")
        operator["verdict"] = judge(client, operator["name"], source)
    clients.put(client)
    file["imported_tier"] = file["tier"]
    if file["operators"]:
        file["tier"], file["reason"] = tier_of(file["operators"])
    print(f"{file['tier']:8}{file['file']:36}{file['reason'][:300]}", flush=True)
    return file


def main() -> int:
    parser = argparse.ArgumentParser(description="Judges an imported suite's oracles on a device.")
    parser.add_argument("suite", type=Path)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--jobs", type=int, default=1, help="servers, each with its own pool, that share the device")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    imported = json.loads((options.suite / "import.json").read_text())
    clients: queue.Queue[StdioClient] = queue.Queue()
    with tempfile.TemporaryDirectory() as stores, ThreadPoolExecutor(options.jobs) as pool:
        for number in range(options.jobs):
            command = [options.binary, "serve", "--stdio", "--device", options.device, "--suite", str(options.suite)]
            clients.put(StdioClient([*command, "--store", f"{stores}/{number}.db"]))
        list(pool.map(lambda file: judge_file(clients, options.suite, file), imported["files"]))
        for _ in range(options.jobs):
            clients.get().close()
    tiers = collections.Counter(file["tier"] for file in imported["files"])
    judged = sum(bool(file["operators"]) for file in imported["files"])
    counted = ", ".join(f"{tiers[tier]} {tier}" for tier in ("plan", "host", "neither"))
    print(f"{len(imported['files'])} files, {judged} of them judged: {counted}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    result = {"what": __doc__, "device": options.device, "environment": environment(), "files": imported["files"]}
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
