#!/usr/bin/env bash
# Installs the npm packages of package.json into build/node, with a Node.js that is new enough for
# them. One of the packages is a headless browser, which exists only for x86-64. The script unpacks
# the browser into build/node/browser, and prints the path of build/node. If everything is installed
# already, the script only prints the path.
#
# `install.sh command_lines` installs the packages of command_lines/package.json into
# build/node-command_lines instead: the command-line clients, which need 900 MB.
set -euo pipefail
cd "$(dirname "$0")"
part=${1:-}
target=$(cd ../.. && pwd)/build/node${part:+-$part}
cd "./$part"

# The browser's package unpacks itself into the folder for temporary files. This function gives it a
# private folder, because another user could have put files into a shared folder.
unpack_browser() {
  [[ $(uname -m) == x86_64 ]] || return 0
  rm -rf "$target/browser"
  mkdir -p "$target/browser"
  (cd "$target" && TMPDIR=$target/browser node_modules/.bin/node --input-type=module \
    -e 'import chromium from "@sparticuz/chromium"; await chromium.executablePath();')
}

want=$(sha256sum package.json)
if [[ ! -f $target/.installed || $(cat "$target/.installed") != "$want" ]]; then
  command -v npm >/dev/null || {
    echo "tests/node: npm is missing; on Debian and Ubuntu: apt-get install npm" >&2
    exit 69
  }
  mkdir -p "$target"
  exec 9>"$target/.lock"
  flock 9  # two test runs can start this script at the same time
  if [[ ! -f $target/.installed || $(cat "$target/.installed") != "$want" ]]; then
    cp package.json "$target/package.json"
    npm install --prefix "$target" --no-package-lock --no-audit --no-fund --loglevel=error >&2
    [[ -n $part ]] || unpack_browser
    printf '%s' "$want" >"$target/.installed"
  fi
fi
printf '%s\n' "$target"
