# cheat: returns an input that was reshaped and transposed twice
# expect: fail:wrong_result
# expect_on_gpu: fail:wrong_result
# defence: judge


def vector_add(x, y):
    return x.unsqueeze(0).t().t().squeeze(0).view_as(y)
