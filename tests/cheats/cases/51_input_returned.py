# cheat: returns an input
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: judge, task


def vector_add(x, y):
    return x
