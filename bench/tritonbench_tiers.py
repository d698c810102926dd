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
import sys
from pathlib import Path
from typing import Any

from environment import environment
from stdio_client import StdioClient

ROOT = Path(__file__).resolve().parent.parent
KEPT = ("outcome", "tier", "tier_reason", "error_kind", "summary", "detail")


def judge(client: StdioClient, name: str, source: str) -> dict[str, Any]:
    try:
        answer = client.call("run_tests", {"operator": name, "code": source})["structuredContent"]
        while answer.get("status") == "running":
            answer = client.call("job", {"job": answer["job"], "wait_s": 30})["structuredContent"]
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


def main() -> int:
    parser = argparse.ArgumentParser(description="Judges an imported suite's oracles on a device.")
    parser.add_argument("suite", type=Path)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--store", type=Path, default=Path("bench-out/tritonbench-tiers.db"))
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    imported = json.loads((options.suite / "import.json").read_text())
    options.store.parent.mkdir(parents=True, exist_ok=True)
    command = [options.binary, "serve", "--stdio", "--device", options.device, "--suite", str(options.suite), "--store", str(options.store)]
    client = StdioClient(command)
    for file in imported["files"]:
        for operator in file["operators"]:
            source = (options.suite / "standard" / operator["name"] / "oracle.py").read_text(encoding="utf-8")
            operator["verdict"] = judge(client, operator["name"], source)
        file["imported_tier"] = file["tier"]
        if file["operators"]:
            file["tier"], file["reason"] = tier_of(file["operators"])
        print(f"{file['tier']:8}{file['file']:36}{file['reason'][:300]}", flush=True)
    client.close()
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
