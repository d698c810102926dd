# attempt: fills memory with extended attributes and long links, which are no file content for tmpfs
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: job_tmp, cgroup_memory

kept = 0


def attributes():
    global kept
    for number in range(20_000):
        path = f"/tmp/a{number}"
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
        for name in range(16):
            os.setxattr(path, f"user.{name}", b"x" * 60_000)
            kept += 60_000


def links():
    global kept
    for number in range(400_000):
        os.symlink("x" * 4_000, f"/dev/shm/l{number}")
        kept += 4_000


denied("20 GB of attributes", attributes)
denied("1.6 GB of links", links)
require("less than the memory limit was kept", kept < 400 << 20)
for folder in ("/tmp", "/dev/shm"):
    for entry in os.scandir(folder):
        if entry.name[0] in "al" and entry.name[1:].isdigit():
            os.unlink(entry.path)
