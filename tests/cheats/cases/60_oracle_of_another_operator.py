# cheat: submits a good kernel for another operator
# expect: error:missing_entry
# expect_on_gpu: error:missing_entry
# defence: process_separation


def axpby(x, y):
    return honest_add(x, y)
