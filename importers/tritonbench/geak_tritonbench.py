"""Implements `assay import geak-tritonbench`: imports the golden files of TritonBench-modified, which GEAK
(AMD-AIG-AIMA/GEAK-eval) made of TritonBench-G, as a suite.

    # This command writes SUITE/standard/NAME/ and SUITE/import.json.
    python importers/tritonbench/geak_tritonbench.py FOLDER --out SUITE

The format is that of TritonBench-G (tritonbench_g.py)."""

from __future__ import annotations

import sys

from golden_folder import GEAK_TRITONBENCH
from tritonbench_g import main

if __name__ == "__main__":
    sys.exit(main(GEAK_TRITONBENCH))
