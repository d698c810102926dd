"""Measures oracles in TLX on a GPU machine that has no TLX. Another machine, which needs no GPU,
records their launch plans; you copy the plans to the GPU machine.

    python measurements/tlx_plans.py record PLANS --python ~/assay-tlx/bin/python
    python measurements/tlx_plans.py replay PLANS --device cuda:0 \
        --out measurements/results/tlx-h200.json

`record` needs a Python interpreter with fbtriton (docs/reference/operator-format.md). It records
only public cases, because a plan shows the shapes of its case, and the shapes of hidden cases must
stay secret. `replay` gives each plan fresh inputs, and judges and times it like the plan of a
submission. `replay` exits with status 1 if a plan is missing or does not pass."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from environment import environment

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
TARGET = "cuda:90"
TIMEOUT_S = 300


def tlx_folders() -> list[Path]:
    return sorted(path.parent for path in (ROOT / "operators/dsl").glob("tlx_*/spec.toml"))


def public_cases(folder: Path) -> list[str]:
    spec = tomllib.loads((folder / "spec.toml").read_text(encoding="utf-8"))
    return [case["id"] for case in spec["cases"] if case["visibility"] == "public"]


def evaluate(binary: str, arguments: list[str], **environ: str) -> dict[str, Any]:
    done = subprocess.run(
        [binary, "eval", *arguments, "--json"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        env={**os.environ, **environ},
    )
    if not done.stdout.strip():
        raise SystemExit(
            f"assay eval {' '.join(arguments)} ended with status {done.returncode}: {done.stderr[-1000:]}"
        )
    verdict: dict[str, Any] = json.loads(done.stdout)
    return verdict


def record(options: argparse.Namespace) -> int:
    for folder in tlx_folders():
        for case in public_cases(folder):
            arguments = [
                folder.name,
                str(folder / "oracle.py"),
                "--device",
                "cpu",
                "--mode",
                "compile",
                "--case",
                case,
                "--target",
                TARGET,
            ]
            arguments += ["--artifacts", str(options.plans / folder.name)]
            verdict = evaluate(options.binary, arguments, ASSAY_PYTHON=options.python)
            print(f"{folder.name:24} {case:16} {verdict['summary']}", flush=True)
            if verdict["outcome"] != "pass":
                return 1
    return 0


def replay(options: argparse.Namespace) -> int:
    verdicts = []
    for folder in tlx_folders():
        plans = {
            case: options.plans / folder.name / f"{case}-{TARGET.replace(':', '-')}.plan"
            for case in public_cases(folder)
        }
        if missing := [str(plan) for plan in plans.values() if not plan.exists()]:
            print(f"{folder.name}: missing {', '.join(missing)}")
            return 1
        arguments = [word for case, plan in plans.items() for word in ("--plan", f"{case}={plan}")]
        verdict = evaluate(
            options.binary, [folder.name, *arguments, "--mode", "grade", "--device", options.device]
        )
        verdicts.append({"operator": folder.name, "verdict": verdict})
        print(
            f"{folder.name:24} {verdict['outcome']} in tier {verdict['tier']}: {verdict['summary']}",
            flush=True,
        )
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        result = {"what": __doc__, "environment": environment(), "oracles": verdicts}
        options.out.write_text(json.dumps(result, separators=(",", ":")) + "\n")
    return 0 if all(one["verdict"]["outcome"] == "pass" for one in verdicts) else 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=("record", "replay"))
    parser.add_argument("plans", type=Path, help="the folder of the plans")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument(
        "--python", default=sys.executable, help="record: an interpreter with fbtriton"
    )
    parser.add_argument("--device", default="cuda:0", help="replay")
    parser.add_argument("--out", type=Path, help="replay")
    options = parser.parse_args()
    return record(options) if options.step == "record" else replay(options)


if __name__ == "__main__":
    sys.exit(main())
