# attempt: opens files outside of its root by inode, with open_by_handle_at
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp, capabilities

handle = (ctypes.c_uint32 * 34)(128)
mount = ctypes.c_int()
denied(
    "name_to_handle_at", syscall, 303, -100, b"/usr", ctypes.byref(handle), ctypes.byref(mount), 0
)
handle = (ctypes.c_uint32 * 34)(8, 1, 2, 0)
denied("open_by_handle_at", syscall, 304, os.open("/usr", os.O_RDONLY), ctypes.byref(handle), 0)
