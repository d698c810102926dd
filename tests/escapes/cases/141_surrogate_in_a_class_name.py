# attempt: raises an exception with lone surrogates in its text and in the name of its class
# expect: error:value_error
# needs: nothing
# defence: frames


def vector_add(x, y):
    raise type("Half\ud800", (Exception,), {})("\udcff")
