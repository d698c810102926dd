# honest: reads offsets on the host, as the spec allows, and launches a kernel per class of lengths
# operator: jagged_softmax


@triton.jit
def _segments(values, y, offsets, chosen, BLOCK: tl.constexpr):
    s = tl.load(chosen + tl.program_id(0))
    start = tl.load(offsets + s)
    length = tl.load(offsets + s + 1) - start
    c = tl.arange(0, BLOCK)
    v = tl.load(values + start + c, mask=c < length, other=-float("inf"))
    w = tl.exp(v - tl.max(v, axis=0))
    tl.store(y + start + c, w / tl.sum(w, axis=0), mask=c < length)


def jagged_softmax(values, offsets, max_length):
    y = torch.empty_like(values)
    classes = {}
    for s, length in enumerate((offsets[1:] - offsets[:-1]).tolist()):
        if length > 0:
            classes.setdefault(triton.next_power_of_2(length), []).append(s)
    for block, segments in classes.items():
        chosen = torch.tensor(segments, dtype=torch.int32, device=values.device)
        _segments[(len(segments),)](values, y, offsets, chosen, BLOCK=block)
    return y
