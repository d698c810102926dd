# attempt: raises a syntax error that names a negative line of its own source
# expect: error:other_exception
# needs: nothing
# defence: frames


def vector_add(x, y):
    error = SyntaxError("no text")
    error.filename, error.lineno = __file__, -3
    raise error
