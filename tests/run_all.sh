#!/usr/bin/env bash
# Runs every test that needs no GPU, quick tests first. ./run test calls this script after set-up:
#   tests/run_all.sh PYTHON JOBS
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
jobs=$2
started=$SECONDS
# Threads of torch must not wait in busy loops, because other processes need the cores.
export OMP_WAIT_POLICY=passive
step() { printf '\033[1m== [%4ds] %s\033[0m\n' $((SECONDS - started)) "$*" >&2; }

# Starts a command that runs at the same time as the tests, at the lowest priority. Most tests wait
# for processes to start, so there is processor time for the command.
background() {  # background NAME COMMAND...
  local name=$1
  shift
  set -m  # a separate process group, so that the trap can also end the processes of the command
  (renice -n 19 "$BASHPID" >/dev/null && "$@") >"build/$name.log" 2>&1 &
  background_of[$name]=$!
  set +m
}
finish() {  # finish NAME: waits for the end, and prints the log of a command that failed
  wait "${background_of[$1]}" || { cat "build/$1.log" >&2; return 1; }
}
declare -A background_of
trap 'for group in "${background_of[@]}"; do kill -- "-$group" 2>/dev/null || true; done' EXIT

tidy() { "$python" tests/clang_tidy.py "$jobs"; }

threaded=(test_mcp test_server)
sanitized() {
  cmake --preset asan -DASSAY_PYTHON="$python" \
    && ninja -C build/asan -j "$jobs" --quiet \
    && cmake --preset tsan -DASSAY_PYTHON="$python" \
    && ninja -C build/tsan -j "$jobs" --quiet "${threaded[@]}"
}

step "behind the tests: sanitized builds and clang-tidy"
background builds sanitized
background tidy tidy

step "ruff and mypy"
"$python" -m ruff check .
"$python" -m ruff format --check sandbox operators metrics reference_agents tests measurements \
  packaging python
"$python" -m mypy

step "layers, headers and their examples, names of sources, documents, style"
"$python" -m pytest -q tests/test_*.py

step "Python tests"
# The tests of one file share servers, so one process runs all tests of a file. Many tests wait for
# processes and deadlines, so one process more than there are jobs keeps the processors busy.
# ./run clients runs the tests of the command-line clients, which need 900 MB.
"$python" -m pytest -q -n "$((jobs + 1))" --dist loadfile tests --ignore-glob='tests/test_*.py' \
  --ignore=tests/escapes --ignore=tests/cheats --ignore=tests/clients/test_command_lines.py \
  --ignore=tests/clients/test_claude_code_login.py --ignore=tests/clients/test_fastmcp.py \
  --ignore=tests/clients/test_inspect_ai.py --ignore=tests/clients/test_frameworks.py \
  --ignore=tests/evaluate/test_adapters.py --ignore=tests/evaluate/test_schemathesis.py \
  --ignore=tests/workers/test_ray.py

step "escapes, the short version"
"$python" -m pytest -q tests/escapes -m short

step "cheats, and honest submissions that look like them"
"$python" -m pytest -q -n "$jobs" tests/cheats -m "not gpu"

step "operators lint: every mutant dies, every oracle passes"
build/release/bin/assay operators lint

step "the sanitized builds"
finish builds

fuzzers() { ASSAY_FUZZ_BUILD=build/asan tests/fuzz/fuzz.sh all 5; }

step "behind the unit tests: fuzzers, some seconds each"
background fuzzers fuzzers

# One ctest runs the programs of both builds. So a core that has no test of one build left runs
# tests of the other. The programs of each build read only the options of their own sanitizer.
all_sanitized() {
  local name folder=build/sanitized asan_tests
  mkdir -p "$folder"
  # ctest ignores a folder that has no tests, so their number is checked here.
  asan_tests=$(ctest --test-dir build/asan -N | sed -n 's/^Total Tests: //p')
  [[ ${asan_tests:-0} -gt 0 ]] || { echo "build/asan has no tests" >&2; return 1; }
  {
    printf 'subdirs([=[%s/build/asan]=])\n' "$PWD"
    for name in "${threaded[@]}"; do
      printf 'add_test([=[tsan_%s]=] [=[%s/build/tsan/bin/%s]=])\n' "$name" "$PWD" "$name"
      # ctest starts costly entries first. These take less time than test_sandbox, whose COST is 3.
      printf 'set_tests_properties([=[tsan_%s]=] PROPERTIES COST 2.5\n' "$name"
      printf '  WORKING_DIRECTORY [=[%s]=])\n' "$PWD/build/tsan"
    done
  } >"$folder/CTestTestfile.cmake"
  ASAN_OPTIONS=detect_leaks=1 \
    LSAN_OPTIONS="suppressions=\"$PWD/tests/lsan.supp\" print_suppressions=0" \
    TSAN_OPTIONS="halt_on_error=1 suppressions=\"$PWD/tests/tsan.supp\"" \
    ctest --test-dir "$folder" --output-on-failure --no-tests=error -j 2
}

step "unit tests and replayed corpora: addresses, undefined behaviour; with threads: races"
all_sanitized

step "fuzzers"
finish fuzzers

step "clang-tidy"
finish tidy

step "all green"
