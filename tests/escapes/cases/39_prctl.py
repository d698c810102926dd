# attempt: changes its dumpable flag, ptracer, memory map, parent death signal and personality
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp
# in_run_test: yes

denied("PR_SET_DUMPABLE", syscall, 157, 4, 1, 0, 0, 0)
denied("PR_SET_PTRACER", syscall, 157, 0x59616D61, -1, 0, 0, 0)
denied("PR_SET_MM", syscall, 157, 35, 1, 0, 0, 0)
denied("PR_SET_PDEATHSIG", syscall, 157, 1, 0, 0, 0, 0)
denied("personality(ADDR_NO_RANDOMIZE)", syscall, 135, 0x0040000)
for index in range(10_000):
    syscall(157, 15, b"flood%d" % index, 0, 0, 0)
