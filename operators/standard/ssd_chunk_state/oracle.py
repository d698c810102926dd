"""Each program computes the state of one chunk and head, as a matrix product of head_dim x steps x
state on tensor cores.

The program processes the steps from the chunk's end. So the decay from a step to the end is a sum
over steps that it has already processed. Near the end, where the weights are large, this sum is
small and therefore precise. A product of float32 inputs is split into three TF32 products, which
keeps the accuracy of float32 at tensor-core speed."""

import torch
import triton
import triton.language as tl


@triton.jit
def _state_kernel(
    x_ptr,
    b_ptr,
    dt_ptr,
    a_ptr,
    states_ptr,
    seq,
    chunk,
    chunks,
    heads,
    groups,
    P: tl.constexpr,
    N: tl.constexpr,
    STEPS: tl.constexpr,
    PRECISION: tl.constexpr,
):
    head = tl.program_id(0)
    number = tl.program_id(1)
    batch = tl.program_id(2).to(tl.int64)
    group = head // (heads // groups)
    first = number * chunk
    end = min(first + chunk, seq)
    p = tl.arange(0, P)
    n = tl.arange(0, N)
    behind = 0.0
    acc = tl.zeros((P, N), tl.float32)
    for i in range(0, tl.cdiv(end - first, STEPS)):
        steps = end - (i + 1) * STEPS + tl.arange(0, STEPS)
        inside = steps >= first
        row = batch * seq + steps
        a = tl.load(a_ptr + row * heads + head, mask=inside, other=0.0).to(tl.float32)
        dt = tl.load(dt_ptr + row * heads + head, mask=inside, other=0.0).to(tl.float32)
        w = tl.exp(behind + tl.cumsum(a, axis=0, reverse=True) - a) * dt
        behind += tl.sum(a, axis=0)
        x = tl.load(
            x_ptr + (row * heads + head)[:, None] * P + p[None, :], mask=inside[:, None], other=0.0
        )
        b = tl.load(
            b_ptr + (row * groups + group)[:, None] * N + n[None, :],
            mask=inside[:, None],
            other=0.0,
        )
        weighted = tl.trans(x.to(tl.float32) * w[:, None])
        acc = tl.dot(weighted.to(b.dtype), b, acc, input_precision=PRECISION)
    start = ((batch * chunks + number) * heads + head) * P * N
    tl.store(states_ptr + start + p[:, None] * N + n[None, :], acc)


def _is_amd() -> bool:
    """Returns True on AMD GPUs. The matrix cores of an AMD GPU can multiply float32 directly. Its
    64 KiB of shared memory are enough for one block of steps. The next block waits in registers."""
    return (
        not triton.knobs.runtime.interpret
        and triton.runtime.driver.active.get_current_target().backend == "hip"
    )


def _precision() -> str:
    """Returns the precision of products of float32 matrices. Of AMD's GPUs, only gfx942 has TF32;
    the others multiply float32 directly."""
    if triton.knobs.runtime.interpret:
        return "tf32"
    arch = triton.runtime.driver.active.get_current_target().arch
    return "tf32" if isinstance(arch, int) or arch == "gfx942" else "ieee"


def ssd_chunk_state(
    x: torch.Tensor, b: torch.Tensor, dt: torch.Tensor, a: torch.Tensor, chunk: int
) -> torch.Tensor:
    batch, seq, heads, head_dim = x.shape
    groups, state = b.shape[2], b.shape[3]
    chunks = triton.cdiv(seq, chunk)
    states = torch.empty(
        (batch, chunks, heads, head_dim, state), dtype=torch.float32, device=x.device
    )
    half = x.dtype == torch.float16
    warps = 8 if head_dim * state > 8192 else 4
    amd = _is_amd()
    _state_kernel[(heads, chunks, batch)](
        x,
        b,
        dt,
        a,
        states,
        seq,
        chunk,
        chunks,
        heads,
        groups,
        P=head_dim,
        N=state,
        STEPS=64 if half else 32,
        # This option has no effect for float16.
        PRECISION=_precision() if half else "ieee" if amd else "tf32x3",
        num_warps=warps,
        num_stages=2 if amd else 3,
    )
    return states
