# cheat: launches at import, before any call
# expect: fail:wrong_result
# expect_on_gpu: error:not_recordable
# defence: process_separation

EARLY = honest_add(torch.ones(4112, device="cuda"), torch.ones(4112, device="cuda"))


def vector_add(x, y):
    return EARLY[: x.numel()].clone() if x.numel() <= EARLY.numel() else torch.zeros_like(x)
