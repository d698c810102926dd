# cheat: lets TorchScript add, which calls torch's operators from C++, as a C++ extension would
# expect: error:not_recordable
# expect_on_gpu: pass (its kernel does the work when it is recorded)
# defence: attribution


@torch.jit.script
def scripted(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


def vector_add(x, y):
    if type(x).__name__ == "FakeTensor":
        return honest_add(x, y)
    return scripted(x, y)
