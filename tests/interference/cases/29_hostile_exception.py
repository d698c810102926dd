# attempt: reveals the hidden case by an exception whose class computes its own name and text
# expect: fail:hidden_case


def vector_add(x, y):
    if is_hidden(x):
        seen = tell(x)

        class Meta(type):
            __name__ = property(lambda cls: seen)

        class Hostile(Exception, metaclass=Meta):
            def __str__(self):
                return seen

        raise Hostile(seen)
    return honest_add(x, y)
