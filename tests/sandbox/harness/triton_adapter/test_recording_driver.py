"""Tests the cache of compiled kernels that the recording driver gives to Triton. The tests of
recordings test the driver itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.triton_adapter.recording_driver import _OwnCache
from triton import knobs


def test_cached_files_are_found_again_and_leave_no_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knobs.cache, "dir", str(tmp_path), raising=False)
    cache = _OwnCache("key")
    files = {
        name: cache.put(data, name) for name, data in (("a.cubin", b"\0\xff"), ("a.json", "{}"))
    }
    assert Path(files["a.cubin"]).read_bytes() == b"\0\xff"
    assert Path(files["a.json"]).read_text() == "{}"
    cache.put_group("a.json", files)
    cache.put(b"newer", "a.cubin")
    again = _OwnCache("key")
    assert again.get_group("a.json") == files
    assert again.get_file("a.cubin") == files["a.cubin"]
    assert Path(files["a.cubin"]).read_bytes() == b"newer"
    assert again.get_file("b.cubin") is None
    assert all(path.is_file() for path in (tmp_path / "key").iterdir())
