from __future__ import annotations

import pytest
import torch
from harness.judging.torch_device import torch_device


def test_a_pytorch_for_rocm_calls_amds_gpus_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "hip", "6.4")
    assert torch_device("hip:1") == torch.device("cuda:1")
    assert torch_device("cpu") == torch.device("cpu")
    with pytest.raises(RuntimeError, match=r"needs a PyTorch for CUDA.*AMD's GPUs are hip:N"):
        torch_device("cuda:0")


def test_a_pytorch_for_cuda_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "hip", None)
    assert torch_device("cuda:1") == torch.device("cuda:1")
    with pytest.raises(RuntimeError, match=r"needs a PyTorch for ROCm.*whl/rocm"):
        torch_device("hip:0")
