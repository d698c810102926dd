# attempt: raises a syntax error with a line number of 41 digits, and objects in place of texts
# expect: error:other_exception
# needs: nothing
# defence: frames


def vector_add(x, y):
    error = SyntaxError("no text")
    error.msg = {"a": object()}
    error.filename, error.lineno, error.offset, error.text = __file__, 10**40, -5, b"\xff"
    raise error
