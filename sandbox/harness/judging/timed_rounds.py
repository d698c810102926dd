"""Moves work of the judge out of the time for which a timed job has the GPU alone.

draw_ahead(state, rounds=3)         # before the GPU is locked: inputs for the next refreshes
kept = set_aside(state, wires)      # while it is locked: copies the outputs of a timed sample
result = judge_aside(state)         # afterwards: the result of the outputs that were set aside

Outputs are judged by the inputs that they belong to, although the case has other inputs by then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from harness.judging.case_state import CaseState
from harness.judging.compare import Result
from harness.judging.sizes import bytes_of

# The most bytes of inputs that are drawn ahead for a case, and the most bytes of inputs and outputs
# that are set aside for a case. A case that needs more draws its inputs, or compares its outputs,
# when it must.
AHEAD_BYTES, ASIDE_BYTES = 1 << 30, 1 << 30


def _input_bytes(state: CaseState) -> int:
    return sum(bytes_of(value) for _, value in state.tensors())


def draw_ahead(state: CaseState, rounds: int) -> None:
    """Draws inputs for the next `rounds` calls of CaseState.refresh(), or fewer if they are large."""
    each = max(1, _input_bytes(state))
    while state.can_refresh() and len(state.drawn) < min(rounds, AHEAD_BYTES // each):
        state.drawn.append(state.fresh())


def set_aside(state: CaseState, wires: Sequence[dict[str, Any]]) -> bool:
    """Keeps a copy of the outputs in the shared buffers for judge_aside(). Returns False, and keeps
    nothing, if there is no room. Then the outputs have to be compared at once."""
    size = _input_bytes(state) + state.output_bytes()
    if (len(state.aside) + 1) * size > ASIDE_BYTES:
        return False
    try:
        state.aside.append((state.with_copied_outputs(), list(wires)))
    except torch.cuda.OutOfMemoryError:
        return False
    return True


def judge_aside(state: CaseState) -> Result:
    """Judges all outputs that were set aside, and forgets them. Returns the first result that is not
    right, or else the last one. Raises DescriptorError if outputs are not inside their memory, and
    ValueError if nothing was set aside."""
    aside, state.aside = state.aside, []
    if not aside:
        raise ValueError("no outputs of this case were set aside")
    for kept, wires in aside:
        result = kept.compare(wires, None)
        kept.forget_references()
        if not result.ok:
            break
    return result
