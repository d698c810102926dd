"""Tests `assay plan` and `assay eval --plan` with the files that `eval --artifacts` writes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
Run = Callable[..., subprocess.CompletedProcess[str]]
ORACLE = ROOT / "operators/standard/vector_add/oracle.py"


@pytest.fixture(scope="module")
def plans(binary: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Records plans of vector_add's oracle for two GPU targets, without a GPU. Returns the
    folder."""
    folder = tmp_path_factory.mktemp("plans")
    command = [binary, "eval", "vector_add", str(ORACLE), "--mode", "compile"]
    command += ["--target", "cuda:90", "--target", "cuda:100", "--artifacts", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def one(plans: Path, target: str) -> str:
    (found,) = plans.glob(f"*-{target}.plan")
    return str(found)


def test_show_names_buffers_kernels_and_arguments(assay: Run, plans: Path) -> None:
    shown = assay("plan", "show", one(plans, "cuda-90"))
    assert shown.returncode == 0, shown.stderr
    for words in (
        "launch plan: version 2, target cuda:90",
        "x  role input",
        "operations: ",
        "  0  kernel ",
        "argument 0 x",
        "output 0  in ",
    ):
        assert words in shown.stdout, shown.stdout
    piped = subprocess.run(
        f"cat '{one(plans, 'cuda-90')}' | '{shown.args[0]}' plan show -",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert piped.stdout == shown.stdout


def test_diff_says_what_changed(assay: Run, plans: Path) -> None:
    hopper, blackwell = one(plans, "cuda-90"), one(plans, "cuda-100")
    same = assay("plan", "diff", hopper, hopper)
    assert (same.returncode, same.stdout) == (0, "the plans are the same, byte for byte\n")
    changed = assay("plan", "diff", hopper, blackwell)
    assert changed.returncode == 1
    assert "target cuda:90 -> cuda:100" in changed.stdout and "sha256" in changed.stdout


@pytest.mark.parametrize("command", ["show", "diff", "eval"])
def test_damaged_plans_are_refused_with_the_place(
    assay: Run, plans: Path, tmp_path: Path, command: str
) -> None:
    whole = Path(one(plans, "cuda-90")).read_bytes()
    (tmp_path / "good").write_bytes(whole)
    for name, content, word in (
        ("cut", whole[:-3], "at byte"),
        ("long", whole + b"x", "at byte"),
        ("other", b"{}", "at byte 0"),
        ("empty", b"", "at byte 0"),
    ):
        bad = tmp_path / name
        bad.write_bytes(content)
        arguments = {
            "show": ["plan", "show", str(bad)],
            "diff": ["plan", "diff", str(tmp_path / "good"), str(bad)],
        }
        done = assay(
            *arguments.get(command, ["eval", "vector_add", "--plan", str(bad), "--device", "fake"])
        )
        assert done.returncode == 65 and word in done.stderr and name in done.stderr, (
            done.returncode,
            done.stderr,
        )
    assert assay("plan", "show", str(tmp_path / "none")).returncode == 66


def test_a_plan_is_replayed_by_a_gpu_only(assay: Run, plans: Path) -> None:
    for device in ("cpu", "fake"):
        done = assay(
            "eval", "vector_add", "--plan", one(plans, "cuda-90"), "--device", device, "--json"
        )
        verdict = json.loads(done.stdout)
        assert (
            done.returncode == 2
            and verdict["error_kind"] == "unsupported"
            and "cuda:N" in done.stdout
        )


def test_conflicting_options_are_a_usage_error(assay: Run, plans: Path) -> None:
    plan = one(plans, "cuda-90")
    for arguments, status, word in (
        (["vector_add"], 64, "--plan"),
        (["vector_add", str(ORACLE), "--plan", plan], 64, "replaces"),
        (["vector_add", "--plan", plan, "--mode", "compile"], 64, "test, profile, grade"),
        (["vector_add", "--plan", plan, "--plan", plan], 64, "has a plan already"),
        (
            ["vector_add", "--plan", f"small={plan}", "--plan", f"small={plan}"],
            64,
            "'small' has a plan already",
        ),
        (["vector_add", "--plan", plan, "--plan", plan, "--mode", "profile"], 64, "take one"),
        (["gelu_tanh", "--plan", plan], 64, "--case or --plan CASE=PLAN"),
        (["vector_add", "--plan", plan, "--case", "gigantic"], 67, "gigantic"),
        (
            [
                "vector_add",
                "--plan",
                "artifact_0123456789abcdefghjkmnpqrs",
                "--store",
                "/nonexistent.db",
            ],
            66,
            "no store",
        ),
    ):
        done = assay("eval", *arguments, "--device", "fake")
        assert done.returncode == status and word in done.stderr, (
            arguments,
            done.returncode,
            done.stderr,
        )
