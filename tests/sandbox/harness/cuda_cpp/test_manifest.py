"""Tests the manifest of a CUDA C++ submission: its form, and errors that name the line and the
valid values."""

from __future__ import annotations

import time

import pytest
from harness.cuda_cpp.manifest import Manifest, fill_holes, holes
from harness.cuda_cpp.manifest_reader import MAX_LAUNCHES, MAX_MANIFEST_CHARS, read_manifest
from harness.entry.errors import ManifestError, MissingEntry

AT_ONCE_S = 20.0  # processor time, also of a busy machine
LAUNCH = '[[launch]]\nkernel = "f"\ngrid = 1\nblock = 1\nargs = []\n'


def source(toml: str) -> str:
    return f'/* assay\n{toml}*/\nextern "C" __global__ void f() {{}}\n'


def read(toml: str) -> Manifest:
    return read_manifest(source(toml))


def test_everything_at_once() -> None:
    manifest = read_manifest(
        """// my kernel
/* assay
options = ["--use_fast_math", "--maxrregcount=64"]
defines = { COLS = "x.shape[1]", VEC = 4 }

[sizes]
tiles = "ceil_div(rows, 64)"

[scratch.partial]
dtype = "float32"
shape = ["tiles", 8]

[fill]
partial = 0

[[launch]]
kernel = "first<{x.dtype}, {tiles}>"
grid = ["tiles", 2]
block = [32, "8"]
args = ["x", "partial[8]", "eps : float16", 3, 0.5, true]

[[launch]]
kernel = "second"
grid = 132
block = 256
cluster = 2
shared = "48 * 1024"
when = "rows > 1"
repeat = 3
cooperative = true
dependent_launch = true
args = [{ tensor_map = "x", box = [64, 64], swizzle = "128B" }]
*/
"""
    )
    assert manifest.options == ["--use_fast_math", "--maxrregcount=64"]
    assert {name: one.text for name, one in manifest.defines.items()} == {
        "COLS": "x.shape[1]",
        "VEC": "4",
    }
    assert manifest.sizes["tiles"].text == "ceil_div(rows, 64)"
    assert manifest.scratch["partial"].dtype == "float32"
    assert [one.text for one in manifest.scratch["partial"].shape] == ["tiles", "8"]
    assert manifest.fills["partial"].text == "0"
    first, second = manifest.launches
    assert [one.text for one in first.grid] == ["tiles", "2"]
    assert [(one.expression.text, one.dtype) for one in first.arguments[:4]] == [
        ("x", ""),
        ("partial[8]", ""),
        ("eps", "float16"),
        ("3", ""),
    ]
    assert [one.expression.text for one in first.arguments[4:]] == ["0.5", "True"]
    assert (second.cooperative, second.dependent_launch, second.repeat.text, second.when.text) == (
        True,
        True,
        "3",
        "rows > 1",
    )
    assert second.arguments[0].tensor_map is not None
    assert second.arguments[0].tensor_map.swizzle == "128B"
    assert (first.line, first.arguments[0].expression.line, second.shared.line) == (17, 20, 27)
    assert manifest.sizes["tiles"].line == 7
    assert manifest.defines["COLS"].line == 4


def test_holes() -> None:
    text = "f<{x.dtype}, 2, {n // 2}>"
    assert holes(text) == ["x.dtype", "n // 2"]
    assert fill_holes(text, ["float", "4"]) == "f<float, 2, 4>"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "__global__ void f() {}",
        "/* assayer */",
        "int x; /* assay\n" + LAUNCH + "*/",
        "/* assaying */",
    ],
)
def test_the_error_for_a_missing_manifest_shows_one(text: str) -> None:
    with pytest.raises(MissingEntry, match="starts with a comment"):
        read_manifest(text)


@pytest.mark.parametrize(
    ("toml", "kind", "line", "says"),
    [
        ("[[launch]\n" + LAUNCH, "syntax_error", 2, "not valid TOML"),
        (LAUNCH + "grid = 2\n", "syntax_error", 7, "not valid TOML"),
        ("", "value_error", 1, "has no [[launch]]"),
        ("launch = 3\n", "value_error", 1, "has no [[launch]]"),
        (LAUNCH + "colour = 1\n", "value_error", 2, "'colour'; valid: kernel, grid, block, args"),
        ("lunch = 1\n" + LAUNCH, "value_error", 1, "'lunch'; valid: launch, sizes"),
        ('[[launch]]\nkernel = "f"\ngrid = 1\nargs = []\n', "value_error", 2, "has no block"),
        ("[[launch]]\ngrid = 1\nblock = 1\nargs = []\n", "value_error", 2, "kernel is missing"),
        (LAUNCH.replace('"f"', "7"), "value_error", 3, "kernel is 7; want a kernel's name"),
        (LAUNCH.replace('"f"', '"f\\nnext: x"'), "value_error", 3, "a kernel's name on one line"),
        (LAUNCH.replace('"f"', '"f<\\u00ad1>"'), "value_error", 3, "a kernel's name on one line"),
        (LAUNCH.replace('"f"', '"f<1,\t2>"'), "value_error", 3, "'f<1,\\t2>'; want a kernel's"),
        (LAUNCH.replace('"f"', '"f<1,\\t2>"'), "value_error", 3, "with spaces but no tabs"),
        (LAUNCH.replace("grid = 1", 'grid = "rows +"'), "syntax_error", 4, "launch 1 (f): grid"),
        (
            LAUNCH.replace("grid = 1", "grid = [1, 1, 1, 1]"),
            "value_error",
            4,
            "4 entries; want 1 to 3",
        ),
        (LAUNCH.replace("grid = 1", "grid = []"), "value_error", 4, "0 entries"),
        (
            LAUNCH.replace("grid = 1", "grid = { x = 1 }"),
            "type_error",
            4,
            "a table; want a number or an expression",
        ),
        (
            LAUNCH + LAUNCH.replace("block = 1", 'block = "2 2"'),
            "syntax_error",
            10,
            "launch 2 (f): block",
        ),
        (LAUNCH.replace("args = []", "args = 3"), "type_error", 6, "args is a number; want a list"),
        (
            LAUNCH.replace("args = []", 'args = ["x : half"]'),
            "value_error",
            6,
            "'half' is none of bool, int8",
        ),
        (
            LAUNCH.replace("args = []", "args = [{ box = 1 }]"),
            "value_error",
            6,
            "tensor_map is missing",
        ),
        (
            LAUNCH.replace("args = []", 'args = [{ tensor_map = "x", box = 1, swizzle = "16B" }]'),
            "value_error",
            6,
            "none, 32B, 64B, 128B",
        ),
        (LAUNCH + "cooperative = 1\n", "type_error", 7, "want true or false"),
        (
            'options = ["-arch=sm_50"]\n' + LAUNCH,
            "value_error",
            2,
            "'-arch=sm_50' is not allowed; valid: --use_fast_math",
        ),
        ('options = ["--include-path=/etc"]\n' + LAUNCH, "value_error", 2, "not allowed"),
        ('options = "--use_fast_math"\n' + LAUNCH, "type_error", 2, "a text; want a list"),
        (LAUNCH + "[scratch.a]\nshape = 4\n", "value_error", 7, "dtype missing is none of float64"),
        (LAUNCH + '[scratch.a]\ndtype = "float32"\n', "value_error", 7, "has no shape"),
        (LAUNCH + "[scratch]\na = 3\n", "type_error", 8, "want a table with dtype and shape"),
        (LAUNCH + '[sizes]\n"a b" = 1\n', "value_error", 7, "'a b' is not a name"),
        (LAUNCH + "[fill]\ny = true\nz = [1]\n", "type_error", 9, "fill.z is a list"),
        ("sizes = 3\n" + LAUNCH, "type_error", 2, "sizes is a number; want a table"),
        (LAUNCH + "[defines]\nA = 1979-05-27\n", "type_error", 8, "defines.A is a date"),
        (
            LAUNCH + '[defines]\nA = 1\noptions = ["--pre-include=/etc/passwd"]\n',
            "type_error",
            9,
            "defines.options is a list",
        ),
    ],
)
def test_mistakes(toml: str, kind: str, line: int, says: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read(toml)
    assert (caught.value.kind, says in str(caught.value)) == (kind, True), caught.value
    assert caught.value.line == line


@pytest.mark.parametrize(
    "toml",
    [
        LAUNCH * (MAX_LAUNCHES + 1),
        "a = " + "[" * 20_000,
        "a = " + "[\n" * 20_000,
        ("a" + ".a" * 2000 + " = 1\n") * 16,
        "a = " + "{a=" * 5_000,
        "#" * (MAX_MANIFEST_CHARS + 1),
        "[sizes]\n" + "".join(f"a{i} = 1\n" for i in range(300)) + LAUNCH,
        LAUNCH.replace("args = []", "args = [" + "1," * 300 + "]"),
        LAUNCH.replace('"f"', '"' + "f" * 2000 + '"'),
        "launch = [1, 2]\n",
        "\0",
    ],
)
def test_hostile_manifests_are_refused_at_once(toml: str) -> None:
    started = time.process_time()
    with pytest.raises(ManifestError):
        read(toml)
    assert time.process_time() - started < AT_ONCE_S


def test_a_comment_that_does_not_end() -> None:
    with pytest.raises(ManifestError, match="does not end") as caught:
        read_manifest("\n/* assay\n" + LAUNCH)
    assert (caught.value.kind, caught.value.line) == ("syntax_error", 2)
