#!/usr/bin/env bash
# Checks the bundles of a pull request. Each file must be a bundle of `assay export run`, at most 8
# MiB, named after its run: submissions/run_....json. The exit status is 1 if one is refused.
#
#   submissions/check.sh                       # all bundles in this folder
#   submissions/check.sh submissions/run_*.json
set -euo pipefail
cd "$(dirname "$0")/.."
assay=${ASSAY_BIN:-build/release/bin/assay}
most_bytes=$((8 << 20))
files=("$@")
if [[ $# -eq 0 ]]; then
  shopt -s nullglob
  files=(submissions/*.json)
fi

status=0
refuse() {
  printf '%s: refused: %s\n' "$1" "$2" >&2
  status=1
}
for file in "${files[@]}"; do
  name=$(basename -- "$file" .json)
  if [[ ! -f $file || -L $file ]]; then
    refuse "$file" "it is no regular file"
  elif (($(stat -c %s -- "$file") > most_bytes)); then
    refuse "$file" "it has more than $most_bytes bytes"
  elif ! said=$("$assay" export check -- "$file"); then
    refuse "$file" "see above"
  elif [[ ! $name =~ ^run_[0-9a-z]+$ || $said != *": run $name, "* ]]; then
    refuse "$file" "its name must be that of its run, for example run_4kq7v0c2.json"
  else
    printf '%s\n' "$said"
  fi
done
exit "$status"
