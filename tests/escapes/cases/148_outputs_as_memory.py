# attempt: grows the file of its outputs, to use memory that no control group may count
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: frames

PIECE = b"x" * (1 << 20)
add = vector_add  # the job gets its memory files with the cases, after the import


def attack():
    files = 0
    for name in os.listdir("/proc/self/fd"):
        path = f"/proc/self/fd/{name}"
        target = os.readlink(path) if os.path.islink(path) else ""
        if "outputs" not in target:
            continue
        files += 1
        end = os.fstat(int(name)).st_size
        denied("6 GiB of outputs", os.ftruncate, int(name), 6 << 30)
        denied("a MiB after the outputs", os.pwrite, int(name), PIECE, end)
        denied("room after the outputs", os.posix_fallocate, int(name), end, 1 << 30)
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    require("there was a file of outputs", files > 0 or not interpreted)


def vector_add(x, y):
    attack()
    return add(x, y)
