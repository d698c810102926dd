#!/usr/bin/env bash
# Installs the packages of build/packages into empty systems and uses them there as the page
# docs/how-to/install.md says. ./run package-test calls this script:
#   packaging/package_test.sh PYTHON [SYSTEM...]
# SYSTEM is debian or ubuntu; by default both. ASSAY_DEBIAN_MIRROR and ASSAY_UBUNTU_MIRROR are the
# addresses of their mirrors. By default, Debian's is the one of this machine. PYTHON's pip fetches
# the packages of PyTorch on this machine, because the systems have no network. Needs root.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$1
shift
(($# > 0)) || set -- debian ubuntu
declare -A suite_of=([debian]=bookworm [ubuntu]=noble)
declare -A python_of=([debian]=3.11 [ubuntu]=3.12)
# The mirrors of the systems, and the script of debootstrap for all suites of Ubuntu, because
# debootstrap of Debian 12 does not know the newest of them.
declare -A mirror_of=([debian]=${ASSAY_DEBIAN_MIRROR:-} [ubuntu]=${ASSAY_UBUNTU_MIRROR:-})
declare -A script_of=([debian]=sid [ubuntu]=gutsy)
declare -A components_of=([debian]=main [ubuntu]=main,universe)
roots=build/roots
mkdir -p "$roots"
# The first mirror that apt knows for the suite of Debian.
known_mirror() {
  apt-get indextargets --format '$(SITE) $(RELEASE)' 2>/dev/null \
    | awk -v suite="$1" '$2 == suite { print $1; exit }'
}
mirror_of[debian]=${mirror_of[debian]:-$(known_mirror bookworm)}
wheel=$(ls "$PWD"/build/packages/*.whl)
deb=$(ls "$PWD"/build/packages/*.deb)

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }

# Makes an empty system with Python. Returns 1 if its packages cannot be fetched.
make_root() {  # make_root SYSTEM
  local root=$roots/$1
  [[ -f $root/.complete ]] && return 0
  [[ -n ${mirror_of[$1]} ]] || { echo "name a mirror of $1 by ASSAY_${1^^}_MIRROR" \
    >"$roots/$1.log"; return 1; }
  rm -rf "$root"
  mkdir -p "$roots"
  say "making an empty $1 (${suite_of[$1]})"
  # debootstrap leaves /proc mounted, so it has mounts of its own.
  unshare --mount --propagation private debootstrap --variant=minbase \
    --include=python3,python3-venv --components="${components_of[$1]}" \
    "${suite_of[$1]}" "$root" "${mirror_of[$1]}" "${script_of[$1]}" \
    >"$roots/$1.log" 2>&1 || return 1
  touch "$root/.complete"
}

# Downloads what `assay setup` installs, for the Python of a system.
fetch_wheels() {  # fetch_wheels SYSTEM
  local folder=$PWD/$roots/wheels-${python_of[$1]}
  [[ -f $folder/.complete ]] && return 0
  say "fetching PyTorch for Python ${python_of[$1]}"
  local wanted download
  mapfile -t wanted < <("$python" -c "
import sys
sys.path.insert(0, 'packaging')
from make_python import requirements
print('\n'.join(requirements(open('requirements.txt').read(), 'any')))" \
    | grep -v python_version; grep -m 1 '^numpy' requirements.txt | sed 's/ *;.*//')
  download=("$python" -m pip download --quiet --disable-pip-version-check --dest "$folder"
    --only-binary=:all: --python-version "${python_of[$1]}")
  # As in make_python.py: Triton comes after PyTorch, and without PyTorch's agreement.
  local triton
  triton=$(printf '%s\n' "${wanted[@]}" | grep '^triton==')
  mapfile -t wanted < <(printf '%s\n' "${wanted[@]}" | grep -v '^triton==')
  "${download[@]}" "${wanted[@]}"
  "${download[@]}" --no-deps "$triton"
  touch "$folder/.complete"
}

# The commands of the page, in a system whose packages are in /packages and /wheels.
use_wheel() {
  cat <<'END'
set -euo pipefail
export PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels
cd /tmp
python3 -m venv /opt/assay
/opt/assay/bin/pip install --quiet /packages/*.whl
export PATH=/opt/assay/bin:$PATH
assay --version
if assay demo 2>refusal; then echo "demo without PyTorch did not fail"; exit 1; fi
grep -q 'assay setup' refusal
assay setup
started=$(date +%s%N)
assay demo | tee demo.txt
echo "from the command to the last verdict: $((($(date +%s%N) - started) / 1000000)) ms"
for word in PASS SLOW WRONG 'NO BUILD' REFUSED CONTAINED; do grep -q "$word" demo.txt; done
test -s bench-out/demo/report.html
mkdir -p ~/.config/assay
echo 'state_dir = "/tmp/other"' >~/.config/assay/assay.toml
assay config show | grep "^state_dir = \"/tmp/other\"  # $HOME/.config/assay/assay.toml:1\$"
echo 'stat_dir = "/tmp/other"' >~/.config/assay/assay.toml
if assay config show 2>refusal; then echo "a bad key was accepted"; exit 1; fi
grep -q 'valid keys: .*state_dir' refusal
rm ~/.config/assay/assay.toml
assay operators list | grep -q vector_add
assay doctor
test -s /opt/assay/share/man/man1/assay.1
bash -n /opt/assay/share/bash-completion/completions/assay
grep -q '^#compdef assay' /opt/assay/share/zsh/site-functions/_assay
test -s /opt/assay/share/fish/vendor_completions.d/assay.fish
grep -q '^profile assay /usr/lib/assay/bin/' /opt/assay/share/assay/apparmor
assay export harbor /tmp/tasks --operators vector_add,relu
test -x /tmp/tasks/relu/tests/test.sh
/opt/assay/bin/python -c 'import assay; print(assay.Evaluation("relu", source="x").to_json())'
if /opt/assay/bin/python -c 'import assay; assay.Client' 2>refusal; then
  echo "a client without httpx did not fail"; exit 1
fi
grep -q "assay\[client\]" refusal
END
}

use_deb() {
  cat <<'END'
set -euo pipefail
cd /tmp
dpkg -i /packages/*.deb
test "$(command -v assay)" = /usr/bin/assay
assay --version
id assay
test -d /var/lib/assay
test -f /lib/systemd/system/assay.service
zcat /usr/share/man/man1/assay.1.gz | grep '^.SH COMMANDS' >/dev/null
bash -c '. /usr/share/bash-completion/completions/assay && complete -p assay' >registered
grep -q _assay registered
test -s /usr/share/zsh/vendor-completions/_assay
test -s /usr/share/fish/vendor_completions.d/assay.fish
grep -q '^profile assay /usr/lib/assay/bin/' /usr/share/assay/apparmor
test -e /proc/sys/kernel/apparmor_restrict_unprivileged_userns || test ! -e /etc/apparmor.d/assay
ASSAY_CONFIG=/etc/assay/server.toml assay config show | grep '^http = "127.0.0.1:8000"'
assay demo --out /tmp/deb-demo | tee demo.txt
for word in PASS SLOW WRONG 'NO BUILD' REFUSED CONTAINED; do grep -q "$word" demo.txt; done
# The service runs as this user. An ordinary user's jail has fewer layers than root's.
chmod o+x /root
runuser -u assay -- env HOME=/tmp XDG_STATE_HOME=/var/lib \
  ASSAY_PYTHON=/root/.local/share/assay/python/bin/python assay demo --out /tmp/user-demo \
  | tee demo.txt
for word in PASS SLOW WRONG 'NO BUILD' REFUSED CONTAINED; do grep -q "$word" demo.txt; done
dpkg -r assay
test ! -e /usr/bin/assay
END
}

tested=0
for system in "$@"; do
  if ! make_root "$system"; then
    say "NOT TESTED on $system: its packages cannot be fetched ($roots/$system.log)"
    continue
  fi
  fetch_wheels "$system"
  root=$roots/$system
  rm -rf "$root"/{packages,wheels,opt/assay,root/.local,root/.config,tmp/*}
  mkdir -p "$root/packages" "$root/wheels"
  cp "$wheel" "$deb" "$root/packages"
  cp -l "$roots/wheels-${python_of[$system]}"/*.whl "$root/wheels"
  say "$system: the wheel"
  packaging/enter_root.sh "$root" bash -c "$(use_wheel)"
  say "$system: the Debian package, with the Python that \`assay setup\` has made"
  packaging/enter_root.sh "$root" bash -c "$(use_deb)"
  tested=$((tested + 1))
done
((tested > 0)) || exit 1
say "$tested of $# systems tested"
