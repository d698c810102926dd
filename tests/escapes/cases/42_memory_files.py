# attempt: executes a program from a memory file (memfd_create, which CUDA needs, then execveat)
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp
# in_run_test: yes

fd = allowed("memfd_create", os.memfd_create, "escape")
with open("/bin/true", "rb") as program:
    os.write(fd, program.read())
nothing = (ctypes.c_char_p * 1)(None)
denied("execveat(AT_EMPTY_PATH)", syscall, 322, fd, b"", nothing, nothing, 0x1000)
