"""Tests attempts that no test may make on a shared GPU: to use more memory than the GPU has, to
use objects of several GPUs, to reset the GPU while a job runs, and to run kernels that hang. The
real launcher makes these attempts on the fake driver. After each attempt, this launcher or the next
launcher must work."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from conftest import Results
from harness.recording import plan as plans
from harness.recording.plan import Buffer, BufferKind, Fill, Plan
from launcher import TARGET, Launcher, kernel_plan, vector_add

FAKE_MEMORY_BYTES = 1 << 30  # sandbox/launcher/driver/fake_driver.h
KINDS = 256  # the values of a byte
DEATH_S = 60.0

pytestmark = pytest.mark.short


@pytest.fixture
def folder(binary: str) -> Path:
    return Path(binary).parent


def check_works(launcher: Launcher) -> None:
    answer, outputs = launcher.launch(vector_add())
    assert answer["type"] == "launched", answer
    assert outputs == [b"\0\0\x40\x40" * 64]  # 3.0


def check_next_works(folder: Path) -> None:
    with Launcher(folder) as launcher:
        launcher.ready()
        check_works(launcher)


def refusal(launcher: Launcher, plan: Plan | bytes, gpu_memory_bytes: int = 32 << 30) -> str:
    answer, _ = launcher.launch(plan, gpu_memory_bytes)
    assert answer["type"] == "launch_error", answer
    return str(answer["kind"])


def test_memory_beyond_the_gpus(folder: Path, results: Results) -> None:
    with Launcher(folder) as launcher:
        launcher.ready()
        large = kernel_plan("fake_any")
        for _ in range(3):
            large.buffer(BufferKind.SCRATCH, FAKE_MEMORY_BYTES // 2)
        assert refusal(launcher, large) == "gpu_memory_limit"  # the limit of the device
        assert (
            refusal(launcher, large, FAKE_MEMORY_BYTES // 4) == "gpu_memory_limit"
        )  # the limit of the job
        check_works(launcher)
        # A plan that uses managed memory would need a kind of buffer that does not exist. The
        # launcher must refuse all unknown kinds.
        for kind in range(len(BufferKind), KINDS):
            managed = kernel_plan("fake_any")
            managed.buffers.append(Buffer(kind, 4096))  # type: ignore[arg-type]
            assert refusal(launcher, managed) == "invalid_plan", kind
        check_works(launcher)
    results["75_managed_memory"] = {"seen": "gpu_memory_limit, invalid_plan", "problems": []}


def test_objects_of_several_gpus(folder: Path, results: Results) -> None:
    known = [plans.Kernel, plans.Fill, plans.Copy, plans.Choice]
    fill = Fill(buffer=0, offset=0, count=1, width=8, pattern=0)
    plan = Plan(TARGET)
    plan.buffer(BufferKind.SCRATCH, 8)
    plan.ops.append(fill)
    plan.outputs.append(plans.Output(0, 0, "int64", [1], [1]))
    whole, body = plan.encode(), plans._op(fill)
    assert whole.count(body) == 1
    with Launcher(folder) as launcher:
        launcher.ready()
        assert launcher.launch(whole)[0]["type"] == "launched"
        for code in range(len(known), KINDS):
            assert (
                refusal(launcher, whole.replace(body, bytes([code]) + body[1:])) == "invalid_plan"
            ), code
        other = Plan("cuda:90,cuda:90", plan.buffers, plan.binaries, plan.ops, plan.outputs)
        assert refusal(launcher, other) == "invalid_plan"
        check_works(launcher)
    results["78_multicast"] = {"seen": "invalid_plan", "problems": []}


def test_a_reset_under_a_running_job(folder: Path, results: Results) -> None:
    with Launcher(folder) as launcher:
        launcher.ready()
        check_works(launcher)
        assert (
            refusal(launcher, kernel_plan("fake_reset")) == "internal_error"
        )  # the submission did not cause this error
        assert refusal(launcher, vector_add()) == "internal_error"
    with Launcher(folder, driver="fake-sick") as launcher:
        assert launcher.process.wait(DEATH_S) == 1
        assert "the device fails its check" in launcher.words()
    check_next_works(folder)
    results["79_resets_under_a_job"] = {
        "seen": "internal_error, then no launcher is ready until the device is well",
        "problems": [],
    }


def test_a_kernel_that_hangs(folder: Path, results: Results) -> None:
    with Launcher(folder) as launcher:
        launcher.ready()
        os.close(launcher.send(kernel_plan("fake_endless").encode()))
        time.sleep(0.2)
        assert launcher.process.poll() is None
        launcher.process.kill()
        launcher.process.wait(DEATH_S)
    check_next_works(folder)
    results["74_other_hangs"] = {"seen": "killed, next launcher works", "problems": []}
