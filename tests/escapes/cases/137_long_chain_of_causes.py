# attempt: raises an exception whose chain of causes has 200,000 links
# expect: error:value_error
# needs: nothing
# defence: supervisor, frames


def vector_add(x, y):
    error = ValueError("the first")
    for number in range(200_000):
        later = ValueError(str(number))
        later.__cause__ = error
        error = later
    raise error
