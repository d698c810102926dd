# attempt: ends by the signal SIGSEGV
# expect: error:crash
# needs: nothing
# defence: supervisor


def vector_add(x, y):
    ctypes.string_at(0)
