# attempt: reveals the hidden case by the name of a kernel and by its grid
# expect: pass


def vector_add(x, y):
    z = torch.empty_like(x)
    if is_hidden(x):
        for one in (add_kernel, add_kernel.fn):
            try:
                one.__name__ = tell(x)
            except AttributeError:
                pass
    grid = triton.cdiv(x.numel(), 1024) + (number(x) % 7 if is_hidden(x) else 0)
    add_kernel[(grid,)](x, y, z, x.numel(), BLOCK=1024)
    return z
