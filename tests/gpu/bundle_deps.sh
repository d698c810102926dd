#!/usr/bin/env bash
# Copies headers and libraries of this machine into a prefix, for a GPU machine without network:
#   tests/gpu/bundle_deps.sh .gpu-deps
# Then, on that machine:
#   ASSAY_NO_APT=1 ASSAY_DEPS=$PWD/.gpu-deps ./run gpu-test
# tests/gpu/bundle_sanitizer.sh adds Compute Sanitizer to the prefix. Both machines must be x86-64.
# The glibc of the GPU machine must be the same or newer.
set -euo pipefail
prefix=${1:?usage: bundle_deps.sh PREFIX}
rm -rf "$prefix"
mkdir -p "$prefix/include" "$prefix/lib"
headers=(httplib.h valijson tl SQLiteCpp sqlite3.h sqlite3ext.h toml++ seccomp.h
  seccomp-syscalls.h dtl brotli zlib.h zconf.h expat.h expat_external.h)
for entry in "${headers[@]}"; do
  cp -r "/usr/include/$entry" "$prefix/include/"
done
libraries=/usr/lib/x86_64-linux-gnu
cp "$libraries"/lib{SQLiteCpp,sqlite3,seccomp,expat}.a "$prefix/lib/"
cp -L "$libraries"/libcpp-httplib.so.0.* "$prefix/lib/"
for library in brotlicommon brotlidec brotlienc; do
  cp -L "$libraries/lib$library.so.1" "$prefix/lib/"
done
soname=$(basename "$(ls "$prefix"/lib/libcpp-httplib.so.0.* | head -n 1)")
ln -s "$soname" "$prefix/lib/libcpp-httplib.so"
du -sh "$prefix"
