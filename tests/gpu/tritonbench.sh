#!/usr/bin/env bash
# Counts how many golden files of TritonBench-G are judged on the plan tier, and how many on the host tier:
#   tests/gpu/tritonbench.sh PYTHON GOLDEN [OUT_DIR]
# GOLDEN is data/TritonBench_G_v1 of thunlp/TritonBench, carried to this machine in an ignored folder (.golden/TritonBench_G_v1; with TritonBench_G_v1.json
# beside it, operators get the benchmark's descriptions). Both steps keep what they have when they are stopped; ASSAY_JOBS files are recorded at once.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=$1
golden=$2
out=${3:-bench-out/gpu}
suite=.golden/suite
mkdir -p "$out"
ASSAY_PYTHON=$python build/release/bin/assay import tritonbench-g "$golden" --out "$suite" --jobs "${ASSAY_JOBS:-$(nproc)}" | tee "$out/tritonbench-import.txt"
cp "$suite/import.json" "$out/tritonbench-import.json"
ASSAY_PYTHON=$python "$python" measurements/tritonbench_tiers.py "$suite" --device "${ASSAY_DEVICE:-cuda:0}" --out "$out/tritonbench-tiers.json" | tee "$out/tritonbench-tiers.txt"
