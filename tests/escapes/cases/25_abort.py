# attempt: ends by the signal SIGABRT
# expect: error:crash
# needs: nothing
# defence: supervisor


def vector_add(x, y):
    os.abort()
