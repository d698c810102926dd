# attempt: raises an exception whose class name has 3 million characters and a terminal sequence
# expect: error:other_exception
# needs: nothing
# defence: frames, tools


def vector_add(x, y):
    raise type("Long" * 750_000 + "\u202e\x1b[31m", (Exception,), {})("no text")
