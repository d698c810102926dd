"""Implements `assay import sol-execbench`: imports the problems of SOL-ExecBench
(NVIDIA/SOL-ExecBench) as a suite.

    # This command writes SUITE/standard/NAME/ and SUITE/import.json.
    python importers/sol_execbench/sol_execbench.py SOL-ExecBench/data/benchmark --out SUITE

The format is that of FlashInfer Trace with a few changes (sol_dataset.py). Assay contains no part of
the benchmark."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "importers/flashinfer"), str(ROOT / "importers/common")]

from flashinfer_trace import Benchmark, main  # noqa: E402
from sol_dataset import read_problems  # noqa: E402

SOL_EXECBENCH = Benchmark(
    "sol-execbench", "SOL-ExecBench", read_problems, solutions="**/solution*.json"
)

if __name__ == "__main__":
    sys.exit(main(SOL_EXECBENCH))
