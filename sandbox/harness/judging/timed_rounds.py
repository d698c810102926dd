"""Moves work of the judge out of the time for which a timed job has the GPU alone.

draw_ahead(state, rounds=3, job=states)     # before the GPU is locked: inputs for the next refreshes
kept = set_aside(state, wires, job=states)  # while it is locked: copies the outputs of a timed sample
result = judge_aside(state)                 # afterwards: the result of the oldest copied outputs

`job` contains the states of all cases of the job, whose memory counts together. Outputs are judged
by the inputs that they belong to, although the case has other inputs by then."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from harness.judging.case_state import CaseState
from harness.judging.compare import Result
from harness.judging.sizes import span_of

# The most bytes of a job's inputs that are drawn ahead, and the most bytes of these inputs and of
# what is set aside. A case that needs more draws its inputs, or compares its outputs, when it must.
AHEAD_BYTES, ASIDE_BYTES = 1 << 30, 2 << 30
# The most outputs of a case that are set aside. Their references are computed later, one by one.
MOST_ASIDE = 8
# What a launcher has of the case that it times (sandbox/launcher/memory/buffer_memory.h): of each
# input the buffer, a copy of the first contents, and the masked next contents; of each output the
# buffer, and a copy to find out whether the plan is deterministic. This much of the job's largest
# case stays free. A launcher also needs the plan's other buffers, which the judge does not know. If
# a launch finds no memory for them, the job tries again while it has the GPU alone.
INPUT_COPIES, OUTPUT_COPIES = 3, 2
UNLIMITED = sys.maxsize  # the free memory of a device that is no GPU


def _input_bytes(state: CaseState) -> int:
    return sum(span_of(value) for _, value in state.tensors())


def _aside_bytes(state: CaseState) -> int:
    return _input_bytes(state) + state.output_bytes()


def _used_bytes(job: Iterable[CaseState]) -> int:
    return sum(
        len(one.drawn) * _input_bytes(one) + len(one.aside) * _aside_bytes(one) for one in job
    )


def _launch_bytes(state: CaseState) -> int:
    return INPUT_COPIES * _input_bytes(state) + OUTPUT_COPIES * state.output_bytes()


def _free_bytes(state: CaseState) -> int:
    device = torch.device(state.case.device)
    return int(torch.cuda.mem_get_info(device)[0]) if device.type == "cuda" else UNLIMITED


def _has_room(state: CaseState, size: int, job: Iterable[CaseState]) -> bool:
    return _free_bytes(state) >= size + max(map(_launch_bytes, job))


def draw_ahead(state: CaseState, rounds: int, job: Iterable[CaseState]) -> None:
    """Draws inputs until `rounds` calls of CaseState.refresh() have theirs, or there is no room."""
    size, job = _input_bytes(state), list(job)
    while (
        state.can_refresh()
        and len(state.drawn) < rounds
        and _used_bytes(job) + size <= AHEAD_BYTES
        and _has_room(state, size, job)
    ):
        state.drawn.append(state.fresh())


def forget_drawn(jobs: Iterable[dict[str, CaseState]]) -> None:
    """Gives up inputs that were drawn ahead. Their cases draw others when they need them."""
    for states in jobs:
        for state in states.values():
            state.drawn.clear()


def set_aside(state: CaseState, wires: Sequence[dict[str, Any]], job: Iterable[CaseState]) -> bool:
    """Keeps a copy of the outputs in the shared buffers for judge_aside(). Returns False, and keeps
    nothing, if there is no room. Then the outputs have to be compared at once."""
    size, job = _aside_bytes(state), list(job)
    if (
        len(state.aside) >= MOST_ASIDE
        or _used_bytes(job) + size > ASIDE_BYTES
        or not _has_room(state, size, job)
    ):
        return False
    try:
        state.aside.append((state.with_copied_outputs(), list(wires)))
    except torch.cuda.OutOfMemoryError:
        return False
    return True


def judge_aside(state: CaseState) -> Result:
    """Judges the oldest outputs that were set aside, and forgets them. Raises DescriptorError if
    they are not inside their memory, and ValueError if nothing was set aside."""
    if not state.aside:
        raise ValueError("no outputs of this case were set aside")
    kept, wires = state.aside.pop(0)
    return kept.compare(wires, None)
