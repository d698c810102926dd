# attempt: changes the limits of a CUDA context, which could outlast the job
# expect: pass (the attempt gains nothing)
# needs: gpu
# defence: no_gpu

os.environ["CUDA_VISIBLE_DEVICES"] = "0,1,2,3,4,5,6,7"


def change_limits():
    cuda = ctypes.CDLL("libcuda.so.1")
    if cuda.cuInit(0) != 0 or cuda.cuCtxSetLimit(0, 1 << 20) != 0:
        raise OSError(_errno.ENODEV, "there is no context to change")


denied("changing a context's limits", change_limits)
