# honest: makes tensor descriptors in the kernel, with scratch from an allocator
# operator: softmax_last_dim


@triton.jit
def _with_descriptors(x, y, rows, cols, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(
        x, shape=[rows, cols], strides=[cols, 1], block_shape=[1, BLOCK]
    )
    row = tl.program_id(0)
    top = tl.full((), -3.0e38, tl.float32)
    total = tl.zeros((), tl.float32)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        v = tl.where((c < cols)[None, :], source.load([row, first]).to(tl.float32), -float("inf"))
        new = tl.maximum(top, tl.max(v))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(v - new))
        top = new
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        v = tl.reshape(source.load([row, first]), (BLOCK,)).to(tl.float32)
        tl.store(
            y + row.to(tl.int64) * cols + c,
            (tl.exp(v - top) / total).to(y.dtype.element_ty),
            mask=c < cols,
        )


@triton.jit
def _plain(x, y, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * cols
    c = tl.arange(0, BLOCK)
    v = tl.load(x + start + c, mask=c < cols, other=-float("inf")).to(tl.float32)
    w = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + start + c, (w / tl.sum(w, axis=0)).to(y.dtype.element_ty), mask=c < cols)


def softmax_last_dim(x):
    rows, cols = x.shape
    y = torch.empty_like(x)
    if cols * x.element_size() % 16 != 0:
        _plain[(rows,)](x, y, cols, BLOCK=triton.next_power_of_2(cols))
        return y
    triton.set_allocator(
        lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda")
    )
    _with_descriptors[(rows,)](x, y, rows, cols, BLOCK=256)
    return y
