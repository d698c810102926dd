# cheat: computes once into memory that it frees, and returns a fresh allocation in its place
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: launcher


def vector_add(x, y):
    honest_add(x, y)
    return torch.empty_like(x)
