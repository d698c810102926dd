# attempt: creates and opens device nodes: memory, kernel log, fuse, kvm, GPUs
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: root_filesystem, seccomp, capabilities, no_gpu
# in_run_test: yes

import stat

denied("mknod of a block device", os.mknod, "/tmp/disk", stat.S_IFBLK | 0o600, os.makedev(8, 0))
denied("mknod of /dev/mem", os.mknod, "/tmp/mem", stat.S_IFCHR | 0o600, os.makedev(1, 1))
for name in (
    "mem",
    "kmem",
    "port",
    "kmsg",
    "fuse",
    "kvm",
    "vfio/vfio",
    "sda",
    "vda",
    "loop-control",
    "net/tun",
    "uinput",
    "console",
    "tty",
    "ptmx",
    "nvidiactl",
):
    denied(f"/dev/{name}", os.open, f"/dev/{name}", os.O_RDONLY)
for folder in ("/tmp", "/dev/shm", "/usr"):
    require(f"{folder} is nodev", bool(os.statvfs(folder).f_flag & 4))
