#!/usr/bin/env bash
# Runs every test that needs a GPU, and the measurements. ./run gpu-test calls it after set-up:
#   tests/gpu/run_all.sh PYTHON [OUT_DIR]
#   tests/gpu/run_all.sh PYTHON --device hip:N   the doctor and the oracles on an AMD GPU; the other
#                                                tests have CUDA kernels
set -uo pipefail
cd "$(dirname "$0")/../.."
python=$1
device=cuda:0
[[ ${2:-} != --device ]] || { device=$3; set -- "$1"; }
out=${2:-bench-out/gpu}
mkdir -p "$out"
failed=0
step() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }

step "doctor"
build/release/bin/assay doctor

if [[ $device == hip:* ]]; then
  step "oracles in the plan tier"
  "$python" measurements/oracles.py --device "$device" --out "$out/oracles.json" || failed=1
  step "a report that you can send"
  results=()
  [[ ! -e $out/oracles.json ]] || results=(--results "$out/oracles.json")
  build/release/bin/assay doctor --report "$out/report.json" "${results[@]}" >/dev/null || failed=1
  printf 'the report is in %s\n' "$out/report.json"
  exit $failed
fi

step "launcher tests"
cmake -S . -B build/release -DASSAY_GPU_TESTS=ON >/dev/null \
  && ninja -C build/release --quiet test_launcher_gpu \
  && build/release/bin/test_launcher_gpu || failed=1

step "the launcher's HIP driver, over stand-ins for HIP's libraries"
if [[ -e build/release/hip_over_cuda ]]; then  # clang is there
  mkdir -p "$out/hip-over-cuda"
  export ASSAY_HIP_OVER_CUDA_RESULTS=$PWD/$out/hip-over-cuda
  [[ $out != /* ]] || ASSAY_HIP_OVER_CUDA_RESULTS=$out/hip-over-cuda
  ninja -C build/release --quiet test_launcher_hip_over_cuda assay_hip_over_cuda \
    && build/release/bin/test_launcher_hip_over_cuda || failed=1
fi

step "oracles in the plan tier"
"$python" measurements/oracles.py --device cuda:0 --out "$out/oracles.json" || failed=1

step "submissions that misbehave, on the GPU"
"$python" -m pytest -q -p no:cacheprovider tests/gpu || failed=1

step "escapes on the GPU"
"$python" -m pytest -q -p no:cacheprovider tests/escapes -m gpu || failed=1

step "cheats on the GPU, and honest submissions that look like them"
ASSAY_CHEATS_RESULTS=$out/cheats.json \
  "$python" -m pytest -q -p no:cacheprovider tests/cheats -m gpu || failed=1

step "the skeleton's numbers"
"$python" measurements/skeleton.py --device cuda:0 --cases small half_awkward large \
  --out "$out/skeleton.json" || failed=1

exit $failed
