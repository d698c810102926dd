# honest: is submitted twice, so that the second grade uses the plans of the first one
# tool: submit
# calls: 2


def vector_add(x, y):
    return honest_add(x, y)
