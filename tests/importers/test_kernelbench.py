"""Tests `assay import kernelbench` with small problem files: each gives an operator whose reference
agrees with the problem's class, or a typed reason (importers/kernelbench/kernelbench.py)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from harness.operator import Operator, Rng
from harness.operator.cases import ShapeRng

sys.path.insert(0, str(Path(__file__).parent))

import problem_files as files

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "importers/kernelbench/kernelbench.py"

DEADLINE_S = 300
GOOD = {
    "Norm": files.NORM,
    "Clip": files.CLIP,
    "Batch": files.BATCH,
    "Hidden": files.HIDDEN,
    "Loss": files.LOSS,
    "Overwrites": files.OVERWRITES,
}
BAD = {
    "Dropout": (files.DROPOUT, "random"),
    "Absent": (files.ABSENT, "module_not_found"),
    "Infinite": (files.INFINITE, "not_finite"),
    "Broken": (files.BROKEN, "syntax_error"),
    "NoModel": (files.NO_MODEL, "not_a_problem"),
    "Raises": (files.RAISES, "raises"),
    "Object": (files.OBJECT, "unwritable_argument"),
    "Crashes": (files.CRASHES, "crash"),
}


def imported(folder: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), str(folder), "--level", "1", "--out", str(out)]
    return subprocess.run([*command, *options], capture_output=True, text=True, timeout=DEADLINE_S)


def reports(out: Path) -> dict[str, Any]:
    return {one["file"]: one for one in json.loads((out / "import.json").read_text())["files"]}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    checkout = files.level(tmp_path_factory.mktemp("checkout"), **GOOD)
    out = tmp_path_factory.mktemp("suite")
    done = imported(checkout, out, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    assert "6 problems: 6 operators, 0 refused" in done.stdout, done.stdout
    return out


def operator(suite: Path, name: str) -> Operator:
    return Operator.load(suite / "standard" / name)


def case_of(made: Operator, name: str) -> Any:
    return made.case(next(c for c in made.spec["cases"] if c["id"] == name), "cpu")


def test_each_operator_gives_inputs_and_outputs_as_its_spec_says(suite: Path) -> None:
    for folder in sorted((suite / "standard").iterdir()):
        made = Operator.load(folder)
        for table in made.spec["cases"]:
            if not table["interpreter"]:
                continue
            case = made.case(table, "cpu")
            arguments = made.inputs(case, 1)
            for value in made.expected(case, arguments):
                assert bool(value.double().isfinite().all()), (folder.name, case.id)
            assert made.shapes(case) is not None, folder.name
        assert made.spec["baseline"] == "torch_eager"
        assert made.spec["benchmark_tolerance"]


def test_hidden_cases_have_negative_inputs_and_drawn_parameters(suite: Path) -> None:
    made = operator(suite, "level1_1_norm")
    given = made.inputs(case_of(made, "small"), 1)
    signed = made.inputs(case_of(made, "other_signed"), 1)
    assert bool((given["x0"] >= 0).all()) and bool((signed["x0"] < 0).any())
    for arguments in (given, signed):
        assert arguments["p_norm_weight"].std() > 0.1
        assert arguments["p_norm_bias"].std() > 0.1


def test_a_small_case_has_other_sizes_and_the_full_case_those_of_the_file(suite: Path) -> None:
    made = operator(suite, "level1_1_norm")
    full = made.module._PROBLEM.inputs(case_of(made, "full"), ShapeRng())
    assert full["x0"].shape == (4096, 2048)
    small = made.inputs(case_of(made, "small"), 1)
    rows, columns = small["x0"].shape
    assert rows != columns and rows < 64 and columns < 64
    assert small["i0"] == columns
    assert next(c for c in made.spec["cases"] if c["id"] == "full")["interpreter"] is False


def test_running_statistics_are_arguments_that_change(suite: Path) -> None:
    made = operator(suite, "level1_3_batch")
    roles = {argument.name: argument.role for argument in made.arguments}
    assert roles["p_norm_running_mean"] == roles["p_norm_running_var"] == "inout"
    assert not any("num_batches" in name for name in roles)
    case = case_of(made, "small")
    arguments = made.inputs(case, 1)
    before = arguments["p_norm_running_mean"].clone()
    _, mean, _ = made.expected(case, arguments)
    assert torch.equal(arguments["p_norm_running_mean"], before)
    right = 0.9 * before + 0.1 * arguments["x0"].mean(0)
    torch.testing.assert_close(mean, right)


def test_what_forward_draws_is_an_argument(suite: Path) -> None:
    made = operator(suite, "level1_4_hidden")
    case = case_of(made, "small")
    arguments = made.inputs(case, 1)
    first = made.expected(case, arguments)
    assert torch.equal(made.expected(case, arguments)[0], first[0])
    wide = made.in_float64(arguments)  # what forward draws is float64, too
    assert wide is not None and wide[0].dtype == torch.float64
    arguments["d0"] = arguments["d0"] + 1.0
    assert not torch.equal(made.expected(case, arguments)[0], first[0])


def test_scalars_masks_and_outputs_without_a_dimension(suite: Path) -> None:
    made = operator(suite, "level1_5_loss")
    kinds = {argument.name: (argument.type, argument.dtype) for argument in made.arguments}
    assert kinds == {"x0": ("tensor", "float32"), "x1": ("tensor", "bool"), "s0": ("float", "")}
    case = case_of(made, "small_signed")
    arguments = made.inputs(case, 1)
    assert arguments["s0"] != 3.0
    (value,) = made.expected(case, arguments)
    assert value.shape == ()
    right = (arguments["x0"] * arguments["x1"]).mean() * arguments["s0"]
    torch.testing.assert_close(value, right)


def test_the_reference_computes_in_float64(suite: Path) -> None:
    made = operator(suite, "level1_1_norm")
    case = case_of(made, "small")
    wide = made.in_float64(made.inputs(case, 1))
    assert wide is not None and wide[0].dtype is torch.float64


def test_a_timed_call_makes_no_object_and_changes_no_argument(suite: Path) -> None:
    made = operator(suite, "level1_3_batch")
    arguments = made.inputs(case_of(made, "small"), 1)
    right = made.reference(arguments)
    function, given = made.timed_call(arguments)
    assert isinstance(function, torch.nn.Module)
    for _ in range(2):
        assert torch.equal(function(*given), right[0])
    assert all(torch.equal(x, y) for x, y in zip(made.reference(arguments), right, strict=True))
    drawing = operator(suite, "level1_4_hidden")
    arguments = drawing.inputs(case_of(drawing, "small"), 1)
    function, given = drawing.timed_call(arguments)
    assert torch.equal(function(*given)[0], drawing.reference(arguments)[0])


def test_a_timed_call_does_not_change_an_input_that_forward_overwrites(suite: Path) -> None:
    """Outputs that were set aside are judged after the reference was timed, by the same inputs."""
    made = operator(suite, "level1_6_overwrites")
    arguments = made.inputs(case_of(made, "small"), 1)
    before = arguments["x0"].clone()
    function, given = made.timed_call(arguments)
    for _ in range(2):
        function(*given)
    assert torch.equal(arguments["x0"], before)


def test_inputs_come_from_the_seed_alone(suite: Path) -> None:
    made = operator(suite, "level1_3_batch")
    case = case_of(made, "small")
    first = made.module.inputs(case, Rng(5, "cpu"))
    torch.manual_seed(99)
    again = made.module.inputs(case, Rng(5, "cpu"))
    assert all(torch.equal(x, again[name]) for name, x in first.items() if hasattr(x, "shape"))


def test_an_edited_problem_is_named(suite: Path, tmp_path: Path) -> None:
    folder = tmp_path / "level1_2_clip"
    folder.mkdir()
    for path in (suite / "standard/level1_2_clip").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "problem.py").write_text(files.CLIP + "\n", encoding="utf-8")
    with pytest.raises(Exception, match="import the problem again"):
        Operator.load(folder)


def test_each_refusal_has_a_kind_and_a_remedy(tmp_path: Path) -> None:
    checkout = files.level(tmp_path / "checkout", **{name: text for name, (text, _) in BAD.items()})
    out = tmp_path / "suite"
    done = imported(checkout, out, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    kinds = {
        name.split("_", 2)[2].removesuffix(".py"): (one["kind"], one["operators"])
        for name, one in reports(out).items()
    }
    assert kinds == {name: (kind, []) for name, (_, kind) in BAD.items()}
    for _, kind in BAD.values():
        assert f"refused: {kind} (1): " in done.stdout, done.stdout
    assert not list(out.glob("standard/*"))


def test_a_file_that_hangs_ends_at_the_limit(tmp_path: Path) -> None:
    checkout = files.level(tmp_path / "checkout", Hangs=files.HANGS, Clip=files.CLIP)
    done = imported(checkout, tmp_path / "suite", "--timeout-s", "4")
    assert "timeout (1): --timeout-s N" in done.stdout, done.stdout
    assert (tmp_path / "suite/standard/level1_2_clip/spec.toml").exists()


def test_a_file_cannot_write_to_the_machine(tmp_path: Path) -> None:
    mark = tmp_path / "written"
    text = f"open({str(mark)!r}, 'w').write('x')\n" + files.CLIP
    checkout = files.level(tmp_path / "checkout", Writes=text)
    imported(checkout, tmp_path / "suite")
    assert not mark.exists()


def test_a_problem_over_the_memory_limit_is_refused(tmp_path: Path) -> None:
    checkout = files.level(tmp_path / "checkout", Norm=files.NORM)
    done = imported(checkout, tmp_path / "suite", "--case-memory-mib", "10")
    assert "its tensors have 64 MiB, which is over the limit of 10 MiB" in done.stdout, done.stdout
    assert "--case-memory-mib N" in done.stdout


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("checkout", "is not a folder"),
        ("level", "has no folder KernelBench/level1"),
        ("files", "has no problem file"),
        ("one", "2 missing. Complete the checkout"),
    ],
)
def test_a_wrong_folder_is_named(tmp_path: Path, missing: str, words: str) -> None:
    checkout = tmp_path / "checkout"
    place = checkout / "KernelBench/level1"
    if missing != "checkout":
        checkout.mkdir()
    if missing in ("files", "one"):
        place.mkdir(parents=True)
    if missing == "one":
        for number in (1, 3):
            (place / f"{number}_Clip.py").write_text(files.CLIP, encoding="utf-8")
    done = imported(checkout, tmp_path / "suite")
    assert done.returncode == 66, done.stdout
    assert words in done.stderr
    assert not (tmp_path / "suite").exists()


def test_a_problem_whose_outputs_are_constant_is_named(tmp_path: Path) -> None:
    checkout = files.level(tmp_path / "checkout", Constant=files.CONSTANT)
    done = imported(checkout, tmp_path / "suite")
    assert "its outputs are the same for all inputs" in done.stdout, done.stdout


def test_levels_share_a_suite(tmp_path: Path) -> None:
    checkout = files.level(tmp_path / "checkout", 1, Clip=files.CLIP)
    files.level(checkout, 2, Norm=files.NORM)
    out = tmp_path / "suite"
    for number in ("1", "2", "1"):
        command = [sys.executable, str(SCRIPT), str(checkout), "--level", number, "--out", str(out)]
        subprocess.run(command, check=True, capture_output=True, timeout=DEADLINE_S)
    assert {path.name for path in (out / "standard").iterdir()} == {
        "level1_1_clip",
        "level2_1_norm",
    }
