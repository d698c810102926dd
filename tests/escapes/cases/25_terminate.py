# attempt: throws a C++ exception that nothing catches
# expect: error:crash
# needs: nothing
# defence: supervisor


def vector_add(x, y):
    ctypes.CDLL("libstdc++.so.6")._ZSt9terminatev()
