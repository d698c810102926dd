"""Checks that the inputs of operators with segments of different lengths keep what the
specification says: no segment is longer than the length that the function gets as an argument. A
kernel may reserve that much and no more, so inputs that break the rule would refuse right kernels.
The cases of timed size run on no CPU, so nothing else draws them without a GPU."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "sandbox"), str(ROOT / "measurements")]

from harness.operator import Operator  # noqa: E402
from operator_folders import operator_folders  # noqa: E402

# The argument with the segments' starts and the argument with the bound of their lengths.
BOUNDS = {
    "apply_penalties": ("offsets", "max_history"),
    "jagged_softmax": ("offsets", "max_length"),
    "segment_softmax_entropy": ("offsets", "max_length"),
    "varlen_attn": ("cu_seqlens", "max_seqlen"),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_no_segment_is_longer_than_its_bound(name: str) -> None:
    (folder,) = operator_folders([name])
    operator = Operator.load(folder)
    starts, bound = BOUNDS[name]
    for wire in operator.spec["cases"]:
        for seed in (1, 2):
            drawn = operator.inputs(operator.case(wire, "cpu"), seed)
            lengths = drawn[starts].long().diff()
            assert int(lengths.min()) >= 0, wire["id"]
            assert int(lengths.max()) <= drawn[bound], wire["id"]


def test_a_case_with_too_few_segments_is_refused() -> None:
    (folder,) = operator_folders(["jagged_softmax"])
    operator = Operator.load(folder)
    wire = {
        "id": "impossible",
        "axes": {"total": 3000, "offset_count": 3, "max_length": 1000},
        "dtype": "float32",
        "distribution": "normal",
    }
    with pytest.raises(Exception, match="3000 entries in 2 segments need one longer"):
        operator.inputs(operator.case(wire, "cpu"), 1)
