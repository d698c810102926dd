"""Tests that a kernel gets the same code from a small libdevice as from the whole one."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import triton

sys.path.insert(0, os.path.dirname(__file__))
import own_kernels
from harness.triton_adapter import libdevice
from triton import knobs
from triton._C.libtriton import llvm
from triton.backends.compiler import GPUTarget
from triton.language.extra.cuda import libdevice as names_of_libdevice


@pytest.fixture(scope="module")
def parts() -> Any:
    libdevice.split()
    return libdevice._parts


@pytest.fixture
def linked(parts: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Installs the small libraries, and yields the paths of the libraries that are linked."""
    paths: list[str] = []

    def link(module: Any, given: list[str]) -> None:
        paths.extend(given)
        whole(module, given)

    whole = llvm.link_extern_libs
    monkeypatch.setattr(libdevice, "_link", link)
    monkeypatch.setattr(llvm, "link_extern_libs", whole)  # is put back after the test
    libdevice.install(str(tmp_path))
    yield paths


def ptx(kernel: Any, folder: Path) -> str:
    source = triton.compiler.ASTSource(
        kernel, {"x": "*fp32", "y": "*fp32", "n": "i32", "B": "constexpr"}, {"B": 128}
    )
    with knobs.cache.scope():
        knobs.cache.dir = str(folder)
        return str(triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"])


@pytest.mark.parametrize("name", own_kernels.NAMES)
def test_the_code_is_the_same(name: str, parts: Any, linked: list[str], tmp_path: Path) -> None:
    kernel = getattr(own_kernels, name)
    small = ptx(kernel, tmp_path / "small")
    assert linked and all(Path(path).parent == tmp_path for path in linked)
    llvm.link_extern_libs = libdevice._link
    assert ptx(kernel, tmp_path / "whole") == small
    assert linked[-1] == libdevice.path()


def test_each_function_has_all_that_it_refers_to(parts: Any, tmp_path: Path) -> None:
    """LLVM refuses a library that refers to a name which is not in it."""
    source = Path(names_of_libdevice.__file__).read_text()
    names = sorted(set(re.findall(r'"(__nv_\w+)"', source)))
    assert len(names) > 300
    file = tmp_path / "one.ll"
    for name in names:
        file.write_text(parts.library([f"@{name}"]))
        text = libdevice._printed(str(file), [name])
        assert re.search(rf"^define internal .*@{name}\(", text, re.MULTILINE), name
        assert not re.search(r"^declare .*@__(nv|internal)_", text, re.MULTILINE), name


def test_another_library_is_linked_whole(parts: Any, linked: list[str], tmp_path: Path) -> None:
    other = tmp_path / "other.bc"
    other.write_bytes(Path(libdevice.path()).read_bytes())
    with knobs.nvidia.scope():
        knobs.nvidia.libdevice_path = str(other)
        ptx(own_kernels.one_function, tmp_path / "cache")
    assert linked == [str(other)]


def test_a_library_that_cannot_be_read_is_linked_by_triton(
    linked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    llvm.link_extern_libs = libdevice._link
    monkeypatch.setattr(libdevice, "_parts", None)
    monkeypatch.setattr(libdevice, "path", lambda: str(tmp_path / "missing.bc"))
    libdevice.split()
    assert "kernels link the whole of libdevice" in capfd.readouterr().err
    libdevice.install(str(tmp_path))
    ptx(own_kernels.one_function, tmp_path / "cache")
    assert [Path(path).name for path in linked] == ["missing.bc", "libdevice.10.bc"]
