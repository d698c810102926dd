# honest: keeps its grids in a dictionary, and transposes tiles by block pointers in a helper
# operator: transpose2d
# tool: submit

GRIDS = {}


@triton.jit
def _tile(base, rows, cols, i, j, SIDE: tl.constexpr):
    return tl.make_block_ptr(base, (rows, cols), (cols, 1), (i, j), (SIDE, SIDE), (1, 0))


@triton.jit
def _turn(x, y, rows, cols, SIDE: tl.constexpr):
    i, j = tl.program_id(0) * SIDE, tl.program_id(1) * SIDE
    tile = tl.load(_tile(x, rows, cols, i, j, SIDE), boundary_check=(0, 1))
    tl.store(_tile(y, cols, rows, j, i, SIDE), tl.trans(tile), boundary_check=(0, 1))


def transpose2d(x):
    rows, cols = x.shape
    key = (rows, cols, x.dtype)
    if key not in GRIDS:
        GRIDS[key] = (triton.cdiv(rows, 32), triton.cdiv(cols, 32))
    y = x.new_empty((cols, rows))
    _turn[GRIDS[key]](x, y, rows, cols, SIDE=32)
    return y
