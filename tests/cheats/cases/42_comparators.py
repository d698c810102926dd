# cheat: replaces torch's comparisons by functions that always agree
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: process_separation

for owner, name in [
    (torch, "allclose"),
    (torch, "equal"),
    (torch, "isclose"),
    (torch.testing, "assert_close"),
    (torch.Tensor, "allclose"),
    (torch.Tensor, "equal"),
]:
    setattr(owner, name, lambda *a, **k: True)


def vector_add(x, y):
    return torch.zeros_like(x)
