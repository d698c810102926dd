# honest: has an autotuner that resets an accumulator between configurations
# operator: embedding_bwd
# tool: submit


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})],
    key=["dim"],
    reset_to_zero=["dw"],
)
@triton.jit
def _scatter(dy, indices, dw, dim, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(indices + token).to(tl.int64)
    tl.atomic_add(
        dw + row * dim + c,
        tl.load(dy + token * dim + c, mask=c < dim, other=0.0),
        mask=c < dim,
        sem="relaxed",
    )


def embedding_bwd(dy, indices, vocab):
    tokens, dim = dy.shape
    dw = dy.new_zeros((vocab, dim))
    _scatter[lambda meta: (tokens, triton.cdiv(dim, meta["BLOCK"]))](dy, indices, dw, dim)
    return dw
