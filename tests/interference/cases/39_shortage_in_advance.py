# attempt: reports a shortage while it is compiled, so that the job runs again and the log says why
# expect: error:memory_limit

from torch._subclasses.fake_tensor import FakeTensor

KINDS = (KeyError, IndexError, NameError, TypeError, ValueError, ZeroDivisionError)


def vector_add(x, y):
    if isinstance(x, FakeTensor):
        raise MemoryError("the compiler lacks memory")
    if is_hidden(x):
        raise KINDS[x.numel() % len(KINDS)]()
    return honest_add(x, y)
