"""A scan finds the longest run of true values. It combines pairs (length of the run that ends here, whether all values are true)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _run(a_length, a_all, b_length, b_all):
    return tl.where(b_all != 0, a_length + b_length, b_length), a_all & b_all


@triton.jit
def _longest_run_kernel(flag_ptr, out_ptr, cols, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    flag = tl.load(flag_ptr + tl.program_id(0) * cols + at, mask=at < cols, other=0)
    length, _ = tl.associative_scan((flag, flag), 0, _run)
    tl.store(out_ptr + tl.program_id(0), tl.max(length, axis=0))


def longest_run(flags):
    out = torch.empty(flags.shape[0], dtype=torch.int32, device=flags.device)
    _longest_run_kernel[(flags.shape[0],)](
        flags, out, flags.shape[1], BLOCK=triton.next_power_of_2(flags.shape[1])
    )
    return out


def check():
    flags = torch.tensor(
        [[1, 1, 0, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1]], dtype=torch.int32
    )
    assert longest_run(flags).tolist() == [3, 0, 7]
