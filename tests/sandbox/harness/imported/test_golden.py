"""Tests imported operators, whose reference is the golden kernel part. The kernel parts in these
tests are plain torch, so they need no GPU."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from harness.imported.golden import Golden
from harness.imported.open_elements import open_elements
from harness.imported.surroundings import Contents
from harness.operator import Case, OperatorError, Rng

KERNEL = """
def first_half(x, y):
    out = torch.empty_like(x)
    out[: x.numel() // 2] = 2 * x[: x.numel() // 2]
    y[0] = torch.as_strided(x, (1,), (1,), x.storage_offset() + x.numel())[0]
    return out
"""
TEST = "import torch\n\nx = torch.randn(6)\nfirst_half(x, torch.zeros(3))\nfirst_half(x, torch.ones(3))\n"
SPEC = """
entry = "call_first_half"
adapter = "import torch\\n\\ndef call_first_half(a0, a1):\\n    return first_half(a0, a1)\\n"
[[arguments]]
name = "a0"
role = "structural"
[[outputs]]
name = "y0"
max_abs_error = 0.01
[[outputs]]
name = "a1_after"
max_abs_error = 0.01
from = "a1"
[[cases]]
interpreter = false
axes = { a0_0 = 6, a1_0 = 3, y0_0 = 6 }
[[cases]]
interpreter = true
axes = { a0_0 = 4, a1_0 = 3, y0_0 = 4 }
"""
INTERFACE = {
    "leaves": ["a0", "a1"],
    "dtypes": {"a0": "float32", "a1": "float32"},
    "written": ["a1"],
}


@pytest.fixture
def golden(tmp_path: Path) -> Golden:
    (tmp_path / "oracle.py").write_text(KERNEL)
    (tmp_path / "test_part.py").write_text(TEST)
    (tmp_path / "spec.toml").write_text(SPEC)
    return Golden(
        tmp_path,
        hashlib.sha256(TEST.encode()).hexdigest(),
        INTERFACE,
        [["tensor", "float32", [6]]] * 2,
        {},
    )


def arguments() -> dict[str, Any]:
    return {"a0": torch.arange(6.0), "a1": torch.zeros(3)}


def test_a_kernel_part_does_not_hide_a_module_of_the_importers(
    golden: Golden, tmp_path: Path
) -> None:
    """An operator may be named `draws`, and the importers have a module golden_draws."""
    golden._module()
    assert f"golden_{tmp_path.name}" not in sys.modules


def test_a_kernel_part_finds_torch_though_only_the_test_part_imports_it(golden: Golden) -> None:
    given = arguments()
    half, after = golden.computed(given, Contents.ZERO, "cpu")
    assert half.tolist() == [0, 2, 4, 0, 0, 0] and after.tolist() == [0, 0, 0]
    assert given["a0"].tolist() == [0, 1, 2, 3, 4, 5]  # the golden code works on copies


def test_elements_from_uninitialised_memory_or_beyond_an_argument_are_open(golden: Golden) -> None:
    masks = open_elements(
        lambda contents: golden.computed(arguments(), contents, "cpu"), [0.01, 0.01]
    )
    assert [mask.tolist() for mask in masks] == [[False] * 3 + [True] * 3, [True, False, False]]


def test_the_spec_is_parsed_once_until_it_changes(golden: Golden, tmp_path: Path) -> None:
    first = golden._spec()
    assert golden._spec() is first
    (tmp_path / "spec.toml").write_text(SPEC + "\n[extra]\n")
    os.utime(tmp_path / "spec.toml", ns=(1, 1))  # whatever the resolution of the file's times is
    assert "extra" in golden._spec()


def test_wide_arguments_are_narrowed(golden: Golden) -> None:
    half, _ = golden.computed(
        {name: x.double() for name, x in arguments().items()}, Contents.ZERO, "cpu"
    )
    assert half.dtype == torch.float32


def test_extents_are_those_of_the_returned_tensors(golden: Golden) -> None:
    assert golden.extents({**arguments(), "a0": torch.arange(10.0)}, "cpu") == {"y0_0": 10}
    case = Case("call_0", {"y0_0": 9}, torch.float32, "call_0", torch.device("cpu"))
    assert golden.output_axes(case, arguments()) == {}  # nothing can be computed without a GPU
    assert golden.cost(case).bytes == 36


def test_both_need_a_gpu_for_a_case_that_is_not_for_the_interpreter(golden: Golden) -> None:
    for asked in (golden.reference, golden.open_elements):
        with pytest.raises(OperatorError, match="needs a GPU"):
            asked(arguments())
    small = {**arguments(), "a0": torch.arange(4.0)}
    assert len(golden.reference(small)) == len(golden.open_elements(small)) == 2


def test_inputs_are_those_of_the_wanted_call(golden: Golden) -> None:
    case = Case("call_1", {}, torch.float32, "call_1", torch.device("cpu"))
    made = golden.inputs(case, Rng(1, "cpu"))
    assert made["a0"].shape == (6,) and made["a1"].tolist() == [1, 1, 1]
    assert json.dumps(made["a0"].tolist()) == json.dumps(
        golden.inputs(case, Rng(1, "cpu"))["a0"].tolist()
    )
