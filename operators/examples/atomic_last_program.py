"""The last program to finish combines all partial results. A program is the last if it draws the last ticket (number of sign changes)."""

import torch
import triton
import triton.language as tl


@triton.jit
def _sign_changes_kernel(
    x_ptr, partial_ptr, ticket_ptr, out_ptr, n, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr
):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = tl.load(x_ptr + at, mask=at < n, other=1.0)
    after = tl.load(x_ptr + at + 1, mask=at + 1 < n, other=1.0)
    change = ((here < 0) != (after < 0)) & (at + 1 < n)
    tl.store(partial_ptr + tl.program_id(0), tl.sum(change.to(tl.int32), axis=0))
    tl.debug_barrier()  # the store must come before the ticket
    if tl.atomic_add(ticket_ptr, 1, sem="acq_rel") == tl.num_programs(0) - 1:
        part = tl.arange(0, PROGRAMS)
        counts = tl.load(
            partial_ptr + part, mask=part < tl.num_programs(0), other=0, cache_modifier=".cg"
        )
        tl.store(out_ptr, tl.sum(counts, axis=0))


def sign_changes(x):
    programs = triton.cdiv(x.numel(), 64)
    partial = torch.empty(programs, dtype=torch.int32, device=x.device)
    ticket = torch.zeros(1, dtype=torch.int32, device=x.device)
    out = torch.empty((), dtype=torch.int32, device=x.device)
    _sign_changes_kernel[(programs,)](
        x, partial, ticket, out, x.numel(), BLOCK=64, PROGRAMS=triton.next_power_of_2(programs)
    )
    return out


def check():
    x = torch.randn(500)
    assert sign_changes(x) == ((x[1:] < 0) != (x[:-1] < 0)).sum()
