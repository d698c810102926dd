# attempt: ends by a signal: abort
# expect: error:crash
# tier: C
# defence: supervisor


def vector_add(x, y):
    os.abort()
