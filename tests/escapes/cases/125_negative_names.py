# attempt: looks up a million names that do not exist, each of which the kernel remembers
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
