"""Implements `assay import geak-rocm`: imports the golden files of the ROCm Triton Benchmark of GEAK
(AMD-AIG-AIMA/GEAK-eval), as a suite.

    # This command writes SUITE/standard/NAME/ and SUITE/import.json.
    python importers/tritonbench/geak_rocm.py FOLDER --out SUITE

The format is that of TritonBench-G (tritonbench_g.py)."""

from __future__ import annotations

import sys

from golden_folder import GEAK_ROCM
from tritonbench_g import main

if __name__ == "__main__":
    sys.exit(main(GEAK_ROCM))
