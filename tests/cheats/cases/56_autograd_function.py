# cheat: lets torch add inside of an autograd function, after an honest kernel
# expect: error:not_recordable
# expect_on_gpu: error:not_recordable
# defence: attribution


class Sum(torch.autograd.Function):
    @staticmethod
    def forward(context, x, y):
        return torch.add(x, y)


def vector_add(x, y):
    honest_add(x, y)
    return Sum.apply(x, y)
