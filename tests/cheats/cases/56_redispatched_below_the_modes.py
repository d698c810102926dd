# cheat: sends torch's addition to the dispatch key of the CPU, below all dispatch modes
# expect: fail:wrong_result
# expect_on_gpu: pass (its kernel does the work when it is recorded)
# defence: attribution


def vector_add(x, y):
    if type(x).__name__ == "FakeTensor":
        return honest_add(x, y)
    z = torch.empty_like(x)
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
    torch.ops.aten.add.out.redispatch(keys, x, y, out=z)
    return z
