# attempt: overflows the native stack
# expect: error:crash
# needs: nothing
# defence: supervisor


def vector_add(x, y):
    nested = ()
    for _ in range(1_000_000):
        nested = (nested,)
    return hash(nested)
