# attempt: changes rights and attributes of the job's memory files, and writes to the inputs' file
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: frames, slot_user
# in_run_test: yes

import fcntl
import mmap

KEEP_SIZE_AND_PUNCH, FALLOCATE = 3, 285
add = vector_add  # the job gets its memory files with the cases, after the import


def attack():
    inputs = 0
    for name in os.listdir("/proc/self/fd"):
        path = f"/proc/self/fd/{name}"
        target = os.readlink(path) if os.path.islink(path) else ""
        if "memfd" not in target:
            continue
        fd = int(name)
        if has_own_user():
            denied(f"chmod of {target}", os.fchmod, fd, 0)
            denied(f"owner of {target}", os.fchown, fd, os.getuid(), -1)
        denied(f"attribute of {target}", os.setxattr, path, "trusted.escape", b"x")
        denied(f"lease on {target}", fcntl.fcntl, fd, 1024, fcntl.F_WRLCK)
        if "inputs" in target:
            inputs += 1
            denied(
                f"punching a hole into {target}",
                syscall,
                FALLOCATE,
                fd,
                KEEP_SIZE_AND_PUNCH,
                0,
                4096,
            )
            denied(f"writing {target}", os.pwrite, fd, b"x", 0)
            denied(
                f"mapping {target} to write",
                mmap.mmap,
                fd,
                4096,
                mmap.MAP_SHARED,
                mmap.PROT_WRITE,
                errors=(OSError, ValueError),
            )
            denied(f"executing {target}", os.execve, fd, ["x"], {})
    # While the harness records a plan, the candidate gets no values of its inputs, and so no
    # files of inputs. In Triton's interpreter, the candidate must have such files.
    interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    require("there were inputs to try", inputs > 0 or not interpreted)


def vector_add(x, y):
    attack()
    return add(x, y)
