# Lets torch do the work of the operator vector_add.
import torch


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.add(x, y)
