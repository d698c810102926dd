"""The operands with which an operation is repeated on shadows (shadows.py). Some operations of torch
end the CUDA context if a value is not valid, and others raise an exception.

    for care in range(CARES):  # the later, the more operations accept the operand
        operand = substitute(care, "index", tensor, shadow, checks_shares=False)"""

from __future__ import annotations

import torch

# The names of parameters of torch's operations whose values must be valid indices. An invalid index
# would end the CUDA context.
INDICES = frozenset({"index", "indices", "sorter"})
# The names of integer parameters whose values the operation checks or trusts in another way.
CHECKED = frozenset(
    {
        "batch_sizes",
        "input_lengths",
        "lengths",
        "offset2bag",
        "offsets",
        "offs",
        "repeats",
        "target",
    }
    | {"target_lengths", "targets", "cum_seq_q", "cum_seq_k", "cu_seqlens_q", "cu_seqlens_k"}
    | {"seqused_k", "seqlen_k", "block_table"}
)
# These operations demand values between 0 and 1. Other values would end the CUDA context.
CHECK_SHARES = frozenset({"aten::binary_cross_entropy", "aten::binary_cross_entropy_backward"})
CARES = 3  # an operation that refuses values gets other values twice


def substitute(
    care: int, name: str, tensor: torch.Tensor, shadow: torch.Tensor, checks_shares: bool
) -> torch.Tensor:
    """Returns the operand for the parameter `name`. Elements that no kernel has changed stay as they
    are."""
    if not (tensor.is_floating_point() or tensor.is_complex()):
        if name in CHECKED:
            return tensor
        if care == 1 and name not in INDICES:
            return torch.where(shadow == tensor, tensor, tensor.amax())
        return _moved(tensor, shadow) if care or name in INDICES else shadow
    if checks_shares and name in ("self", "target"):
        return shadow.nan_to_num(0.5).clamp(0, 1)
    if care == 0:
        return shadow
    if care == 1:
        return torch.where(shadow.isfinite(), shadow, 0)
    return torch.where(shadow == tensor, tensor, tensor * 2)  # such as a matrix that is definite


def _moved(tensor: torch.Tensor, shadow: torch.Tensor) -> torch.Tensor:
    """Returns valid values: each element that a kernel has changed gets the value of the element
    before it."""
    return torch.where(shadow == tensor, tensor, tensor.reshape(-1).roll(1).view(tensor.shape))
