# cheat: leaves the last block out
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: launcher, judge


def vector_add(x, y):
    z = torch.empty_like(x)
    _add[(x.numel() // 1024,)](x, y, z, x.numel(), BLOCK=1024)
    return z
