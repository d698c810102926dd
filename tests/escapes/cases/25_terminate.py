# attempt: calls std::terminate, as an uncaught C++ exception does
# expect: error:crash
# needs: nothing
# defence: supervisor


def vector_add(x, y):
    ctypes.CDLL("libstdc++.so.6")._ZSt9terminatev()
