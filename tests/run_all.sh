#!/usr/bin/env bash
# Every test that needs no GPU, cheapest first. Called by ./run test after set-up: tests/run_all.sh PYTHON JOBS
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
jobs=$2
started=$SECONDS
step() { printf '\033[1m== [%4ds] %s\033[0m\n' $((SECONDS - started)) "$*" >&2; }

step "ruff and mypy"
"$python" -m ruff check .
"$python" -m ruff format --check sandbox operators tests bench
"$python" -m mypy

step "dependency direction, headers compile alone"
"$python" -m pytest -q tests/test_layering.py tests/test_headers.py

step "Python tests"
"$python" -m pytest -q tests --ignore=tests/test_layering.py --ignore=tests/test_headers.py --ignore=tests/escapes --ignore=tests/cheats

step "escapes, the short version"
"$python" -m pytest -q tests/escapes -m short

step "cheats, and honest submissions that look like them"
"$python" -m pytest -q tests/cheats -m "not gpu"

step "operators lint: every mutant dies, every oracle passes"
build/release/bin/assay operators lint

step "unit tests and replayed corpora, address and undefined-behaviour sanitizers"
cmake --preset asan -DASSAY_PYTHON="$python" >/dev/null
ninja -C build/asan -j "$jobs" --quiet
ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp print_suppressions=0" ctest --test-dir build/asan --output-on-failure --no-tests=error -j 2

step "fuzzers, some seconds each"
ASSAY_FUZZ_BUILD=build/asan tests/fuzz/fuzz.sh all 5

step "unit tests with threads, thread sanitizer"
threaded=(test_mcp test_server)
cmake --preset tsan -DASSAY_PYTHON="$python" >/dev/null
ninja -C build/tsan -j "$jobs" --quiet "${threaded[@]}"
TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/tests/tsan.supp" ctest --test-dir build/tsan --output-on-failure --no-tests=error -R "^($(IFS='|'; echo "${threaded[*]}"))$"

step "clang-tidy"
# The build's flags name a warning of GCC's that clang does not know.
git ls-files '*.cc' | grep -E '^(base|server|tools|sandbox|operators|reference_agents)/' | grep -v harness/native \
  | xargs -P "$jobs" -n 2 clang-tidy -p build/release --quiet --extra-arg=-Wno-unknown-warning-option

step "all green"
