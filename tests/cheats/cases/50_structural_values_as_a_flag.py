# cheat: lets a kernel change an argument that the host may read, to see whether kernels run
# expect: fail:output_mismatch
# expect_on_gpu: fail:wrong_result
# operator: jagged_softmax
# defence: attribution


@triton.jit
def _mark(offsets):
    tl.store(offsets, 7)


def jagged_softmax(values, offsets, max_length):
    _mark[(1,)](offsets)
    if int(offsets[0]) != 7:
        return torch.empty_like(values)
    return torch.softmax(values, 0)
