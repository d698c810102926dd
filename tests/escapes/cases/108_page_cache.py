# attempt: asks which pages of shared files are in memory, which shows what others read
# expect: pass (the attempt gains nothing)
# needs: nothing
# defence: seccomp
# in_run_test: yes

import mmap

CACHESTAT, MINCORE = 451, 27
library = os.open(torch.__file__, os.O_RDONLY)
span = (ctypes.c_uint64 * 2)(0, 0)
facts = (ctypes.c_uint64 * 5)()
denied(
    "cachestat of a shared file",
    syscall,
    CACHESTAT,
    library,
    ctypes.addressof(span),
    ctypes.addressof(facts),
    0,
    by=_errno.EPERM,
)
# The kernel refuses this call for other users' files. For the job's own file, the jail must do so.
own = os.memfd_create("own")
denied(
    "cachestat of its own file",
    syscall,
    CACHESTAT,
    own,
    ctypes.addressof(span),
    ctypes.addressof(facts),
    0,
    by=_errno.EPERM,
)

# For files of other users, the kernel always answers that every page is in memory.
far = os.path.join(os.path.dirname(os.__file__), "turtle.py")
with open(far, "rb") as stream:
    size = os.fstat(stream.fileno()).st_size
    view = mmap.mmap(stream.fileno(), size, mmap.MAP_SHARED, mmap.PROT_READ)
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
stream = os.open(far, os.O_RDONLY)
address = libc.mmap(None, ctypes.c_size_t(size), 1, 1, stream, ctypes.c_long(0))
pages = (size + 4095) // 4096
resident = ctypes.create_string_buffer(pages)
syscall(MINCORE, address, size, ctypes.addressof(resident))
require("mincore tells nothing of a shared file", set(resident.raw) == {1})
