# attempt: scans GPU addresses for memory of other processes
# expect: pass (the attempt gains nothing)
# needs: gpu
# defence: no_gpu


def scan():
    cuda = ctypes.CDLL("libcuda.so.1")
    base, size = ctypes.c_uint64(), ctypes.c_size_t()
    for address in range(0x7F0000000000, 0x7F0000000000 + (1 << 30), 2 << 20):
        if (
            cuda.cuMemGetAddressRange_v2(
                ctypes.byref(base), ctypes.byref(size), ctypes.c_uint64(address)
            )
            == 0
        ):
            return hex(base.value)
    raise OSError(_errno.EFAULT, "nothing is mapped")


denied("an address scan of GPU memory", scan)
