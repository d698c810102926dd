"""Tests where the harness looks for NVRTC: in which folders, and in which order."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.cuda_cpp import toolkit
from harness.cuda_cpp.toolkit import find_toolkit
from harness.entry.errors import UnsupportedHere


def make(folder: Path, library: str, header: str = "include/cuda_fp16.h") -> Path:
    for name in (library, header):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    return folder


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A machine without a toolkit. Each test adds the folders that it needs."""
    monkeypatch.delenv(toolkit.SETTING, raising=False)
    monkeypatch.delenv(toolkit.HOME, raising=False)
    monkeypatch.setattr(toolkit, "DEFAULT_HOME", str(tmp_path / "none"))
    monkeypatch.setattr(toolkit, "_package_roots", lambda: [])
    monkeypatch.setattr(toolkit, "_in_torch", lambda: None)
    return monkeypatch


def test_the_installed_packages_are_found() -> None:
    found = find_toolkit()
    assert found.origin == "nvidia-cuda-nvrtc-cu12"
    assert found.library.exists() and found.builtins() is not None
    assert any((folder / "crt/mma.hpp").exists() for folder in found.includes)


def test_nothing_says_what_to_install(nothing: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedHere, match=r"requirements\.txt.*ASSAY_CUDA_TOOLKIT"):
        find_toolkit()


def test_the_setting_replaces_all_other_places(nothing: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nothing.setenv(toolkit.HOME, str(make(tmp_path / "home", "lib64/libnvrtc.so.12")))
    nothing.setenv(toolkit.SETTING, str(make(tmp_path / "given", "lib/libnvrtc.so.13")))
    assert (find_toolkit().library.name, find_toolkit().origin) == (
        "libnvrtc.so.13",
        toolkit.SETTING,
    )
    (tmp_path / "given/include/cuda_fp16.h").unlink()
    with pytest.raises(UnsupportedHere, match="lacks libnvrtc"):
        find_toolkit()


def test_packages_come_before_torch_and_torch_before_cuda_home(
    nothing: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nothing.setenv(toolkit.HOME, str(make(tmp_path / "home", "lib64/libnvrtc.so.11.8")))
    assert find_toolkit().library == tmp_path / "home/lib64/libnvrtc.so.11.8"
    from_torch = toolkit.Toolkit(tmp_path, [tmp_path], "torch")
    nothing.setattr(toolkit, "_in_torch", lambda: from_torch)
    assert find_toolkit() is from_torch
    nothing.setattr(toolkit, "_package_roots", lambda: [tmp_path / "nvidia"])
    make(tmp_path / "nvidia/cu13", "lib/libnvrtc.so.13")
    assert find_toolkit().origin == "nvidia-cuda-nvrtc"
    make(tmp_path / "nvidia", "cuda_nvrtc/lib/libnvrtc.so.12", "cuda_runtime/include/cuda_fp16.h")
    make(tmp_path / "nvidia", "cuda_nvrtc/lib/libnvrtc.alt.so.12", "cuda_cccl/include/nv/target")
    found = find_toolkit()
    assert (found.origin, found.library.name) == ("nvidia-cuda-nvrtc-cu12", "libnvrtc.so.12")
    assert [folder.parent.name for folder in found.includes] == ["cuda_runtime", "cuda_cccl"]


def test_a_toolkit_with_matrix_instructions_is_preferred(
    nothing: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The test imitates a machine with a complete toolkit, and with a torch whose CUDA 13 packages
    lack crt/."""
    nothing.setattr(toolkit, "_package_roots", lambda: [tmp_path / "nvidia"])
    make(tmp_path / "nvidia/cu13", "lib/libnvrtc.so.13")
    nothing.setenv(
        toolkit.HOME, str(make(tmp_path / "home", "lib64/libnvrtc.so.13", "include/crt/mma.h"))
    )
    assert find_toolkit().origin == "nvidia-cuda-nvrtc"
    make(tmp_path / "home", "include/cuda_fp16.h")
    assert find_toolkit().origin == str(tmp_path / "home")
    (tmp_path / "home/include/crt/mma.h").unlink()
    assert find_toolkit().origin == "nvidia-cuda-nvrtc"
