"""Tests autotuned kernels: the plan contains every configuration as an alternative, and the
launcher chooses one."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest
import torch
import triton
import triton.language as tl
from harness.triton_adapter import autotuner
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import OutOfResources

sys.path.insert(0, os.path.dirname(__file__))
from conftest import Report, Supervisor
from plan_reader import read_plan

HEAD = """
import torch
import triton
import triton.language as tl

def zero(args):
    args["y"].zero_()

@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128}, pre_hook=zero), triton.Config({"BLOCK": 256}, num_warps=8)],
    key=["n"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(y + i, tl.load(x + i) * 2)
    else:
        tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

def launch(x, y):
    scale[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
"""


def record(supervisor: Supervisor, body: str, **options: Any) -> Report:
    source = HEAD + "\ndef f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    case = {"id": "a", "arguments": {"x": torch.zeros(1000)}}
    return supervisor.run(source, "f", [case], mode="record", **options)


def ops_of(report: Report) -> list[dict[str, Any]]:
    assert "error" not in report.types(), report.error()
    return list(read_plan(report.one("case").payload)["ops"])


def test_every_configuration_is_an_alternative_with_its_hook_and_heuristics(
    supervisor: Supervisor,
) -> None:
    report = record(supervisor, "y = torch.empty_like(x)\nlaunch(x, y)\nreturn y")
    (choice,) = ops_of(report)
    assert choice["op"] == "choice"
    assert [label.split(",")[0] for label, _ in choice["alternatives"]] == [
        "BLOCK: 64",
        "BLOCK: 128",
        "BLOCK: 256",
    ]
    assert [[op["op"] for op in ops] for _, ops in choice["alternatives"]] == [
        ["kernel"],
        ["fill", "kernel"],
        ["kernel"],
    ]
    assert [ops[-1]["grid"][0] for _, ops in choice["alternatives"]] == [16, 8, 4]
    assert report.one("case").header["notes"] == [
        "autotuner of scale: the launcher takes the fastest of 3 of 3 configurations"
    ]
    assert len(report.one("case").header["kernels"]) == 1
    assert report.one("case").header["left_out"] == 0


def test_the_configurations_that_there_was_no_time_to_compile_are_counted(
    supervisor: Supervisor,
) -> None:
    slow = "import time\nclock = iter(range(0, 10**6, 60))\ntime.monotonic = lambda: next(clock)\n"
    body = slow + "y = torch.empty_like(x)\nlaunch(x, y)\nreturn y"
    assert record(supervisor, body).one("case").header["left_out"] == 2
    first_only = record(supervisor, body, alternatives=False)
    assert first_only.one("case").header["left_out"] == 0, "the others were not wanted"


def test_initial_contents_of_a_buffer_are_written_for_every_choice(supervisor: Supervisor) -> None:
    ops = ops_of(record(supervisor, "y = torch.zeros_like(x)\nlaunch(x, y)\nreturn y"))
    assert [op["op"] for op in ops] == ["fill", "choice"]
    assert [[op["op"] for op in inner] for _, inner in ops[1]["alternatives"]] == [
        ["kernel"],
        ["fill", "kernel"],
        ["kernel"],
    ]


def test_launches_with_one_key_share_a_choice(supervisor: Supervisor) -> None:
    body = "y, z = torch.empty_like(x), torch.empty_like(x)\nlaunch(x, y)\nlaunch(y, z)\nlaunch(x[:500], y)\nreturn z"
    ops = ops_of(record(supervisor, body))
    assert [op["tunable"] for op in ops] == [0, 0, 1]


def test_host_code_that_reads_the_choice_fixes_it(supervisor: Supervisor) -> None:
    body = "y = torch.empty_like(x)\nlaunch(x, y)\nassert scale.best_config.kwargs['BLOCK'] == 64\nlaunch(y, x)\nreturn x"
    first, second = ops_of(record(supervisor, body))
    assert [label.split(",")[0] for label, _ in first["alternatives"]] == ["BLOCK: 64"]
    assert second["op"] == "kernel" and second["grid"] == (16, 1, 1)


def test_without_alternatives_the_first_configuration_that_compiles_is_used(
    supervisor: Supervisor,
) -> None:
    report = record(
        supervisor, "y = torch.empty_like(x)\nlaunch(x, y)\nreturn y", alternatives=False
    )
    (op,) = ops_of(report)
    assert op["op"] == "kernel" and op["grid"] == (16, 1, 1)
    assert (
        report.one("case")
        .header["notes"][0]
        .startswith("autotuner of scale: took the first of 3 configurations that compiles")
    )


class Kernel:
    """Stands for a compiled kernel. It does not fit the GPU if BLOCK is in `unfit`."""

    def __init__(self, unfit: tuple[int, ...]) -> None:
        self.unfit, self.tried, self.done = unfit, list[int](), list[int]()

    def run(self, *args: Any, BLOCK: int, **options: Any) -> str:
        self.tried.append(BLOCK)
        if BLOCK in self.unfit:
            raise OutOfResources(999, 100, "shared memory")
        self.done.append(BLOCK)
        return f"ran {BLOCK}"


def tuner(unfit: tuple[int, ...] = (), **options: Any) -> tuple[Any, Kernel]:
    """Returns an autotuner over three configurations, and the kernel that it launches."""

    @triton.autotune(
        configs=[triton.Config({"BLOCK": size}) for size in (64, 128, 256)], key=["n"], **options
    )
    @triton.jit
    def scale(x, n, BLOCK: tl.constexpr):
        pass

    scale.fn = kernel = Kernel(unfit)
    return scale, kernel


@pytest.fixture
def first_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Autotuner, "run", Autotuner.run)  # restores it after the test
    autotuner.use_first_configuration()


@pytest.mark.usefixtures("first_configuration")
def test_a_judge_launches_the_first_configuration_once() -> None:
    scale, kernel = tuner()
    assert scale.run(torch.zeros(8), 8) == "ran 64"
    assert kernel.tried == [64] and scale.best_config.kwargs == {"BLOCK": 64}


def test_of_configurations_that_differ_in_warps_the_usual_number_comes_first() -> None:
    def config(size: int, warps: int, stages: int = 3) -> Any:
        return triton.Config({"BLOCK": size}, num_warps=warps, num_stages=stages)

    given = [config(64, 1), config(64, 2), config(128, 8), config(64, 8), config(64, 1, stages=2)]
    ordered = autotuner.with_usual_warps_first(given)
    assert [(one.kwargs["BLOCK"], one.num_warps, one.num_stages) for one in ordered] == [
        (64, 2, 3),
        (64, 1, 3),
        (64, 8, 3),
        (128, 8, 3),
        (64, 1, 2),
    ]
    assert autotuner.with_usual_warps_first([]) == []


@pytest.mark.usefixtures("first_configuration")
def test_a_configuration_that_does_not_fit_is_tried_once_for_each_key() -> None:
    scale, kernel = tuner(unfit=(64, 128))
    assert [scale.run(torch.zeros(8), 8) for _ in range(2)] == ["ran 256"] * 2
    assert kernel.tried == [64, 128, 256, 256]
    scale.run(torch.zeros(9), 9)
    assert kernel.tried[4:] == [64, 128, 256]


@pytest.mark.usefixtures("first_configuration")
def test_if_no_configuration_fits_the_last_error_is_raised_each_time() -> None:
    scale, _ = tuner(unfit=(64, 128, 256))
    for _ in range(2):
        with pytest.raises(OutOfResources):
            scale.run(torch.zeros(8), 8)


@pytest.mark.usefixtures("first_configuration")
def test_pruned_configurations_are_not_used() -> None:
    scale, kernel = tuner(
        prune_configs_by={"early_config_prune": lambda configs, nargs, **_: configs[1:]}
    )
    scale.run(torch.zeros(8), 8)
    assert kernel.tried == [128]


@pytest.mark.usefixtures("first_configuration")
def test_a_timed_kernel_uses_the_fastest_configuration() -> None:
    seconds = {64: 3.0, 128: 1.0, 256: 2.0}
    scale, kernel = tuner(
        do_bench=lambda call, quantiles: (call(), [seconds[kernel.done[-1]]] * 3)[1]
    )
    with autotuner.fastest_configuration():
        assert scale.run(torch.zeros(8), 8) == "ran 128"
    assert kernel.tried == [64, 128, 256, 128]
    assert scale.run(torch.zeros(8), 8) == "ran 64"
