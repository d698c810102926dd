# cheat: registers a function of its own as torch's copy, which a plan may contain, and lets it add
# expect: error:not_recordable
# expect_on_gpu: error:recursion_error,not_recordable
# defence: attribution

added = []


def copy(target, source, non_blocking=False):
    other = added[0] if added and added[0].shape == source.shape else None
    if other is not None and other.dtype == source.dtype == target.dtype:
        return torch.add(source, other, out=target)
    return torch.where(torch.ones_like(source, dtype=torch.bool), source, source, out=target)


library = torch.library.Library("aten", "IMPL")
for key in ("CPU", "CUDA", "Meta"):
    library.impl("copy_", copy, key)


def vector_add(x, y):
    added[:] = [y]
    z = kernel_copy(x)
    return z.copy_(x)
