# attempt: calls mount, the newer mount calls, pivot_root, chroot and setns
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp, capabilities

folder = b"/tmp/m"
os.mkdir("/tmp/m")
denied("mount tmpfs", syscall, 165, b"tmpfs", folder, b"tmpfs", 0, 0)
denied("mount --bind", syscall, 165, b"/", folder, 0, 0x1000, 0)
denied("remount / writable", syscall, 165, b"none", b"/", 0, 0x1020, 0)
denied("umount2 /tmp", syscall, 166, b"/tmp", 2)
denied("umount2 /proc", syscall, 166, b"/proc", 2)
denied("pivot_root", syscall, 155, b"/tmp", folder)
denied("chroot", os.chroot, "/tmp")
for name, number in {
    "open_tree": 428,
    "move_mount": 429,
    "fsopen": 430,
    "fsconfig": 431,
    "fsmount": 432,
    "fspick": 433,
    "mount_setattr": 442,
}.items():
    denied(name, syscall, number, b"tmpfs", 0, 0, 0, 0)
denied("open_tree of /", syscall, 428, -100, b"/", 1)
denied("fsopen tmpfs", syscall, 430, b"tmpfs", 0)
for name in ("mnt", "pid", "net", "user", "ipc"):
    denied(
        f"setns({name})",
        lambda name=name: syscall(308, os.open(f"/proc/self/ns/{name}", os.O_RDONLY), 0),
    )
