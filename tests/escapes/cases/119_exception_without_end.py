# attempt: an exception whose text never ends, raised from one whose comparison lies
# expect: error:timeout
# tier: C
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
