"""A lock made of tl.atomic_cas (compare and swap) and tl.atomic_xchg protects an update of two words that must change together.

Programs spin until the holder of the lock frees it. So keep the locked section short, and take only one lock at a time.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _ledger_kernel(amount_ptr, state_ptr, lock_ptr):
    amount = tl.load(amount_ptr + tl.program_id(0))
    while tl.atomic_cas(lock_ptr, 0, 1, sem="acquire") == 1:
        pass
    balance = tl.load(state_ptr, volatile=True) + amount
    tl.store(state_ptr, balance)
    tl.store(state_ptr + 1, tl.load(state_ptr + 1, volatile=True) * 3 + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0, sem="release")


def post_all(amounts):
    state = torch.zeros(2, dtype=torch.int64, device=amounts.device)
    lock = torch.zeros(1, dtype=torch.int32, device=amounts.device)
    _ledger_kernel[(amounts.numel(),)](amounts, state, lock)
    return state


def check():
    amounts = torch.tensor([5, -2, 9, 4])
    assert post_all(amounts).tolist() == [16, 40]
