"""Tests mistakes in CUDA C++ and in its manifest: reports contain kind, line and valid values."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from harness.cuda_cpp.launches import CPP_TYPES
from harness.cuda_cpp.manifest_reader import MAX_TEXT_CHARS
from harness.cuda_cpp.nvrtc import Nvrtc
from harness.entry.errors import (
    CudaCompilationError,
    ManifestError,
    NotRecordable,
    UnsupportedHere,
)

sys.path.insert(0, str(Path(__file__).parent))

from cuda_cases import COPY, X, case, launch, record


@pytest.mark.parametrize(
    ("source", "line", "says"),
    [
        (launch("int a = ;"), 9, "submission.cu(9): error: expected an expression"),
        (COPY.replace("copy<{x.dtype}>", "copi<{x.dtype}>"), 3, "copi"),
        (launch("").replace('kernel = "k"', 'kernel = "other"'), 3, "other"),
        (
            launch("", code="void other() {}").replace('kernel = "k"', 'kernel = "other"'),
            None,
            "other",
        ),
        (launch("", code="#include <vector>"), 8, "vector"),
        (launch("", code='#include "/etc/passwd"'), None, "error"),
        (launch("static_assert(sizeof(int) == 8);"), 9, "static"),
        (COPY.replace("copy<{x.dtype}>", "copy<{x.dtype}, 1>"), None, "copy"),
    ],
)
def test_the_compilers_refusals_are_reported(source: str, line: int | None, says: str) -> None:
    with pytest.raises(CudaCompilationError) as caught:
        record(source, case({"x": X}, {"y": X}))
    assert says in str(caught.value)
    if line is not None:
        assert caught.value.line == line, str(caught.value)


@pytest.mark.parametrize(
    ("source", "kind", "line", "says"),
    [
        (
            COPY.replace("ceil_div(x.numel, 64)", "ceil_div(rows, 64)"),
            "name_error",
            4,
            "launch 1 (copy<{x.dtype}>): grid: unknown name 'rows'",
        ),
        (
            COPY.replace("ceil_div(x.numel, 64)", "x.numel // (x.ndim - 2)"),
            "zero_division",
            4,
            "divided by zero",
        ),
        (
            COPY.replace("ceil_div(x.numel, 64)", "-1"),
            "value_error",
            4,
            "want an integer from 0 up",
        ),
        (
            COPY.replace("ceil_div(x.numel, 64)", "x.numel / 2"),
            "value_error",
            4,
            "120.0; want an integer",
        ),
        (
            COPY.replace("ceil_div(x.numel, 64)", "2 ** 40"),
            "value_error",
            4,
            "the limits are [2147483647, 65535, 65535]",
        ),
        (
            COPY.replace("block = 64", "block = [64, 32]"),
            "value_error",
            5,
            "2048 threads; the limit is 1024",
        ),
        (COPY.replace("block = 64", "block = 0"), "value_error", 5, "want an integer from 1 up"),
        (
            COPY.replace('"x.numel"]', '"x.numel", 1]'),
            "type_error",
            6,
            "args has 4 entries; the kernel takes 3",
        ),
        (
            COPY.replace('"x.numel"]', "0.5]"),
            "type_error",
            6,
            "argument 2: (0.5) 0.5 is passed for a 32-bit integer",
        ),
        (
            COPY.replace('"x.numel"]', '"2 ** 40"]'),
            "value_error",
            6,
            "does not fit a 32-bit integer",
        ),
        (
            COPY.replace('"x.numel"]', '"1 : int64"]'),
            "type_error",
            6,
            "a int64 has 8 bytes; the kernel's parameter has 4",
        ),
        (COPY.replace('"x.numel"]', '"y"]'), "type_error", 6, "the kernel takes no pointer"),
        (
            COPY.replace('["x", ', '["x[241]", '),
            "index_error",
            6,
            "x has 240 elements; there is no [241]",
        ),
        (
            COPY.replace('["x", ', '["x[-1]", '),
            "value_error",
            6,
            "-1 is -1; want an integer from 0 up",
        ),
        (COPY.replace('["x", ', '["z", '), "name_error", 6, "unknown name 'z'"),
        (
            COPY.replace("{x.dtype}", "{x.shape[0] / 2}"),
            "type_error",
            3,
            "a template takes integers",
        ),
        (
            COPY.replace("args =", "repeat = 1000000000\nargs ="),
            "value_error",
            6,
            "1000000000 launches; one call has at most 16384",
        ),
        (COPY.replace("args =", 'repeat = "9 ** 9 ** 9"\nargs ='), "value_error", 6, "64 bits"),
        (
            COPY.replace("args =", "shared = 300000\nargs ="),
            "value_error",
            6,
            "300000 bytes of shared memory per block",
        ),
        (COPY.replace("args =", "cluster = 3\nargs ="), "value_error", 6, "not a multiple"),
        (
            COPY.replace("args =", "cluster = [8, 4]\nargs ="),
            "value_error",
            6,
            "32 blocks; the limit is 16",
        ),
        (
            COPY.replace("[[launch]]", "[fill]\nx = 0\n[[launch]]"),
            "value_error",
            3,
            "only outputs and scratch can be filled; valid: y",
        ),
        (
            COPY.replace("[[launch]]", "[sizes]\nx = 0\n[[launch]]"),
            "value_error",
            3,
            "the name x is taken",
        ),
        (
            COPY.replace(
                "[[launch]]",
                '[scratch.s]\ndtype = "int8"\nshape = ["2 ** 40", "2 ** 40"]\n[[launch]]',
            ),
            "value_error",
            2,
            "64 bits",
        ),
    ],
)
def test_mistakes_of_a_manifest(source: str, kind: str, line: int, says: str) -> None:
    with pytest.raises(ManifestError) as caught:
        record(source, case({"x": X}, {"y": X}))
    assert says in str(caught.value)
    assert (caught.value.kind, caught.value.line) == (kind, line)


@pytest.mark.parametrize("characters", [4_100, 9_000, 70_000])
def test_an_instance_of_a_template_can_have_too_long_a_name(characters: int) -> None:
    """The manifest names it in a few characters. Its name in the binary has its arguments in full,
    and a plan has that name."""
    long = "L" + "o" * characters
    source = COPY.replace("copy<{x.dtype}>", "copy<__half, T>").replace(
        "template <class T>", f"struct {long} {{}};\nusing T = {long};\ntemplate <class T, class U>"
    )
    with pytest.raises(NotRecordable) as caught:
        record(source, case({"x": X}, {"y": X}))
    assert re.search(
        r"^the name of the kernel '_Z4copy.*\.\.\.' in its binary has \d+ bytes; the limit is 4096",
        str(caught.value),
    )
    assert len(str(caught.value)) < 300


def test_the_longest_name_of_a_manifest_fits_into_a_message() -> None:
    """A name longer than this ends as a protocol error (HeaderReader::kMaxNameBytes)."""
    hole = "{a}"
    name = (hole * (MAX_TEXT_CHARS // len(hole)))[:MAX_TEXT_CHARS]
    assert len(name.replace(hole, str(-(2**63)))) < 8 << 10
    assert max(map(len, CPP_TYPES.values())) < 8 * len("{x.dtype}")


def test_targets_that_nvrtc_does_not_compile_for() -> None:
    with pytest.raises(UnsupportedHere, match="cuda:80, cuda:90, cuda:100"):
        Nvrtc.load().compile(COPY, "cuda:75", ["copy<float>"], [])
