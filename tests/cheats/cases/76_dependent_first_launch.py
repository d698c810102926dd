# cheat: makes its first launch a dependent launch, which might start before the measurement
# expect: pass (the cheat gains nothing)
# tool: submit
# device: gpu
# defence: launcher


def vector_add(x, y):
    z = torch.empty_like(x)
    _add[(triton.cdiv(x.numel(), 2048),)](
        x, y, z, x.numel(), BLOCK=2048, num_warps=8, launch_pdl=True
    )
    return z
