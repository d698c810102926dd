#!/usr/bin/env bash
# Runs the fuzzers that ./run fuzz has built: fuzz.sh [TARGET|all] [SECONDS | RUNSx]
# The fuzzers store new inputs in build/fuzz/corpus. Only `fuzz.sh TARGET merge` adds a minimal set
# of these inputs to tests/fuzz/corpus.
# A finding is stored in build/fuzz/findings, and `fuzz_TARGET FILE` reproduces it.
# ASSAY_FUZZ_BUILD names a build folder other than build/fuzz.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${ASSAY_FUZZ_BUILD:-build/fuzz}
target=${1:-all}
amount=${2:-60}
known=$(cd tests/fuzz && ls -- *_fuzz.cc | sed 's/_fuzz.cc//' | tr '\n' ' ')
# The maximum size of an input. Longer inputs are slow and rarely find anything new. Unit tests
# cover the size limits of the parsers.
max_input_bytes=512
# The maximum size of an input for the targets `jwt`, `verdict`, `report` and `bundle`. The smallest
# verdict has 600 bytes. A sanitizer report with one finding, and a set with two keys, have about
# the same size.
max_long_input_bytes=4096
# Leak detection is off, because some targets never destroy their server.
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=16:detect_leaks=0}

most_bytes() {
  case $1 in
    jwt | verdict | report | bundle) echo $max_long_input_bytes ;;
    *) echo $max_input_bytes ;;
  esac
}

fuzz_one() {  # fuzz_one TARGET ARGUMENT...
  local name=$1
  shift
  local learned=$build/corpus/$name
  mkdir -p "$learned" "$build/findings"
  # -close_fd_mask hides the output of the servers under test, which log the exceptions of handlers.
  "$build/bin/fuzz_$name" -close_fd_mask=3 -max_len="$(most_bytes "$name")" \
    -print_final_stats=1 -artifact_prefix="$build/findings/$name-" "$@" \
    "$learned" "tests/fuzz/corpus/$name"
}

case $amount in
  merge) limit=() ;;
  *x) limit=(-runs="${amount%x}") ;;
  *[!0-9]*)
    echo "fuzz: '$amount' is neither SECONDS (60) nor RUNSx (10000000x) nor merge" >&2
    exit 64
    ;;
  *) limit=(-max_total_time="$amount") ;;
esac
[[ $target == all || " $known" == *" $target "* ]] || {
  echo "fuzz: unknown target '$target'; valid: ${known}all" >&2
  exit 64
}
[[ $target == all ]] || known=$target
for name in $known; do
  if [[ $amount == merge ]]; then
    "$build/bin/fuzz_$name" -close_fd_mask=3 -max_len="$(most_bytes "$name")" -merge=1 \
      "tests/fuzz/corpus/$name" "$build/corpus/$name"
  else
    log=$build/$name.log
    fuzz_one "$name" "${limit[@]}" >"$log" 2>&1 || {
      grep -E '^==|SUMMARY|runtime error' "$log"
      echo "fuzz: $name: see $log and $build/findings" >&2
      exit 1
    }
    echo "$name: $(grep -E 'DONE' "$log")"
  fi
done
