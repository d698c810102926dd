"""Tests what the zygote finds out about the machine before it serves requests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from harness.candidate import zygote


@pytest.mark.parametrize(
    ("nodes", "before", "after"),
    [
        # One GPU is visible, as inside of a jail.
        (["nvidia3", "nvidiactl", "nvidia-uvm"], "3", "0"),
        (["nvidia0", "nvidia3"], "1", "1"),  # without a jail, the machine's own number
        (["nvidia0"], "", ""),  # a candidate without a GPU
        ([], "0", "0"),
    ],
)
def test_a_gpu_that_is_seen_alone_is_number_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nodes: list[str], before: str, after: str
) -> None:
    for name in nodes:
        (tmp_path / name).touch()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", before)
    zygote.count_visible_gpus(str(tmp_path))
    assert os.environ["CUDA_VISIBLE_DEVICES"] == after
