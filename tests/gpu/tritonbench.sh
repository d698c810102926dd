#!/usr/bin/env bash
# Counts how many golden files of TritonBench-G are judged in the tier `plan`, and how many in the
# tier `host`:
#   tests/gpu/tritonbench.sh PYTHON GOLDEN [OUT_DIR]
# GOLDEN is a copy of the folder data/TritonBench_G_v1 of thunlp/TritonBench. Copy the folder to
# .golden/TritonBench_G_v1, because git ignores the folder .golden. If TritonBench_G_v1.json lies
# beside GOLDEN, operators get the benchmark's descriptions. If a step is stopped, its results
# up to then are kept. ASSAY_JOBS is the number of files that are recorded in parallel.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=$1
golden=$2
out=${3:-bench-out/gpu}
suite=.golden/suite
mkdir -p "$out"
ASSAY_PYTHON=$python build/release/bin/assay import tritonbench-g "$golden" --out "$suite" \
  --jobs "${ASSAY_JOBS:-$(nproc)}" | tee "$out/tritonbench-import.txt"
cp "$suite/import.json" "$out/tritonbench-import.json"
ASSAY_PYTHON=$python "$python" measurements/tritonbench_tiers.py "$suite" \
  --device "${ASSAY_DEVICE:-cuda:0}" --out "$out/tritonbench-tiers.json" \
  | tee "$out/tritonbench-tiers.txt"
