"""Tests what the judge finds about the origin of outputs on the tier `host`. A function of the test acts
as the kernels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from harness.candidate.host import HostRunner
from harness.wire import shared_memory
from harness.wire.rounds import RoundError, lay_out
from host_talk import Entry, Talk, axpy


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return Talk(tmp_path)


def by_kernels(talk: Talk) -> Entry:
    """Returns an entry whose kernels do the whole work. Its host code looks at their results."""

    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(index)
        talk.kernel(lambda x, index, out: (x.mul_(a), out.copy_(index + 1)), x, index, out)
        assert int(out[0]) == int(index[0]) + 1
        return out

    return entry


def test_outputs_of_kernels_are_attributed_although_host_code_looks_at_them(talk: Talk) -> None:
    seen = talk.origin(by_kernels(talk))
    assert seen.result.ok, seen.result.reason
    assert seen.unattributed == ""


def test_an_output_that_depends_on_arithmetic_by_torch_is_not_attributed(talk: Talk) -> None:
    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        made, out = index + 1, torch.empty_like(index)
        talk.kernel(lambda x: x.mul_(a), x)
        talk.kernel(lambda made, out: out.copy_(made), made, out)
        return out

    seen = talk.origin(entry)
    assert seen.result.ok, seen.result.reason
    assert seen.unattributed.startswith("output count depends on arithmetic by torch")


def test_an_imported_operator_may_let_torch_compute(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So nothing follows what torch computes there."""
    monkeypatch.delattr("harness.candidate.origins.Origins.launch")
    talk.state.operator.imported = True

    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        made, out = index + 1, torch.empty_like(index)
        talk.kernel(lambda made, out, x: (out.copy_(made), x.mul_(a)), made, out, x)
        return out

    assert talk.origin(entry).unattributed == ""


@pytest.mark.parametrize("imported", [False, True])
def test_the_round_has_two_sets_and_a_byte_for_each_output(
    talk: Talk, imported: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A third set would need more memory than the largest cases leave."""
    sizes: list[int] = []
    create = shared_memory.create

    def noted(device: torch.device, size: int) -> Any:
        sizes.append(size)
        return create(device, size)

    monkeypatch.setattr(shared_memory, "create", noted)
    talk.state.operator.imported = imported
    assert talk.origin(by_kernels(talk)).unattributed == ""
    layout = lay_out(talk.case.arguments, talk.case.output_tensors)
    assert sizes == [2 * layout.size + (0 if imported else len(layout.outputs))]


@pytest.mark.parametrize("right_by_kernel", [False, True])
def test_what_is_written_after_the_outputs_were_looked_at_does_not_count(
    talk: Talk, right_by_kernel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    returned: list[torch.Tensor] = []
    write = HostRunner._write

    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(index)
        returned[:] = [out]
        more = int(right_by_kernel)
        talk.kernel(lambda x, index, out: (x.mul_(a), out.copy_(index + more)), x, index, out)
        return out

    def write_late(runner: HostRunner, *args: Any, **kwargs: Any) -> None:
        returned[0].numpy()[:] += 1 - 2 * right_by_kernel
        write(runner, *args, **kwargs)

    monkeypatch.setattr(HostRunner, "_write", write_late)
    seen = talk.origin(entry)
    assert seen.result.ok == right_by_kernel
    assert seen.unattributed == ""


def test_an_output_without_a_kernel_is_not_attributed(talk: Talk) -> None:
    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        talk.kernel(lambda x: x.mul_(a), x)
        return index + 1

    seen = talk.origin(entry)
    assert seen.result.ok
    assert "the same, bit for bit" in seen.unattributed
    assert "captured in a CUDA graph" in seen.unattributed


def test_an_inout_argument_without_a_kernel_is_not_attributed(talk: Talk) -> None:
    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(index)
        talk.kernel(lambda index, out: out.copy_(index + 1), index, out)
        x.mul_(a)
        return out

    assert "output x_after is the same" in talk.origin(entry).unattributed


def test_an_entry_that_recognises_the_run_and_returns_something_else_is_wrong(talk: Talk) -> None:
    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        axpy(a, x, index)
        return torch.zeros_like(index)

    seen = talk.origin(entry)
    assert seen.result.kind == "wrong_result"
    assert seen.unattributed == ""


def test_an_entry_that_fails_has_no_result(talk: Talk) -> None:
    def entry(a: float, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        raise KeyError("no kernel ran")

    with pytest.raises(RoundError, match="ended"):
        talk.origin(entry)
