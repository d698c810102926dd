# attempt: initialises CUDA, to allocate pinned host memory without end
# expect: pass (the attempt gains nothing)
# needs: gpu
# defence: no_gpu


def flood():
    cuda = ctypes.CDLL("libcuda.so.1")
    if cuda.cuInit(0) != 0:
        raise OSError(_errno.ENODEV, "cuInit failed")
    return "cuInit succeeded in a candidate"


denied("cuInit, before any pinned memory", flood)
