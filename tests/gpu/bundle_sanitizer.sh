#!/usr/bin/env bash
# Copies NVIDIA Compute Sanitizer into a prefix, for a GPU machine without network:
#   tests/gpu/bundle_sanitizer.sh .gpu-deps [WHEEL]
# Then, on that machine:
#   ASSAY_SANITIZER=$PWD/.gpu-deps/compute-sanitizer/compute-sanitizer \
#     .venv/bin/python -m pytest -q -s tests/gpu/test_sanitize_gpu.py
# WHEEL is a file of the package nvidia-cuda-sanitizer-api; without it, pip downloads the newest. A
# driver that is older than CUDA 13 may need nvidia-cuda-sanitizer-api-cu12. The copy has the
# programs and libraries for 64-bit programs: about 35 MB, 12 MB compressed.
set -euo pipefail
prefix=${1:?usage: bundle_sanitizer.sh PREFIX [WHEEL]}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
wheel=${2:-}
if [[ -z $wheel ]]; then
  python3 -m pip download --quiet --no-deps --dest "$folder" nvidia-cuda-sanitizer-api
  wheel=$(ls "$folder"/*.whl)
fi
python3 -m zipfile -e "$wheel" "$folder/unpacked"
program=$(find "$folder/unpacked" -type f -name compute-sanitizer -print -quit)
[[ -n $program ]] || { echo "$wheel has no compute-sanitizer" >&2; exit 1; }
rm -rf "$prefix/compute-sanitizer"
mkdir -p "$prefix/compute-sanitizer"
find "$(dirname "$program")" -maxdepth 1 -type f -exec cp {} "$prefix/compute-sanitizer/" \;
# The package of version 13.0 lacks this program. Without it, the sanitizer starts no process.
[[ -f $prefix/compute-sanitizer/TreeLauncherSubreaper ]] \
  || { echo "$wheel lacks TreeLauncherSubreaper; take a newer version" >&2; exit 1; }
chmod -R a+rX,u+w "$prefix/compute-sanitizer"
find "$prefix/compute-sanitizer" -type f ! -name '*.so' -exec chmod 755 {} +
du -sh "$prefix/compute-sanitizer"
