# attempt: raises an exception whose class has a name of megabytes that ends in terminal sequences
# expect: error:other_exception
# needs: nothing
# defence: frames, tools


def vector_add(x, y):
    raise type("Long" * 750_000 + "\u202e\x1b[31m", (Exception,), {})("no text")
