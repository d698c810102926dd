"""Makes the data of a large site, for a test of its paging and for measurements of its times:

    python tests/common/large_site.py OUT [LINES] [SAMPLES]

The site has LINES agents (default: 100) x 164 operators x SAMPLES (default: 5) attempts. Its numbers
are made up. Every submission has the same source."""

from __future__ import annotations

import json
import random
import shutil
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OPERATORS = 164
ROWS_PER_PART = 8192
COLUMNS = [
    *("group", "operator", "sample", "label", "outcome", "error_kind", "error_type"),
    *("error_group", "died_at", "tier", "tool_calls", "lines", "submitted_unix_ms", "job"),
    *("explanation", "details_part", "details_entry", "perf", "gpu_efficiency"),
]
BOOTSTRAP = {"seed": 1, "resamples": 5000, "confidence": 0.95}


def write(out: Path, name: str, document: object) -> None:
    text = json.dumps(json.dumps(document)).replace("<", "\\u003c")
    (out / "data" / f"{name}.js").write_text(f'assayData("{name}",{text});\n', encoding="utf-8")


def estimate(value: float, width: float) -> dict[str, Any]:
    interval = [max(0.0, value - width), min(1.0, value + width)]
    return {
        "value": value,
        "operators": OPERATORS,
        "interval": interval,
        "method": "bootstrap",
    }


def group_of(number: int, samples: int, solved: list[list[Any]]) -> dict[str, Any]:
    share = sum(cell[1] for cell in solved) / samples / OPERATORS
    summary = {
        **{"operators": OPERATORS, "samples": samples * OPERATORS, "right": 0},
        **{"baseline": "oracle", "pass_at_1": estimate(share, 0.06)},
        **{"call_accuracy": estimate(min(1, share + 0.1), 0.05)},
        **{"perf_at_1": estimate(share * 0.8, 0.08), "fast_p_oracle": [{"p": 0, "share": share}]},
        **{"fast_p_pytorch": None, "fast_p_torch_compile": None},
    }
    run = {
        **{"handle": f"run_{number}_0", "agent": f"agent_{number % 5}"},
        **{"model": f"openai:model-{number}", "scripted": False, "ranked": True},
        **{"track": "iterative", "suite": "all", "created_unix_ms": 1, "missing_layers": []},
        **{"samples": [f"run_{number}_{at}" for at in range(samples)], "devices": ["cuda:0"]},
        **{"judged_by": [{"name": "assay", "version": "1", "digest": "d"}]},
    }
    totals = {
        **{"operators": OPERATORS, "attempts": samples * OPERATORS, "submitted": 0, "passed": 0},
        **{"slow": 0, "baseline": "oracle", "perf_at_1": share, "generalisation": None},
        **{"no_perf_reason": "", "labels": {"pass": 1, "wrong": 1}, "input_tokens": 10**6},
        **{"output_tokens": 10**5, "cost_usd": 1.0 + number, "known_cost_usd": 1.0 + number},
        **{"cost_per_pass_rate": 2.0, "cost_per_perf": 2.0, "cost_per_solved": 0.1},
        **{"tool_calls": 1000, "sandbox_ms": 1.0},
    }
    stages = {
        name: {"attempts": 3, "error_groups": {}, "without_error": 0}
        for name in ("compile", "run_tests", "submit")
    }
    metrics = {
        **{"all": summary, "by_split": {"standard": summary}, "by_family": {}, "by_suite": {}},
        **{"by_difficulty": {"1": summary}, "pass_at_k": [], "similarity": None},
        **{"error_groups": {"Syntax": {"total": 3, "types": {"SyntaxError": 3}}}},
        **{"stages": stages, "bootstrap": BOOTSTRAP},
    }
    usage = {"input_tokens": 1, "output_tokens": 1, "cost_usd": 0.1, "known_cost_usd": 0.1}
    runs = [{"run": handle, "created_unix_ms": 1, "store": 0, **usage} for handle in run["samples"]]
    return {
        **{"suite": 0, "device_class": "NVIDIA H200", "unranked": [], "host_tier": 0, "note": ""},
        **{"samples": runs, "solved": solved, "difference": None},
        "report": {"run": run, "totals": totals, "metrics": metrics},
    }


def make(out: Path, lines: int, samples: int) -> int:
    """Returns the number of attempts."""
    (out / "data").mkdir(parents=True)
    (out / "assets").mkdir()
    for name, to in (("index.html", "index.html"), ("site.js", "assets/site.js")):
        shutil.copy(ROOT / "site/dist" / name, out / to)
    shutil.copy(ROOT / "site/dist/site.css", out / "assets/site.css")
    numbers = random.Random(7)
    rows: list[list[Any]] = []
    groups = []
    for line in range(lines):
        solved = [[op, 0, None] for op in range(OPERATORS)]
        for op in range(OPERATORS):
            for sample in range(samples):
                is_right = numbers.random() < 0.2 + 0.006 * line
                perf = round(numbers.uniform(0.2, 2), 3) if is_right else None
                solved[op][1] += is_right
                if perf is not None:
                    solved[op][2] = max(perf, solved[op][2] or 0)
                result = ["pass", "pass", "none", "", "", ""]
                if not is_right:
                    result = ["wrong", "fail", "wrong_result", "ResultsError", "Runtime & Logic"]
                    result.append("submit")
                job = f"job_{line}_{op}_{sample}"
                said = "pass: 11 cases right, largest scaled error 0.001, perf 1.2 (oracle / yours)"
                more = ["plan", 9, 80, 1_700_000_000_000 + len(rows), job, said, 0, 0]
                rows.append([line, op, sample + 1, *result, *more, perf, perf and perf / 3])
        groups.append(group_of(line, samples, solved))
    parts = [rows[at : at + ROWS_PER_PART] for at in range(0, len(rows), ROWS_PER_PART)]
    for number, part in enumerate(parts):
        write(out, f"attempts-{number}", part)
    source = {"sha256": "0" * 64, "text": "x = 1\n"}
    write(out, "details-0", [{"graded": "", "tier_reason": "", "calls": [], "sources": [source]}])
    write(out, "specs-0", [None] * OPERATORS)
    operators = [
        {"name": f"operator_{op}", "split": "standard", "family": "f", "difficulty": 1 + op % 5}
        for op in range(OPERATORS)
    ]
    line = {"averaged": False, "higher_is_better": True}
    index = {
        **{"format": "assay.site/1", "title": "Large", "assay": "0", "written_unix_ms": 1},
        "suites": [{"name": "assay", "version": "1", "digest": "d", "operators": operators}],
        "metrics": [
            {"key": "perf", "title": "Perf", "unit": "ratio", **line},
            {"key": "gpu_efficiency", "title": "GPU efficiency", "unit": "share", **line},
        ],
        **{"attempt_columns": COLUMNS, "attempt_parts": [len(part) for part in parts]},
        **{"details_parts": 1, "groups": groups},
    }
    write(out, "index", index)
    return len(rows)


if __name__ == "__main__":
    arguments = [int(word) for word in sys.argv[2:]]
    print(make(Path(sys.argv[1]), *arguments, *[100, 5][len(arguments) :]), "attempts")
