"""Checks kernels that are no operators with the tool `check`: each must pass against its reference,
and fail against a reference that is changed a little."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from stdio_client import StdioClient
from tool_calls import verdict_of

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.py"))


def arguments_of(path: Path) -> dict[str, Any]:
    """Returns the arguments of `check`. The first two lines of a kernel's file have the inputs and
    the axes."""
    text = path.read_text()
    inputs, axes = (line.partition(": ")[2] for line in text.splitlines()[:2])
    return {
        "code": text,
        "entry": "kernel:reference",
        "reference": text,
        "inputs": json.loads(inputs),
        "axes": [f"{name}={','.join(map(str, sizes))}" for name, sizes in json.loads(axes).items()],
    }


def test_there_are_twenty_kernels() -> None:
    assert len(KERNELS) >= 20


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_a_kernel_equals_its_reference(cpu_server: StdioClient, path: Path) -> None:
    verdict = verdict_of(cpu_server, "check", arguments_of(path))
    assert verdict["outcome"] == "pass", verdict["text"]
    assert verdict["tier"] == "interpreter"
    assert all(kernel["registers"] > 0 for kernel in verdict["kernels"]) and verdict["kernels"]


# What replaces a part of the source that is sent as the reference.
MUTANTS = {
    "masked_softmax": ('float("-inf")', "0.0"),
    "rmsnorm": ("+ eps)", "+ 100 * eps)"),
    "argmax": ("x.argmax(-1)", "x.argmin(-1)"),
    "segment_sum": ("x[a:b].sum()", "x[a : b + 1].sum()"),
    "int4_unpack": (".float() - 8", ".float() - 7"),
    "scaled_add_in_place": ("alpha=a", "alpha=a * 1.001"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_kernel_differs_from_another_reference(cpu_server: StdioClient, name: str) -> None:
    arguments = arguments_of(Path(__file__).parent / "kernels" / f"{name}.py")
    old, new = MUTANTS[name]
    assert old in arguments["reference"]
    arguments["reference"] = arguments["reference"].replace(old, new)
    verdict = verdict_of(cpu_server, "check", arguments)
    assert (verdict["outcome"], verdict["error_kind"]) == ("fail", "wrong_result"), verdict["text"]
