# cheat: computes on the host, where kernel time does not count, and copies the sums by a kernel
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    host = [a + b for a, b in zip(x.cpu().tolist(), y.cpu().tolist())]
    return kernel_copy(torch.tensor(host, dtype=x.dtype, device=x.device))
