# cheat: returns one element with strides of 0, which has the right shape
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: judge


def vector_add(x, y):
    return honest_add(x[:1], y[:1]).expand(x.numel())
