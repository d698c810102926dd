"""Measures how many characters an agent sends and receives when it makes the usual mistakes of
tests/common/mistakes.py and then solves the operator.

    python measurements/answer_chars.py --before OLD_BINARY --out measurements/results/chars.json

For each operator the calls are: `fetch_spec`, one `run_tests` for each mistake, and `compile`,
`run_tests` and `submit` of the right source. Sent characters are those of the arguments as JSON,
received characters are those of the text of the answers. Both binaries get the same calls on the
CPU device."""

from __future__ import annotations

import argparse
import collections
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from environment import environment
from stdio_client import StdioClient, serve_command

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/common"))

from mistakes import MISTAKES  # noqa: E402
from right_kernels import RIGHT  # noqa: E402


def measure(binary: Path) -> list[dict[str, Any]]:
    """Returns a line for each call: operator, tool, mistake, sent and received characters."""
    lines: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        client = StdioClient(serve_command(binary, "cpu", Path(folder) / "assay.db"))
        run = client.call("start_run", {"agent": "scripted", "model": "none", "suite": "all"})
        handle = run["structuredContent"]["run"]
        for operator, right in RIGHT.items():
            named = {"operator": operator}
            calls = [("fetch_spec", "", named)]
            for one in MISTAKES:
                if one.operator == operator:
                    calls.append(("run_tests", one.name, {**named, "code": one.source}))
            for tool in ("compile", "run_tests"):
                calls.append((tool, "", {**named, "code": right}))
            calls.append(("submit", "", {**named, "code": right, "run": handle}))
            for tool, mistake, arguments in calls:
                text = client.call(tool, arguments)["content"][0]["text"]
                lines.append(
                    {
                        "operator": operator,
                        "tool": tool,
                        "mistake": mistake,
                        "sent": len(json.dumps(arguments)),
                        "received": len(text),
                    }
                )
        client.close()
    return lines


def sums(lines: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    total: dict[str, dict[str, int]] = collections.defaultdict(collections.Counter)
    for line in lines:
        for key in (line["operator"], "all"):
            total[key]["calls"] += 1
            total[key]["sent"] += line["sent"]
            total[key]["received"] += line["received"]
            if line["tool"] != "fetch_spec":
                total[key]["received_without_specs"] += line["received"]
    return {key: dict(value) for key, value in total.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, required=True, help="the older binary")
    parser.add_argument("--binary", type=Path, default=ROOT / "build/release/bin/assay")
    parser.add_argument("--out", type=Path, required=True, help="the file of results")
    options = parser.parse_args()
    result: dict[str, Any] = {"environment": environment()}
    for name, binary in (("before", options.before), ("after", options.binary)):
        lines = measure(binary.resolve())
        result[name] = {"sums": sums(lines), "calls": lines}
    options.out.write_text(json.dumps(result, indent=1) + "\n")
    for operator, after in result["after"]["sums"].items():
        print(operator, result["before"]["sums"][operator], after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
