#!/usr/bin/env bash
# Bundles the pages of `assay site` and `assay report --format html` into site/dist. Needs npm and
# Node.js 18, and installs the packages of package-lock.json into build/site. If the bundle is newer
# than its sources, the script does nothing. `build.sh --check` also checks the types.
set -euo pipefail
cd "$(dirname "$0")"
modules=$(cd .. && pwd)/build/site

for program in npm node; do
  command -v "$program" >/dev/null || {
    echo "site: $program is missing; on Debian and Ubuntu: apt-get install npm" >&2
    exit 69
  }
done

mkdir -p "$modules"
exec 9>"$modules/.lock"
flock 9  # two builds can start this script at the same time
packages=$(sha256sum package.json package-lock.json)
if [[ ! -f $modules/.installed || $(cat "$modules/.installed") != "$packages" ]]; then
  cp package.json package-lock.json "$modules/"
  npm ci --prefix "$modules" --no-audit --no-fund --loglevel=error >&2
  printf '%s' "$packages" >"$modules/.installed"
fi
sources=$(find src build.mjs -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum)$packages
if [[ ! -f dist/page.html || ! -f $modules/.built || $(cat "$modules/.built") != "$sources" ]]; then
  node build.mjs "$modules/node_modules"
  printf '%s' "$sources" >"$modules/.built"
fi
if [[ ${1:-} == --check ]]; then "$modules/node_modules/.bin/tsc" --project tsconfig.json; fi
