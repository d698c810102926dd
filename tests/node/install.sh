#!/usr/bin/env bash
# Installs the npm packages of package.json, with a Node.js that is new enough for them, into build/node. Prints that folder; does nothing
# when they are there already.
set -euo pipefail
cd "$(dirname "$0")"
target=$(cd ../.. && pwd)/build/node
want=$(sha256sum package.json)
if [[ ! -f $target/.installed || $(cat "$target/.installed") != "$want" ]]; then
  command -v npm >/dev/null || { echo "tests/node: npm is missing; on Debian and Ubuntu: apt-get install npm" >&2; exit 69; }
  mkdir -p "$target"
  exec 9>"$target/.lock"
  flock 9  # two test runs may start at once
  if [[ ! -f $target/.installed || $(cat "$target/.installed") != "$want" ]]; then
    cp package.json "$target/package.json"
    npm install --prefix "$target" --no-package-lock --no-audit --no-fund --loglevel=error >&2
    printf '%s' "$want" >"$target/.installed"
  fi
fi
printf '%s\n' "$target"
