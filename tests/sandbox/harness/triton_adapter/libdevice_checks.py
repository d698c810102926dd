"""Tests that a kernel gets the same code from a small libdevice as from the whole one."""

from __future__ import annotations

import os
import re
import struct
import subprocess
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
    monkeypatch.setattr(llvm, "translate_to_asm", libdevice._to_text)
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


def machine_code(ptx_text: str, folder: Path) -> dict[str, bytes]:
    """Returns the sections that ptxas makes of the code and of variables."""
    (folder / "k.ptx").write_text(ptx_text)
    command = [knobs.nvidia.ptxas.path, "--gpu-name=sm_90a", "k.ptx", "-o", "k.cubin"]
    subprocess.run(command, cwd=folder, check=True)
    image = (folder / "k.cubin").read_bytes()
    (table,) = struct.unpack_from("<Q", image, 0x28)
    size, count, of_names = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", image, table + i * size) for i in range(count)]
    names = image[headers[of_names][4] :]
    sections = {
        names[one[0] : names.index(b"\0", one[0])].decode(): image[one[4] : one[4] + one[5]]
        for one in headers
    }
    return {
        name: content
        for name, content in sections.items()
        if name.startswith((".text", ".nv.global"))
    }


def test_names_of_options_make_no_variables(
    parts: Any, linked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = ptx(own_kernels.one_function, tmp_path / "without")
    monkeypatch.setattr(llvm, "translate_to_asm", libdevice._to_text)
    stock = ptx(own_kernels.one_function, tmp_path / "stock")
    assert "_$_str" in stock and "_$_str" not in without
    expected = machine_code(stock, tmp_path)
    assert any(name.startswith(".nv.global") for name in expected)
    code = {name: content for name, content in expected.items() if name.startswith(".text")}
    assert machine_code(without, tmp_path) == code


def test_a_name_that_is_used_stays() -> None:
    option = ".global .align 1 .b8 _$_str[3] = {95, 95, 67};\n"
    other = option.replace("_$_str", "_$_str_$_1")
    used = "mov.u64 %rd1, _$_str_$_1;\n"
    assert libdevice.without_options(option + other + used) == other + used


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
