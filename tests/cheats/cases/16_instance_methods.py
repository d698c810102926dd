# cheat: replaces methods of a plain tensor by methods that compute when the tensor is read
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: judge


def vector_add(x, y):
    z = torch.empty_like(x)
    z.clone = z.to = z.cpu = z.detach = z.contiguous = z.resolve_conj = lambda *a, **k: x + y
    return z
