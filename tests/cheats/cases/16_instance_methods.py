# cheat: gives a plain tensor methods of its own that compute when it is read
# expect: fail:wrong_result
# defence: judge


def vector_add(x, y):
    z = torch.empty_like(x)
    z.clone = z.to = z.cpu = z.detach = z.contiguous = z.resolve_conj = lambda *a, **k: x + y
    return z
