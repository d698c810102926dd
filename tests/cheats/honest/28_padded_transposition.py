# honest: lets torch pad the input and cut the result, and transposes whole tiles by a kernel
# operator: transpose2d
# tool: submit


@triton.jit
def _tiles(x, y, rows, cols, TILE: tl.constexpr):
    r = (tl.program_id(0) * TILE + tl.arange(0, TILE))[:, None]
    c = (tl.program_id(1) * TILE + tl.arange(0, TILE))[None, :]
    tl.store(y + c * rows + r, tl.load(x + r * cols + c))


def transpose2d(x):
    rows, cols = (-(-extent // 32) * 32 for extent in x.shape)
    padded = torch.nn.functional.pad(x, (0, cols - x.shape[1], 0, rows - x.shape[0]))
    y = torch.empty((cols, rows), dtype=x.dtype, device=x.device)
    _tiles[(rows // 32, cols // 32)](padded, y, rows, cols, TILE=32)
    return y[: x.shape[1], : x.shape[0]].contiguous()
