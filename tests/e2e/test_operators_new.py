"""`assay operators new` with the real binary: a new operator is sound as it is written, its oracle
passes and a wrong kernel fails. Bad input gives one line and leaves nothing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from stdio_client import StdioClient, serve_command
from tool_calls import grade_of

Run = Callable[..., subprocess.CompletedProcess[str]]
USAGE, UNSOUND, NO_INPUT = 64, 1, 66

REFERENCE = """
import torch


def swish_gate(x, g, beta):
    return x * torch.sigmoid(beta * x) * g
"""
KERNEL = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, g, y, n, beta, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m).to(tl.float32)
    w = tl.load(g + i, mask=m).to(tl.float32)
    tl.store(y + i, v * tl.sigmoid(beta * v) * w, mask=m)


def swish(x, g, beta):
    y = torch.empty_like(x)
    n = x.numel()
    kernel[(triton.cdiv(n, 1024),)](x, g, y, n, beta, BLOCK=1024)
    return y
"""


def write_sources(folder: Path) -> None:
    (folder / "ref.py").write_text(REFERENCE)
    (folder / "my.py").write_text(KERNEL)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    write_sources(tmp_path)
    return tmp_path


def checked(sources: Path, *others: str) -> list[str]:
    """Returns the options that `assay check` takes, too."""
    inputs = ["--input", "x=f32[{n}]", "--input", "g=f32[{n}]", "--input", "beta=1.5"]
    return ["--against", f"{sources}/ref.py:swish_gate", *inputs, *others]


def test_an_operator_of_a_reference_and_an_oracle(binary: str, assay: Run, sources: Path) -> None:
    suite = str(sources / "suite")
    new = ["operators", "--suite", suite, "new", "swish_gate"]
    oracle = ["--oracle", f"{sources}/my.py:swish", "--n", "1000,100003"]
    made = assay(*new, *checked(sources, *oracle))
    assert made.returncode == 0, made.stderr
    folder = Path(suite) / "standard/swish_gate"
    assert made.stdout == f"wrote {folder}\n"
    assert sorted(one.name for one in folder.iterdir()) == [
        "oracle.py",
        "reference.py",
        "spec.toml",
    ]
    # One server grades both submissions. Its start costs as much as one `assay eval`.
    server = StdioClient(serve_command(binary, "cpu", sources / "assay.db", "--suite", suite))
    right = grade_of(server, "swish_gate", (folder / "oracle.py").read_text())
    mistake = KERNEL.replace("beta * v", "1.5 * v").replace("def swish", "def swish_gate")
    wrong = grade_of(server, "swish_gate", mistake)
    server.close()
    assert right["outcome"] == "pass" and "7 cases" in right["text"], right["text"]
    assert (wrong["outcome"], wrong["error_kind"]) == ("fail", "wrong_result"), wrong["text"]
    assert server.process.returncode == 0


# Maps each simple kind to a dtype and the parameters of an operator.
KINDS = {
    "elementwise": ("f32", "x: Tensor, g: Tensor, beta: float"),
    "rows": ("bf16", "x: Tensor, flag: bool"),
    "matmul": ("f16", "a: Tensor, b: Tensor, times: int"),
}


@pytest.fixture(scope="module")
def linted(binary: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Makes an operator of each simple kind and one of a reference and an oracle, and lints all of
    them at once. Returns the output."""
    folder = tmp_path_factory.mktemp("kinds")
    write_sources(folder)

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [binary, "operators", "--suite", str(folder / "suite"), *words]
        environment = {**os.environ, "ASSAY_STATE_DIR": str(folder / "state")}
        return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)

    for kind, (dtype, parameters) in KINDS.items():
        options = ["--kind", kind, "--dtype", dtype]
        made = run(
            "new", f"my_{kind}", *options, "--signature", f"my_{kind}({parameters}) -> Tensor"
        )
        assert made.returncode == 0, made.stderr
    oracle = ["--oracle", f"{folder}/my.py:swish", "--n", "1000,100003"]
    made = run("new", "swish_gate", *checked(folder, *oracle))
    assert made.returncode == 0, made.stderr
    lint = run("lint", *(f"my_{kind}" for kind in KINDS), "swish_gate")
    assert lint.returncode == 0, lint.stdout
    return lint.stdout


@pytest.mark.parametrize("name", [*(f"my_{kind}" for kind in KINDS), "swish_gate"])
def test_a_new_operator_is_sound(linted: str, name: str) -> None:
    (line,) = [one for one in linted.splitlines() if f"{name} " in one]
    assert line.startswith("ok") and "oracle pass" in line, linted


def test_lint_names_every_place_to_fill_in(assay: Run, sources: Path) -> None:
    suite = ["--suite", str(sources / "suite")]
    made = assay("operators", *suite, "new", "mine", *checked(sources, "--family", "softmax"))
    assert made.returncode == 0, made.stderr
    places = made.stdout.splitlines()[1:]
    assert [Path(one.split(":")[0]).name for one in places] == ["spec.toml", "oracle.py"]
    assert all("FILL IN: " in one for one in places)
    lint = assay("operators", *suite, "lint", "mine")
    assert lint.returncode == UNSOUND
    assert f"every place is filled in: {'; '.join(places)}" in lint.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["Mine"], "bad name 'Mine'; a name has lower-case letters"),
        (["../mine"], "bad name '../mine'"),
        (["mine"], "name either --signature, with --kind, or --against, with --input"),
        (["mine", "--signature", "mine(x) -> Tensor"], "has the type ''; valid: Tensor, int, "),
        (["mine", "--signature", "f(x: Tensor) -> Tensor"], "defines 'f', not 'mine'"),
        (
            ["mine", "--signature", "mine(x: Tensor) -> Tensor", "--dtype", "f8"],
            "unknown dtype 'f8'; valid: f16, bf16, f32",
        ),
        (
            ["mine", "--signature", "mine(x: Tensor) -> Tensor", "--kind", "conv"],
            "unknown kind 'conv'; valid: elementwise, rows, matmul",
        ),
        (
            ["mine", "--signature", "mine(x: Tensor) -> Tensor", "--family", "maths"],
            "unknown family 'maths'; valid: elementwise, activation, ",
        ),
        (
            ["mine", "--signature", "mine(x: Tensor) -> Tensor", "--split", "mine"],
            "unknown split 'mine'; valid: standard, ood, dsl",
        ),
        (
            ["mine", "--signature", "mine(x: Tensor) -> Tensor", "--kind", "matmul"],
            "kind matmul takes two Tensors, and the signature has 1",
        ),
        (["mine", "--against", "r.py:f", "--input", "x=f31[{n}]"], "unknown dtype 'f31'; valid: f"),
        (["mine", "--against", "r.py", "--input", "x=f32[{n}]"], "'r.py' is not FILE:FUNCTION"),
        (["mine", "--against", "r.py:f", "--kind", "rows"], "--kind needs --signature"),
        (["mine", "--signature", "mine(n: Tensor) -> Tensor"], "parameter 'n': the kernel of "),
    ],
)
def test_bad_input_is_one_line(
    assay: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    suite = tmp_path / "suite"
    done = assay("operators", "--suite", str(suite), "new", *arguments)
    assert done.returncode == USAGE
    assert done.stderr.startswith("assay operators new: ") and message in done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == ""
    assert not suite.exists()


def test_an_existing_operator_and_missing_files(assay: Run, sources: Path) -> None:
    suite = sources / "suite"
    new = ["operators", "--suite", str(suite), "new"]
    missing = assay(*new, "mine", *checked(sources, "--oracle", f"{sources}/none.py:f"))
    assert missing.returncode == NO_INPUT and "none.py: No such file" in missing.stderr
    other = assay(*new, "mine", *checked(sources, "--oracle", f"{sources}/my.py:f"))
    assert other.returncode == USAGE and "it defines kernel, swish" in other.stderr
    assert not suite.exists()
    (suite / "ood/mine").mkdir(parents=True)
    there = assay(*new, "mine", *checked(sources))
    assert there.returncode == USAGE
    assert there.stderr == f"assay operators new: {suite}/ood/mine exists; take another name\n"
