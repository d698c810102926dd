#!/usr/bin/env bash
# Runs a command in another system's root folder, with mounts and processes of its own and without
# network. After pivot_root, unlike after chroot, the kernel lets the jail make user namespaces:
#   packaging/enter_root.sh ROOT COMMAND...
# Needs root. Nothing stays mounted after the command.
set -euo pipefail
root=$(realpath "$1")
shift
exec unshare --mount --pid --net --ipc --uts --fork --kill-child bash -c '
  set -euo pipefail
  root=$1
  shift
  mount --bind "$root" "$root"
  mount -t proc proc "$root/proc"
  mount -t sysfs sysfs "$root/sys" || mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  cd "$root"
  mkdir -p .host
  pivot_root . .host
  umount -l /.host
  exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"
' enter_root "$root" "$@"
