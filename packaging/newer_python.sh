#!/usr/bin/env bash
# Makes a Python 3.13 with packages from PyPI, for libraries that need a newer Python than this
# machine's, and prints the path of a program that runs it:
#   packaging/newer_python.sh NAME REQUIREMENT...
# The Python is that of Debian 13, in a folder of build/roots that debootstrap fills. It sees this
# checkout and /tmp, and it uses this machine's network. Needs root. ASSAY_DEBIAN_MIRROR is the
# address of the mirror; by default, it is the one of this machine.
set -euo pipefail
cd "$(dirname "$0")/.."
name=$1
shift
version=3.13
roots=$PWD/build/roots
root=$roots/trixie
program=$roots/newer-python/$name/bin/python
wanted="$version $*"

say() { printf '\033[1m== %s\033[0m\n' "$*" >&2; }
die() { printf 'newer_python.sh: %s\n' "$*" >&2; exit 1; }

[[ $(id -u) == 0 ]] || die "only root can make a Python $version with debootstrap"
command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
mkdir -p "$roots"
exec 9>"$roots/.lock"
flock 9  # two tests may ask at once
if [[ ! -f $root/.complete ]]; then
  # Debian 13 has the mirror of this machine's Debian. On another system, the variable names it. If
  # apt-get is missing or fails, the mirror is empty, and the next line says what to do.
  mirror=${ASSAY_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(SITE) $(RELEASE)' 2>/dev/null \
    | awk '($2 == "bookworm" || $2 == "trixie") && !found { print $1; found = 1 }' || true)}
  [[ -n $mirror ]] || die "name a mirror of Debian by ASSAY_DEBIAN_MIRROR"
  say "making an empty Debian 13 for Python $version"
  rm -rf "$root"
  # debootstrap leaves /proc mounted, so it has mounts of its own.
  unshare --mount --propagation private debootstrap --variant=minbase \
    --include=python3,python3-venv,ca-certificates \
    trixie "$root" "$mirror" sid >"$roots/trixie.log" 2>&1 \
    || die "debootstrap failed: $(tail -n 3 "$roots/trixie.log")"
  touch "$root/.complete"
fi
made=$roots/newer-python/$name/requirements
python=$root/adapters/$name/bin/python
if [[ ! -x $program || ! -L $python || ! -f $made || $(<"$made") != "$wanted" ]]; then
  rm -rf "$root/adapters/$name"
  mkdir -p "$root/adapters" "$(dirname "$program")"
  cat >"$program" <<END
#!/usr/bin/env bash
# Runs the Python of /adapters/$name in $root, with mounts of its own.
exec unshare --mount --propagation private bash -c '
  set -euo pipefail
  mount --bind /tmp "$root/tmp"
  mkdir -p "$root$PWD"
  mount --bind "$PWD" "$root$PWD"
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  python=\${ASSAY_NEWER_PYTHON:-/adapters/$name/bin/python}
  exec chroot "$root" /usr/bin/env -u LD_PRELOAD "\$python" "\$@"
' newer_python "\$@"
END
  chmod +x "$program"
  # pip works in the root as on this machine: with its name servers, certificates and indexes.
  for file in /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [[ ! -f $file ]] || cp --dereference "$file" "$root$file"
  done
  say "installing $1 for Python $version"
  ASSAY_NEWER_PYTHON=/usr/bin/python3 "$program" -m venv "/adapters/$name" >&2
  "$program" -m pip install --quiet --disable-pip-version-check "$@" >&2
  printf '%s' "$wanted" >"$made"
fi
printf '%s\n' "$program"
