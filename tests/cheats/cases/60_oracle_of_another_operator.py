# cheat: hands in a good kernel for another operator
# expect: error:missing_entry
# on_gpu: error:missing_entry
# defence: structure


def axpby(x, y):
    return honest_add(x, y)
