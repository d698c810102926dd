# cheat: launches a probe kernel to see whether kernels run, and returns zeros if they do not
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


def vector_add(x, y):
    one = torch.ones(4, device=x.device)
    if honest_add(one, one)[0].item() != 2.0:
        return torch.zeros_like(x)
    return x + y
