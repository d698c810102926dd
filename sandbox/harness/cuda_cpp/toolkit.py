"""Finds the NVRTC compiler and its headers. The places are searched in this order:

    1. ASSAY_CUDA_TOOLKIT   a folder with lib64/ (or lib/) and include/; if this variable is set, no
                            other place is searched
    2. pip packages         nvidia-cuda-nvrtc-cu12, with the headers of -runtime-, -nvcc- (crt/, for
                            mma.h) and -cccl-cu12 (requirements.txt); then the packages of CUDA 13
    3. torch/lib            CUDA builds of torch that include NVRTC, with Triton's CUDA headers
    4. CUDA_HOME            then /usr/local/cuda

The first toolkit that can compile matrix instructions is used. If none can, the first toolkit found
is used.

    toolkit = find_toolkit()  # raises UnsupportedHere, which says what to install

This module loads no library. The paths belong to the file system that this process sees, so inside
the jail they are paths in the jail."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

from harness.entry.errors import UnsupportedHere

SETTING, HOME = "ASSAY_CUDA_TOOLKIT", "CUDA_HOME"
DEFAULT_HOME = "/usr/local/cuda"
_LIBRARY_FOLDERS = ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", ".")
_NEEDED_HEADER = "cuda_fp16.h"
# The header mma.h, for matrix instructions, includes this file. CUDA 13 has this file in a separate
# package, which torch does not install.
_MATRIX_HEADER = "crt/mma.h"
INSTALL = "install the nvidia-cuda-*-cu12 packages of requirements.txt, or set ASSAY_CUDA_TOOLKIT to the folder of a CUDA toolkit"


@dataclass(frozen=True)
class Toolkit:
    library: Path  # the path of libnvrtc.so.*
    includes: list[Path]
    origin: str  # which of the places above contains the toolkit

    def has(self, header: str) -> bool:
        return any((folder / header).exists() for folder in self.includes)

    def builtins(self) -> Path | None:
        """Returns the library that NVRTC opens by its file name when it compiles, or None."""
        return _newest(self.library.parent, "libnvrtc-builtins.so*") or _newest(
            self.library.parent, "libnvrtc-builtins-*.so*"
        )


def find_toolkit() -> Toolkit:
    """Returns the toolkit to use (see the module's docstring). Raises UnsupportedHere if none is
    found."""
    given = os.environ.get(SETTING)
    if given:
        found = _in_folder(Path(given), SETTING)
        if found is None:
            raise UnsupportedHere(
                f"CUDA C++ cannot be compiled here: {SETTING} is {given}, which lacks libnvrtc.so or include/{_NEEDED_HEADER}"
            )
        return found
    partial: Toolkit | None = None
    for look in (_packages_of_cuda_12, _packages_of_cuda_13, _in_torch, _in_cuda_home):
        found = look()
        if found is not None and found.has(_MATRIX_HEADER):
            return found
        partial = partial or found
    if partial is not None:
        return partial
    raise UnsupportedHere(
        f"CUDA C++ cannot be compiled here: there is no NVRTC with its headers; {INSTALL}"
    )


def _in_folder(folder: Path, origin: str) -> Toolkit | None:
    include = folder / "include"
    for name in _LIBRARY_FOLDERS:
        library = _library(folder / name)
        if library is not None and (include / _NEEDED_HEADER).exists():
            return Toolkit(library, _folders(include, include / "cccl"), origin)
    return None


def _packages_of_cuda_12() -> Toolkit | None:
    for root in _package_roots():
        library, include = _library(root / "cuda_nvrtc" / "lib"), root / "cuda_runtime" / "include"
        if library is not None and (include / _NEEDED_HEADER).exists():
            others = (root / part / "include" for part in ("cuda_nvcc", "cuda_cccl"))
            return Toolkit(library, _folders(include, *others), "nvidia-cuda-nvrtc-cu12")
    return None


def _packages_of_cuda_13() -> Toolkit | None:
    for root in _package_roots():
        found = _in_folder(root / "cu13", "nvidia-cuda-nvrtc")
        if found is not None:
            return found
    return None


def _in_torch() -> Toolkit | None:
    torch = importlib.util.find_spec("torch")
    if torch is None or torch.origin is None:
        return None
    folder = Path(torch.origin).parent / "lib"
    library, includes = (
        _newest(folder, "libnvrtc-[0-9a-f]*.so*") or _library(folder),
        _headers_of_triton(),
    )
    return Toolkit(library, includes, "torch") if library is not None and includes else None


def _headers_of_triton() -> list[Path]:
    """Returns a list with the folder of Triton's copy of CUDA's headers. The list is empty if the
    folder lacks _NEEDED_HEADER."""
    triton = importlib.util.find_spec("triton")
    include = (
        Path(triton.origin).parent / "backends" / "nvidia" / "include"
        if triton is not None and triton.origin is not None
        else None
    )
    return [include] if include is not None and (include / _NEEDED_HEADER).exists() else []


def _in_cuda_home() -> Toolkit | None:
    for folder in (os.environ.get(HOME), DEFAULT_HOME):
        found = _in_folder(Path(folder), folder) if folder else None
        if found is not None:
            return found
    return None


def _folders(*folders: Path) -> list[Path]:
    return [folder for folder in folders if folder.is_dir()]


def _package_roots() -> list[Path]:
    """Returns the folders of the namespace package `nvidia`, which may have several folders."""
    spec = importlib.util.find_spec("nvidia")
    return (
        [Path(folder) for folder in spec.submodule_search_locations or ()]
        if spec is not None
        else []
    )


def _library(folder: Path) -> Path | None:
    return _newest(folder, "libnvrtc.so.[0-9]*") or _newest(folder, "libnvrtc.so")


def _newest(folder: Path, pattern: str) -> Path | None:
    found = sorted(folder.glob(pattern)) if folder.is_dir() else []
    return found[-1] if found else None
