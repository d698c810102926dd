# cheat: replaces the class of a plain tensor by a class whose methods compute the answer
# expect: fail:output_mismatch
# expect_on_gpu: error:runtime_error
# defence: process_separation


class Late(torch.Tensor):
    def clone(self, *arguments, **options):
        return self.sum_of[0] + self.sum_of[1]

    contiguous = detach = cpu = to = clone


def vector_add(x, y):
    z = torch.empty_like(x)
    z.__class__ = Late
    z.sum_of = (x, y)
    return z
