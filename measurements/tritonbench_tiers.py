"""Finds the tier of each golden file of TritonBench-G on a real GPU. A server judges the oracles of
the operators that were imported from the file.

    assay import tritonbench-g .golden/TritonBench_G_v1 --out .golden/suite --jobs 8
    python measurements/tritonbench_tiers.py .golden/suite --device cuda:0 \
        --out bench-out/gpu/tritonbench-tiers.json
    # This command judges again all files whose tier in tiers.json is not `plan`.
    python measurements/tritonbench_tiers.py .golden/suite --into tiers.json --out tiers.json

Every operator of the suite is judged on its public cases. The submission is the kernel part of the
golden file. The inputs come from the file's test part, and the judge computes the expected outputs
with the golden kernels. A file counts as `plan` if all its operators pass in the tier `plan`. It
counts as `host` if all pass and at least one passes in the tier `host`. Otherwise it counts as
`neither`, with the reason. If no operator could be imported from a file, the file keeps the
importer's result."""

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
from stdio_client import StdioClient, serve_command

ROOT = Path(__file__).resolve().parent.parent
WAIT_S = 20  # the longest wait of one call for a verdict
KEPT = ("outcome", "tier", "tier_reason", "error_kind", "summary", "detail")


def judge(client: StdioClient, name: str, source: str) -> dict[str, Any]:
    try:
        answer = client.call("run_tests", {"operator": name, "code": source})["structuredContent"]
        while answer.get("status") == "running":
            answer = client.call("job", {"job": answer["job"], "wait_s": WAIT_S})[
                "structuredContent"
            ]
    except RuntimeError as error:
        return {"outcome": "error", "tier": "none", "summary": str(error)[:400]}
    return {key: answer.get(key) for key in KEPT}


def tier_of(operators: list[dict[str, Any]]) -> tuple[str, str]:
    """Returns the tier of a file and the reason. A file's tier is the worst tier of its
    operators."""
    failed = [one for one in operators if one["verdict"]["outcome"] != "pass"]
    if failed:
        return "neither", f"{failed[0]['name']}: {failed[0]['verdict']['summary']}"
    slower = [one for one in operators if one["verdict"]["tier"] != "plan"]
    return (
        (str(slower[0]["verdict"]["tier"]), str(slower[0]["verdict"]["tier_reason"]))
        if slower
        else ("plan", "")
    )


def judge_file(
    clients: queue.Queue[StdioClient], suite: Path, file: dict[str, Any]
) -> dict[str, Any]:
    """Returns the file's report with a verdict for each of its operators. Uses the next client
    whose server is free."""
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


def divided(
    imported: list[dict[str, Any]], before: list[dict[str, Any]], only: list[str]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Returns the files to judge, and the files that keep an earlier result. If `only` names files,
    these files are judged, and all other files keep their results. Otherwise the files whose tier
    is `plan` keep their results."""
    said = {file["file"]: file for file in before}
    if unknown := sorted({*only, *said} - {file["file"] for file in imported}):
        raise SystemExit(f"the suite has no file {', '.join(unknown)}")
    if only:
        again = [file for file in imported if file["file"] in only]
    else:
        again = [file for file in imported if said.get(file["file"], {}).get("tier") != "plan"]
    return again, [
        said[file["file"]] for file in imported if file not in again and file["file"] in said
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description="Judges an imported suite's oracles on a device.")
    parser.add_argument("suite", type=Path)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument(
        "--jobs", type=int, default=1, help="servers, each with its own pool, that share the device"
    )
    parser.add_argument(
        "--into", type=Path, help="a result: what is `plan` there is kept and not judged again"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="FILE",
        help="judge these golden files alone; with --into the others are kept",
    )
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    imported = json.loads((options.suite / "import.json").read_text())["files"]
    before = (
        json.loads(options.into.read_text()) if options.into else {"files": [], "environment": None}
    )
    again, kept = divided(imported, before["files"], options.only)
    clients: queue.Queue[StdioClient] = queue.Queue()
    with tempfile.TemporaryDirectory() as stores, ThreadPoolExecutor(options.jobs) as pool:
        for number in range(options.jobs):
            store = f"{stores}/{number}.db"
            suite = ("--suite", str(options.suite))
            clients.put(StdioClient(serve_command(options.binary, options.device, store, *suite)))
        list(pool.map(lambda file: judge_file(clients, options.suite, file), again))
        for _ in range(options.jobs):
            clients.get().close()
    files = sorted(again + kept, key=lambda file: str(file["file"]))
    tiers = collections.Counter(file["tier"] for file in files)
    judged = sum(bool(file["operators"]) for file in files)
    counted = ", ".join(f"{tiers[tier]} {tier}" for tier in ("plan", "host", "neither"))
    print(f"{len(files)} files, {judged} of them judged, {len(kept)} earlier: {counted}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    result = {
        "what": __doc__,
        "device": options.device,
        "environment": environment(),
        "files": files,
    }
    if kept:
        result["kept"] = {
            "files": [file["file"] for file in kept],
            "environment": before["environment"],
            "kept": before.get("kept"),
        }
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
