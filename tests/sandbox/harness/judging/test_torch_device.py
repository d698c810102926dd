from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from harness.judging import torch_device as module
from harness.judging.torch_device import torch_device


def with_rocm(monkeypatch: pytest.MonkeyPatch, architectures: list[str], gpus: int = 2) -> None:
    """Makes torch look like a PyTorch for ROCm on a machine with MI300X."""
    monkeypatch.setattr(torch.version, "hip", "6.4")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpus > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(torch.cuda, "get_arch_list", lambda: architectures)
    facts = SimpleNamespace(gcnArchName="gfx942:sramecc+:xnack-")
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: facts)


def test_a_pytorch_for_rocm_that_does_not_match_names_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_rocm(monkeypatch, ["gfx90a", "gfx1100"])
    with pytest.raises(
        RuntimeError, match=r"is a gfx942, and .* only for gfx90a, gfx1100; .*newer ROCm"
    ):
        torch_device("hip:0")
    with_rocm(monkeypatch, ["gfx942"], gpus=0)
    with pytest.raises(RuntimeError, match=r"not seen by torch .* for ROCm 6\.4.* fits the kernel"):
        torch_device("hip:0")


def test_a_judge_that_may_not_open_the_gpu_names_the_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with_rocm(monkeypatch, ["gfx942"], gpus=0)
    monkeypatch.setattr(module, "COMPUTE", "/")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(RuntimeError, match=r"may not open /; .*in the groups render and video"):
        torch_device("hip:0")


def test_a_pytorch_for_rocm_calls_amds_gpus_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    with_rocm(monkeypatch, ["gfx90a", "gfx942"])
    assert torch_device("hip:1") == torch.device("cuda:1")
    assert torch_device("cpu") == torch.device("cpu")
    with pytest.raises(RuntimeError, match=r"needs a PyTorch for CUDA.*AMD's GPUs are hip:N"):
        torch_device("cuda:0")


def test_a_pytorch_for_cuda_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.version, "hip", None)
    assert torch_device("cuda:1") == torch.device("cuda:1")
    with pytest.raises(RuntimeError, match=r"needs a PyTorch for ROCm.*whl/rocm"):
        torch_device("hip:0")
