"""The kernels compute a 3 x 3 convolution as a matrix product. The product's right operand (the
patches of the image) is never stored: each program loads its part from the reordered inputs.

The first kernel moves channels to the last dimension, pads the channels to whole blocks and adds a
border of zeros to each image. This costs one pass over memory. In return, the second kernel loads
whole vectors without a mask, and a filter position is only an offset of an address. The tiles of
the second kernel are filters x pixels, so that stores to NCHW are contiguous along pixels."""

import torch
import triton
import triton.language as tl


@triton.jit
def _reorder_kernel(
    x_ptr,
    image_ptr,
    weight_ptr,
    place_ptr,
    rows,
    filters,
    channels,
    height,
    width,
    area,
    padded,
    BW: tl.constexpr,
    BC: tl.constexpr,
    EIGHTS: tl.constexpr,
):
    row = tl.program_id(0)
    depth = tl.program_id(1) * BC + tl.arange(0, BC)
    if row >= rows:
        # The programs past the last image row reorder the weights, which saves a launch.
        f = row - rows
        for place in range(9):
            w = tl.load(
                weight_ptr + (f * channels + depth) * 9 + place, mask=depth < channels, other=0.0
            )
            tl.store(place_ptr + (place * filters + f) * padded + depth, w)
        return
    image = row // (height + 2)
    i = row % (height + 2) - 1
    source = image.to(tl.int64) * channels * area + i * width
    if EIGHTS:
        source = tl.multiple_of(source, 8)
    target = row.to(tl.int64) * (width + 2) * padded
    edge = tl.zeros((BC,), x_ptr.dtype.element_ty)
    tl.store(image_ptr + target + depth, edge)
    tl.store(image_ptr + target + (width + 1) * padded + depth, edge)
    # Reads begin at the first pixel of the image row, so that vectors of pixels are aligned. The
    # border shifts each pixel by one position, but only the stores have this shift, and they are
    # contiguous along channels.
    for first in range(0, width, BW):
        j = first + tl.arange(0, BW)
        # If `EIGHTS` is set, the mask is the same for eight neighbouring pixels, so one load reads
        # all eight. With a mask for each pixel, each load would read only 2 bytes.
        in_row = j // 8 < width // 8 if EIGHTS else j < width
        inside = ((i >= 0) & (i < height)) & in_row[:, None] & (depth < channels)[None, :]
        x = tl.load(x_ptr + source + depth[None, :] * area + j[:, None], mask=inside, other=0.0)
        tl.store(
            image_ptr + target + (j + 1)[:, None] * padded + depth[None, :],
            x,
            mask=(j < width)[:, None],
        )


@triton.jit
def _conv_kernel(
    x_ptr,
    weight_ptr,
    y_ptr,
    pixels,
    filters,
    height,
    width,
    padded,
    BF: tl.constexpr,
    BP: tl.constexpr,
    BC: tl.constexpr,
    VECTORS: tl.constexpr,
):
    rows = tl.program_id(0) * BF + tl.arange(0, BF)
    places = tl.program_id(1) * BP + tl.arange(0, BP)
    # Filters and pixels past the end wrap around to the start, so the loads need no mask. The
    # products of these filters and pixels are never stored.
    f = rows % filters
    pixel = places % pixels
    image = pixel // (height * width)
    within = pixel % (height * width)
    corner = (image * (height + 2) + within // width) * (width + 2) + within % width
    depth = tl.arange(0, BC)
    x_tile = x_ptr + corner.to(tl.int64)[None, :] * padded + depth[:, None]
    weight_tile = weight_ptr + f[:, None] * padded + depth[None, :]
    blocks = padded // BC
    acc = tl.zeros((BF, BP), tl.float32)
    for step in range(0, 9 * blocks):
        place = step // blocks
        first = step % blocks * BC
        shift = (place // 3) * (width + 2) + place % 3
        w = tl.load(weight_tile + place * filters * padded + first)
        x = tl.load(x_tile + shift * padded + first)
        acc = tl.dot(w, x, acc)
    # Computes the image and the position of each pixel again, here without the wrap. Values kept
    # from above would occupy registers during the loop.
    area = height * width
    images = places // area
    within = places % area
    if VECTORS:
        # Eight consecutive pixels never straddle two images. The compiler cannot know this.
        images = tl.max_constancy(images, 8)
        within = tl.max_contiguous(tl.multiple_of(within, 8), 8)
    target = (images * (filters * area) + within)[None, :] + rows[:, None] * area
    tl.store(
        y_ptr + target,
        acc.to(tl.float16),
        mask=(rows < filters)[:, None] & (places < pixels)[None, :],
    )


def _stages(most: int) -> int:
    """Returns the number of pipeline stages: `most` in general, and at most two on AMD GPUs. An AMD
    GPU has 64 KiB of shared memory, which is enough for the tiles of one step only. With two stages
    the loads run one step ahead, and the loaded values wait in registers."""
    if (
        triton.knobs.runtime.interpret
        or triton.runtime.driver.active.get_current_target().backend != "hip"
    ):
        return most
    return min(most, 2)


def conv2d_3x3(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    batch, channels, height, width = x.shape
    filters = weight.shape[0]
    bc = 64 if channels > 32 else 32
    padded = triton.cdiv(channels, bc) * bc
    images = torch.empty((batch, height + 2, width + 2, padded), dtype=x.dtype, device=x.device)
    places = torch.empty((9, filters, padded), dtype=x.dtype, device=x.device)
    y = torch.empty((batch, filters, height, width), dtype=x.dtype, device=x.device)
    bw = min(64, triton.next_power_of_2(width))
    rows = batch * (height + 2)
    _reorder_kernel[(rows + filters, padded // bc)](
        x,
        images,
        weight,
        places,
        rows,
        filters,
        channels,
        height,
        width,
        height * width,
        padded,
        BW=bw,
        BC=bc,
        EIGHTS=width % 8 == 0,
        num_warps=4,
    )
    pixels = batch * height * width
    # Uses large tiles when there is much work. When there is little, there would be too few large
    # tiles to occupy every SM, so it uses small tiles.
    bf, bp, warps, stages = (
        (128, 256, 8, 3) if filters > 64 and pixels * filters >= 128 * 256 * 132 else (64, 64, 4, 4)
    )
    _conv_kernel[(triton.cdiv(filters, bf), triton.cdiv(pixels, bp))](
        images,
        places,
        y,
        pixels,
        filters,
        height,
        width,
        padded,
        BF=bf,
        BP=bp,
        BC=bc,
        VECTORS=height * width % 8 == 0,
        num_warps=warps,
        num_stages=_stages(stages),
    )
    return y
