# honest: the host reads what the spec lets it read, and launches one kernel for each length
# operator: jagged_softmax


@triton.jit
def _segment(values, y, start, length, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    v = tl.load(values + start + c, mask=c < length, other=-float("inf"))
    w = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + start + c, w / tl.sum(w, axis=0), mask=c < length)


def jagged_softmax(values, offsets, max_length):
    y = torch.empty_like(values)
    edges = offsets.tolist()
    lengths = (offsets[1:] - offsets[:-1]).tolist()
    for start, length in list(zip(edges, lengths))[:4096]:
        if length > 0:
            _segment[(1,)](values, y, start, length, BLOCK=triton.next_power_of_2(length))
    return y
