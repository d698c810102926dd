# attempt: raises an exception whose text ends the process when it is read
# expect: error:other_exception
# needs: nothing
# defence: frames


class Ends(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


def vector_add(x, y):
    raise Ends
