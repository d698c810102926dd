"""Tests on a real GPU that the cheap computation of a comparison says the same as the exact one
(sandbox/harness/judging/compare.py), also for the smallest numbers and for NaN."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "sandbox"))

torch = pytest.importorskip("torch")
from harness.judging import compare  # noqa: E402
from harness.judging.compare import Rule  # noqa: E402
from harness.judging.wrong import Before  # noqa: E402

pytestmark = pytest.mark.gpu
ELEMENTS = 1 << 20
NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("limit", [0.0, 0.01])
def test_both_computations_agree_on_a_gpu(
    dtype: torch.dtype, limit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = Rule("y", dtype, [ELEMENTS], limit, 1.0)
    smallest = torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
    for right_value in (0.0, NAN, INFINITY):
        for value in (0.0, smallest, 0.0099, 0.0101, NAN, INFINITY, -INFINITY):
            right = torch.zeros(ELEMENTS, dtype=dtype, device="cuda:0")
            got = right.clone()
            right[-1], got[-1] = right_value, value
            found = compare.compare([rule], [right], [got], None, before=Before(True, [None]))
            with monkeypatch.context() as exact:
                exact.setattr(compare, "_error_if_right", lambda *_: None)
                slow = compare.compare([rule], [right], [got], None, before=Before(True, [None]))
            assert found.max_abs_error == pytest.approx(slow.max_abs_error, rel=compare.ROUNDING)
            assert replace(found, max_abs_error=None) == replace(slow, max_abs_error=None)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2, torch.uint8])
def test_outputs_of_one_byte(dtype: torch.dtype) -> None:
    rule = Rule("y", dtype, [ELEMENTS], 0.0, 1.0)
    right = torch.ones(ELEMENTS, device="cuda:0").to(dtype)
    got = right.clone()
    assert compare.compare([rule], [right], [got], None).ok
    got.view(torch.uint8)[-1] ^= 1
    assert compare.compare([rule], [right], [got], None).mismatches == 1
