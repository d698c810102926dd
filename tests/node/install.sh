#!/usr/bin/env bash
# Installs the npm packages of package.json, with a Node.js that is new enough for them, into build/node, and unpacks the headless browser that is
# one of them into build/node/browser (x86-64 only: there is no other build of it). Prints build/node; does nothing when all is there already.
set -euo pipefail
cd "$(dirname "$0")"
target=$(cd ../.. && pwd)/build/node

# A package that unpacks itself into the folder for temporary files: where another user could have put something else.
unpack_browser() {
  [[ $(uname -m) == x86_64 ]] || return 0
  rm -rf "$target/browser"
  mkdir -p "$target/browser"
  (cd "$target" && TMPDIR=$target/browser node_modules/.bin/node --input-type=module \
    -e 'import chromium from "@sparticuz/chromium"; await chromium.executablePath();')
}

want=$(sha256sum package.json)
if [[ ! -f $target/.installed || $(cat "$target/.installed") != "$want" ]]; then
  command -v npm >/dev/null || { echo "tests/node: npm is missing; on Debian and Ubuntu: apt-get install npm" >&2; exit 69; }
  mkdir -p "$target"
  exec 9>"$target/.lock"
  flock 9  # two test runs may start at once
  if [[ ! -f $target/.installed || $(cat "$target/.installed") != "$want" ]]; then
    cp package.json "$target/package.json"
    npm install --prefix "$target" --no-package-lock --no-audit --no-fund --loglevel=error >&2
    unpack_browser
    printf '%s' "$want" >"$target/.installed"
  fi
fi
printf '%s\n' "$target"
