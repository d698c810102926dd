"""Tests that packages without compiled Python files are found."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest
from harness import triton_adapter


def package(folder: Path, name: str) -> ModuleType:
    file = folder / name / "__init__.py"
    file.parent.mkdir()
    file.write_text("")
    module = ModuleType(name)
    module.__file__ = str(file)
    return module


def test_a_package_without_compiled_files_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, compiled = package(tmp_path, "plain"), package(tmp_path, "compiled")
    cached = importlib.util.cache_from_source(str(compiled.__file__))
    os.makedirs(os.path.dirname(cached))
    Path(cached).touch()
    monkeypatch.setattr(triton_adapter, "torch", plain)
    monkeypatch.setattr(triton_adapter, "triton", compiled)
    assert triton_adapter.uncompiled_packages() == [str(tmp_path / "plain")]
