"""Each thread computes one neuron. The recurrence is exact and not associative, so the steps run in
sequence.

Only the loads can run ahead: while the kernel computes DEPTH steps, the inputs of the next DEPTH
steps are being loaded. The code does this explicitly, because the compiler may not move loads
before stores."""

import torch
import triton
import triton.language as tl


@triton.jit
def _spike_kernel(
    x_ptr,
    v0_ptr,
    spike_ptr,
    v_ptr,
    steps,
    neurons,
    shift,
    theta,
    BLOCK: tl.constexpr,
    DEPTH: tl.constexpr,
):
    neuron = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = neuron < neurons
    v = tl.load(v0_ptr + neuron, mask=mask, other=0)
    x_row = x_ptr + neuron
    spike_row = spike_ptr + neuron
    stride = neurons.to(tl.int64)
    ahead = ()
    for step in tl.static_range(DEPTH):
        ahead = ahead + (tl.load(x_row + step * stride, mask=mask & (step < steps), other=0),)
    for first in range(0, steps, DEPTH):
        x_row += DEPTH * stride
        now = ahead
        ahead = ()
        for step in tl.static_range(DEPTH):
            ahead = ahead + (
                tl.load(x_row + step * stride, mask=mask & (first + DEPTH + step < steps), other=0),
            )
        for step in tl.static_range(DEPTH):
            real = first + step < steps
            new = v + now[step] - (v >> shift)
            fired = new >= theta
            v = tl.where(real, tl.where(fired, new - theta, new), v)
            tl.store(spike_row + step * stride, fired.to(tl.int8), mask=mask & real)
        spike_row += DEPTH * stride
    tl.store(v_ptr + neuron, v, mask=mask)


def int_lif_spike_scan(
    x: torch.Tensor, v0: torch.Tensor, shift: int, theta: int
) -> tuple[torch.Tensor, torch.Tensor]:
    steps, neurons = x.shape
    spike = torch.empty((steps, neurons), dtype=torch.int8, device=x.device)
    v = torch.empty_like(v0)
    # With few neurons, smaller programs spread them over all SMs.
    block = 64 if neurons >= 32768 else 32
    _spike_kernel[(triton.cdiv(neurons, block),)](
        x, v0, spike, v, steps, neurons, shift, theta, BLOCK=block, DEPTH=32, num_warps=block // 32
    )
    return spike, v
