# cheat: an input under another shape, twice transposed
# expect: fail:wrong_result
# on_gpu: fail:wrong_result
# defence: judge


def vector_add(x, y):
    return x.unsqueeze(0).t().t().squeeze(0).view_as(y)
