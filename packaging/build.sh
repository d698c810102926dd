#!/usr/bin/env bash
# Builds the packages of Assay into build/packages. ./run package calls this script:
#   packaging/build.sh TOOLS_PYTHON PYTHON JOBS
# TOOLS_PYTHON has scikit-build-core and wheel. PYTHON has torch, for which the fake CUDA guard is
# built, and pybind11. The packages serve its version, and the versions of the Pythons that
# ASSAY_OTHER_PYTHONS lists (paths, separated by colons). By default these are python3.10 to
# python3.14, as far as they are on the PATH with their headers.
set -euo pipefail
cd "$(dirname "$0")/.."
tools=$1
python=$2
export CMAKE_BUILD_PARALLEL_LEVEL=$3
other_pythons() {
  local own candidate version header
  own=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  local -a candidates=(python3.10 python3.11 python3.12 python3.13 python3.14)
  [[ -z ${ASSAY_OTHER_PYTHONS:-} ]] || IFS=: read -ra candidates <<<"$ASSAY_OTHER_PYTHONS"
  for candidate in "${candidates[@]}"; do
    version=$("$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) \
      || continue
    header=$("$candidate" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h
    [[ $version == "$own" || ! -f $header ]] || command -v "$candidate"
  done
}
others=$(other_pythons | paste -sd ';')
export CXX=${CXX:-c++}  # the compiler of the release build, so that ccache finds its objects
out=build/packages
raw=build/raw-wheel
rm -rf "$out" "$raw"
mkdir -p "$out"

PATH=$(dirname "$tools"):$PATH "$tools" -m pip wheel . --quiet --disable-pip-version-check \
  --no-build-isolation --no-deps --wheel-dir "$raw" -C "cmake.define.ASSAY_PYTHON=$python" \
  -C "cmake.define.ASSAY_OTHER_PYTHONS=$others" >&2
"$tools" packaging/tag_wheel.py "$raw"/*.whl --out "$out" >&2
rm -rf "$raw"

# The Debian package has the same folder as the wheel.
stage=$PWD/build/deb-stage
version=$(sed -n 's/^project(assay VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
glibc=$(basename "$out"/*.whl | sed 's/.*manylinux_2_\([0-9]*\)_.*/\1/')
rm -rf "$stage"
cmake --install build/wheel --prefix "$stage/usr/lib/assay" --component assay --strip >/dev/null
mkdir -p "$stage"/{usr/bin,lib/systemd/system,etc/assay}
share=$stage/usr/share
mkdir -p "$share"/{man/man1,bash-completion/completions,zsh/vendor-completions} \
  "$share/fish/vendor_completions.d" "$share/doc/assay"
assay=$stage/usr/lib/assay/bin/assay
"$assay" man-page | gzip -9n >"$share/man/man1/assay.1.gz"
"$assay" completion bash >"$share/bash-completion/completions/assay"
"$assay" completion zsh >"$share/zsh/vendor-completions/_assay"
"$assay" completion fish >"$share/fish/vendor_completions.d/assay.fish"
cp LICENSE "$share/doc/assay/copyright"
ln -s ../lib/assay/bin/assay "$stage/usr/bin/assay"
cp packaging/deb/assay.service "$stage/lib/systemd/system"
cp packaging/deb/server.toml "$stage/etc/assay"
install -D -m 0644 packaging/deb/apparmor "$stage/usr/share/assay/apparmor"
export ASSAY_STAGE=$stage ASSAY_VERSION=$version ASSAY_GLIBC=$glibc
(cd "$out" && cpack --config ../../packaging/deb/CPackConfig.cmake >cpack.log) \
  || { cat "$out/cpack.log" >&2; exit 1; }
rm -rf "$stage" "$out/cpack.log" "$out/_CPack_Packages"
(cd "$out" && sha256sum -- *.whl *.deb >SHA256SUMS)
ls -l "$out"
