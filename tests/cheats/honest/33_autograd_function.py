# honest: launches its kernel inside of an autograd function, which a module calls
# tool: submit


class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return honest_add(x, y)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, gradient


class Adder(torch.nn.Module):
    def forward(self, x, y):
        return Add.apply(x, y)


_adder = Adder()


@torch.no_grad()
def vector_add(x, y):
    return _adder(x, y)
