# attempt: ends by a signal: segv
# expect: error:crash
# tier: C
# defence: supervisor


def vector_add(x, y):
    ctypes.string_at(0)
