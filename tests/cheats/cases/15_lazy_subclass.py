# cheat: returns an unfilled tensor of a subclass, which carries a function for the missing work
# expect: fail:output_mismatch
# expect_on_gpu: error:runtime_error
# defence: process_separation


class Lazy(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})


def vector_add(x, y):
    z = torch.empty_like(x).as_subclass(Lazy)
    z.work = lambda: x + y
    return z
