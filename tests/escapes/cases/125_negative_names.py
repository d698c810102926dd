# attempt: looks up names that do not exist, without end; the kernel remembers each of them
# expect: error:timeout
# needs: nothing
# defence: cgroup_memory, supervisor

number = 0
while True:
    number += 1
    try:
        os.stat(f"/usr/lib/{number:0240d}")
    except OSError:
        pass
