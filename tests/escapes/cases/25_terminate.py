# attempt: an uncaught C++ exception ends it
# expect: error:crash
# tier: C
# defence: supervisor


def vector_add(x, y):
    ctypes.CDLL("libstdc++.so.6")._ZSt9terminatev()
