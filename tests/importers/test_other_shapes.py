"""Tests hidden cases of other shapes (importers/tritonbench/golden_other_shapes.py,
sandbox/harness/imported/cut_arguments.py): which operators of golden files get one, and that a
submission for the public sizes alone fails it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "sandbox"))
from harness.imported.cut_arguments import (  # noqa: E402
    CannotCut,
    cut,
    distribution_of,
    number_of,
    sizes_of,
)

BINARY = os.environ.get("ASSAY_BIN", str(ROOT / "build/release/bin/assay"))
ENVIRONMENT = {**os.environ, "ASSAY_PYTHON": sys.executable}
SEPARATOR = "\n" + "#" * 146 + "\n"
# Sums of rows. LOAD says which columns of a block are read.
KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def sum_kernel(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(y + row, tl.sum(LOAD))

def row_sums(x, scale):
    y = torch.empty(x.shape[0], device=x.device)
    sum_kernel[(x.shape[0],)](x, y, x.shape[1], BLOCK=32)
    return y
"""
MASKED = "tl.load(x + row * columns + i, mask=i < columns, other=0.0)"
WHOLE_BLOCKS = "tl.load(x + row * columns + i)"
CALL = "row_sums(torch.randn(6, 32, device='cuda'), SCALE)\n"


def cases_of(suite: Path, operator: str) -> list[str]:
    """Returns the distributions of the hidden cases."""
    spec = (suite / "standard" / operator / "spec.toml").read_text()
    return [line.split('"')[1] for line in spec.splitlines() if line.startswith("distribution")][1:]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    masked, whole = KERNEL.replace("LOAD", MASKED), KERNEL.replace("LOAD", WHOLE_BLOCKS)
    (folder / "masked.py").write_text(masked + SEPARATOR + CALL.replace("SCALE", "2.0"))
    (folder / "whole.py").write_text(whole + SEPARATOR + CALL.replace("SCALE", "2.0"))
    # The scale may be one over the number of columns, so the columns keep their number.
    (folder / "scaled.py").write_text(masked + SEPARATOR + CALL.replace("SCALE", "1 / 32"))
    # The integers may be indices.
    indexed = masked.replace("def row_sums(x, scale)", "def row_sums(x, index)")
    call = CALL.replace("SCALE", "torch.zeros(6, dtype=torch.int64, device='cuda')")
    (folder / "indexed.py").write_text(indexed + SEPARATOR + call)
    # The interpreter has no time for this number of programs, so much smaller sizes are tried.
    large = CALL.replace("6, 32", "2048, 32").replace("SCALE", "2.0")
    (folder / "large.py").write_text(masked + SEPARATOR + large)
    out = tmp_path_factory.mktemp("suites") / "suite"
    done = subprocess.run(
        [BINARY, "import", "tritonbench-g", str(folder), "--out", str(out)],
        capture_output=True,
        text=True,
        timeout=600,
        env=ENVIRONMENT,
    )
    assert done.returncode == 0, done.stderr
    assert "4 of them have cases that run without a GPU, 5 have a hidden case" in done.stdout
    return out


@pytest.mark.parametrize(
    ("operator", "other"),
    [
        ("masked", ["call_0_cut_6_5_32_27"]),
        ("whole", ["call_0_cut_6_5"]),  # it reads 32 columns of each row, whatever the row has
        ("scaled", ["call_0_cut_6_5"]),
        ("indexed", ["call_0_cut_6_5_32_27"]),
        ("large", ["call_0_cut_2048_111"]),
    ],
)
def test_a_cut_needs_evidence_that_the_golden_code_computes_it(
    suite: Path, operator: str, other: list[str]
) -> None:
    assert cases_of(suite, operator) == ["call_0", *other]
    report: Any = json.loads((suite / "import.json").read_text())
    counts = {one["operators"][0]["name"]: one["operators"][0] for one in report["files"]}
    assert counts[operator]["other_shapes"] == len(other)
    assert counts[operator]["interpreted"] == (operator != "large")
    spec = (suite / "standard" / operator / "spec.toml").read_text()
    assert ("some have smaller shapes" in spec) == bool(other)


# It stays within the tensor, but always adds 32 elements: right for rows of 32 columns.
ALWAYS_32 = "tl.load(x + row * columns + i, mask=row * columns + i < total, other=0.0)"


def eval_masked(suite: Path, file: Path, source: str) -> str:
    file.write_text(source)
    done = subprocess.run(
        [BINARY, "eval", "masked", str(file), "--suite", str(suite), "--device", "cpu"],
        capture_output=True,
        text=True,
        timeout=600,
        env=ENVIRONMENT,
    )
    return done.stdout


def test_a_submission_for_one_size_fails(suite: Path, tmp_path: Path) -> None:
    file = tmp_path / "submission.py"
    assert eval_masked(suite, file, KERNEL.replace("LOAD", MASKED)).startswith("pass: 3 cases")
    for_32 = KERNEL.replace("LOAD", ALWAYS_32).replace("columns, BLOCK", "columns, total, BLOCK")
    for_32 = for_32.replace("x.shape[1], BLOCK", "x.shape[1], x.numel(), BLOCK")
    text = eval_masked(suite, file, for_32)
    assert text.startswith("fail (wrong_result): 1 of 3 cases wrong; case 'call_0_other'"), text


def test_arguments_are_cut_together() -> None:
    x = torch.arange(24.0).reshape(4, 6)
    y = torch.arange(24.0).reshape(6, 4).t()  # its columns are dense
    smaller_x, rows, smaller_y, count, stride, other = cut([x, 4, y, 24, 6, 7], {6: 5})
    assert (rows, count, stride, other) == (4, 20, 5, 7)
    assert smaller_x.equal(x[:, :5]) and smaller_x.is_contiguous()
    assert smaller_y.equal(y[:, :5]) and smaller_y.stride() == (1, 4)


def test_numbers_without_a_clear_meaning_are_refused() -> None:
    x = torch.zeros(6, 8)
    y = torch.zeros(2, 3)  # its number of elements is 6, too
    with pytest.raises(CannotCut, match=r"6 can become \[5, 6\]"):
        cut([x, y, 6], {6: 5})
    with pytest.raises(CannotCut, match="gaps"):
        cut([x[:, ::2]], {6: 5})
    assert cut([True], {1: 0}) == [True]


def test_a_distribution_says_the_call_and_the_sizes() -> None:
    text = distribution_of(3, {64: 55, 8: 6})
    assert text == "call_3_cut_8_6_64_55"
    assert (number_of(text), sizes_of(text)) == (3, {8: 6, 64: 55})
    assert (number_of("call_12"), sizes_of("call_12")) == (12, {})


def test_positions_and_lengths_are_lowered() -> None:
    x = torch.zeros(8, 100)
    for given, lowered in (
        ([0, 99, 5], [0, 86, 5]),  # positions in 100 elements
        ([0, 40, 100], [0, 40, 87]),  # ends of sequences
        ([0, 101, 5], [0, 101, 5]),  # neither
        ([-100, 7, 90], [-100, 7, 86]),  # -100 may mean that there is none
    ):
        assert cut([x, torch.tensor(given)], {100: 87})[1].tolist() == lowered
    quantised = torch.tensor([0, 99], dtype=torch.int8)
    assert cut([x, quantised], {100: 87})[1].equal(quantised)


def test_an_extent_keeps_its_size_if_integers_say_how_it_is_divided() -> None:
    sys.path.insert(0, str(ROOT / "importers/common"))
    sys.path.insert(0, str(ROOT / "importers/tritonbench"))
    from golden_other_shapes import _allowed

    x = torch.zeros(8, 100)
    starts, lengths = torch.tensor([0, 60]), torch.tensor([60, 30])
    sizes = {8: 6, 100: 87}
    assert _allowed({"x": x, "labels": torch.tensor([3, 99])}, sizes) == sizes
    assert _allowed({"x": x, "lengths": torch.tensor([70, 30])}, sizes) == {8: 6}
    assert _allowed({"x": x, "starts": starts, "lengths": lengths}, sizes) == {8: 6}
    assert _allowed({"x": x, "scale": 0.1}, sizes) == {8: 6}  # 100 ** -0.5
