# attempt: raises an exception whose text never ends, and that does not equal itself
# expect: error:timeout
# needs: nothing
# defence: supervisor


class Endless(RuntimeError):
    def __eq__(self, other):
        return False

    __hash__ = None

    def __str__(self):
        while True:
            pass


def vector_add(x, y):
    raise Endless()
