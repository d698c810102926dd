"""Implements the judge's side of the host tier. The judge sends new inputs, times the candidate's
work, and checks the outputs when the candidate reports that they are complete.

    # `state` is the CaseState that `prepare` created, and `line` is a JudgeLine (wire/rounds.py).
    seen = HostCase(state, line, round_s=20.0).judge(timed=True)
    origin = HostCase(state, line, round_s=20.0).attribute()  # with a candidate of an ablated run

The candidate can use the GPU, so it could lie about any time that it measures itself. Therefore
only the judge measures time. The inputs of a round are in memory to which the candidate had no
access before. The message that starts the clock gives the candidate this memory. The clock stops
when the candidate has reported completion and the judge has read random bytes of all outputs. Then
the judge copies the outputs. The bytes that it has read must be the same in the copy, so a
candidate gains nothing if it reports completion too early. The measured time is wall-clock time. It
includes the kernels, the candidate's host code, mapping the memory, and copying returned outputs
into the memory. It is never less than the kernels' time."""

from __future__ import annotations

import math
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from harness.judging.case_state import SEED_BYTES, CaseState
from harness.judging.compare import Result
from harness.judging.device_room import taken_by_others
from harness.judging.sizes import bytes_of
from harness.wire import shared_memory
from harness.wire.device_memory import DeviceMemoryError
from harness.wire.poison import fill_poison
from harness.wire.rounds import (
    ABLATED_SETS,
    BY_KERNELS,
    Go,
    JudgeLine,
    RoundError,
    lay_out,
)
from harness.wire.tensors import Memory, aligned, contiguous, span_view

ROOM_BYTES = 4 << 30  # the maximum size of the memory of one round
ROOM_SHARE = 8  # a round uses at most 1 / ROOM_SHARE of the free memory
MAX_SETS = 32  # the maximum number of sets in a timed round
TIMED_ROUNDS = 12
# The number of sets in a timed round whose outputs the judge checks. It chooses these sets at
# random after the round. The first round, which is not timed, has only one set.
CHECKED_SETS = 2
# The number of bytes that the judge reads at random places in each set's outputs, and compares with
# the copy of the outputs.
WATCHED_BYTES = 4096
MAX_TIMING_S = 10.0
CONFIDENCE = 0.95
# The GPU memory that the CUDA contexts of launchers, the candidate and the judge may take. It does
# not count as memory of the candidate.
CONTEXTS_BYTES = 8 << 30
# The end of each reason why no kernel computed the outputs.
WHAT_COUNTS = (
    ". On the host tier, what a library, numpy or another thread writes to the memory of a kernel is "
    "not the kernel's. A launch that is captured in a CUDA graph counts only if a kernel ran on the "
    "same memory before the capture, or if the memory was made during the capture"
)


@dataclass
class HostResult:
    """The result of all rounds of a case."""

    result: Result
    seed: int
    # The time of each call. The list is empty if the outputs are wrong or the case was not timed.
    samples_ns: list[float] = field(default_factory=list)
    # How the judge knows that the submission's kernels did not compute the outputs, which are
    # right. Only attribute() sets it.
    unattributed: str = ""
    needs_no_kernel: bool = False  # of the first round (CaseState.needs_no_kernel)

    def wire(self) -> dict[str, Any]:
        return {
            **self.result.wire(),
            "seed": f"{self.seed:#x}",
            "unattributed": self.unattributed,
            "needs_no_kernel": self.needs_no_kernel,
            **timing(self.samples_ns),
        }


def timing(samples: Sequence[float]) -> dict[str, Any]:
    """Returns the samples, their median and the median's confidence interval, in the form that
    messages use."""
    low, high = median_interval(samples)
    median = statistics.median(samples) if samples else 0.0
    return {"samples_ns": list(samples), "median_ns": median, "low_ns": low, "high_ns": high}


def median_interval(samples: Sequence[float]) -> tuple[float, float]:
    """Returns the 95 % confidence interval of the median. Both ends are samples (order statistics).
    If there are few samples, the interval extends from the smallest to the largest sample."""
    ordered, n = sorted(samples), len(samples)
    if not ordered:
        return 0.0, 0.0
    # `below` is the probability that at most `rank` samples are on one given side of the median.
    rank, below = 0, 0.0
    while (below := below + math.comb(n, rank) / 2**n) <= (1 - CONFIDENCE) / 2:
        rank += 1
    rank = max(rank - 1, 0)
    return ordered[rank], ordered[n - 1 - rank]


@dataclass(frozen=True)
class OutputPlace:
    """Where the bytes of an output are."""

    offset: int  # in a set of a round's memory
    size: int
    kept: int  # the offset in a set of the copy, which contains only outputs


class HostCase:
    """Judges one case in rounds (see the module's docstring). Raises RoundError if the candidate
    breaks the protocol, or if the judge runs out of GPU memory because the candidate uses more than
    `memory_limit` bytes. `taken_before` is how much memory other processes had before the candidate
    started. They still have it, so it is not the candidate's. `note_round` is called with the size of
    a round's memory when the round begins."""

    def __init__(
        self,
        template: CaseState,
        line: JudgeLine,
        round_s: float,
        memory_limit: int | None = None,
        taken_before: int = 0,
        note_round: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._template = template
        self._line = line
        self._round_s = round_s
        self._memory_limit = memory_limit
        self._taken_before = taken_before
        self._note_round = note_round
        self._device = template.case.device
        entry = template.description()
        self._arguments, self._outputs = entry["arguments"], entry["outputs"]
        self._layout = lay_out(self._arguments, self._outputs)
        self._places, self._kept_size = self._output_places()
        self._needs_no_kernel = False

    def judge(self, timed: bool) -> HostResult:
        """Judges the outputs of all rounds."""
        return self._conversation(lambda: self._rounds(timed))

    def attribute(self) -> HostResult:
        """Judges a round of a candidate of an ablated run, and the origin of its outputs. The round
        has sets with equal inputs. The candidate returns its outputs in the first set, in the second
        set the outputs without the results of its kernels, and in the last set which outputs do not
        depend on what torch computes. There is no last set for an imported operator."""
        return self._conversation(self._attributed)

    def _conversation(self, rounds: Callable[[], HostResult]) -> HostResult:
        try:
            seen = rounds()
        except (torch.cuda.OutOfMemoryError, DeviceMemoryError) as error:
            # torch limits only the memory that the candidate allocates through torch. The candidate
            # can also allocate memory directly from the driver, so the total is checked here.
            # Another process may have allocated memory since the candidate started. Therefore the
            # supervisor looks again after the candidate has ended (sandbox/gpu/candidate_memory.h).
            others = taken_by_others(self._device)
            taken = others - self._taken_before
            if self._memory_limit is None or taken <= self._memory_limit + CONTEXTS_BYTES:
                raise
            usage = f"the candidate holds about {taken >> 30} GiB of the GPU's memory, and may have {self._memory_limit >> 30} GiB"
            text = f"{usage}: no memory is left to judge it with"
            raise RoundError("memory", text, others) from error
        self._line.finish()
        return seen

    def _rounds(self, timed: bool) -> HostResult:
        result, first, _ = self._round(1)
        seen = HostResult(result, first, needs_no_kernel=self._needs_no_kernel)
        if timed and result.ok:
            end = time.monotonic() + MAX_TIMING_S
            while len(seen.samples_ns) < TIMED_ROUNDS and (
                not seen.samples_ns or time.monotonic() < end
            ):
                sets = self._sets_per_round()
                again, _, elapsed = self._round(sets, strict=False)
                if not again.ok:
                    again.reason = "right at first, wrong when it was timed: " + again.reason
                    return HostResult(again, first)
                seen.samples_ns.append(elapsed / sets)
        return seen

    def _attributed(self) -> HostResult:
        state = self._template.fresh(strict=False)
        # torch may compute in an imported operator, so nobody needs to follow what it does there.
        asks_origins = not state.operator.imported
        changed, kept, _ = self._exchange([state] * ABLATED_SETS, asks_origins)
        if changed is not None:
            return HostResult(changed, state.seed)
        outputs, without = (
            self._read(kept[position * self._kept_size :]) for position in range(ABLATED_SETS)
        )
        seen = HostResult(state.judge(outputs), state.seed)
        if seen.result.ok:
            seen.unattributed = state.unattributed(outputs, without)
            if seen.unattributed:
                seen.unattributed += WHAT_COUNTS
            elif asks_origins:
                said = kept[ABLATED_SETS * self._kept_size :].tolist()
                seen.unattributed = state.computed_by_torch([one == BY_KERNELS for one in said])
        return seen

    def _sets_per_round(self) -> int:
        room = ROOM_BYTES
        if self._device.type == "cuda":
            room = min(room, torch.cuda.mem_get_info(self._device)[0] // ROOM_SHARE)
        return max(1, min(MAX_SETS, room // self._layout.size))

    def _round(self, sets: int, strict: bool = True) -> tuple[Result, int, float]:
        """Runs one round with `sets` sets. Returns a result, the seed of the first set, and the
        elapsed time in nanoseconds. The result is that of the first checked set that is wrong. If
        none is wrong, it is that of the first checked set."""
        states = [self._template.fresh(strict) for _ in range(sets)]
        changed, kept, elapsed = self._exchange(states)
        if changed is not None:
            return changed, states[0].seed, elapsed
        chosen = random.SystemRandom().sample(range(sets), min(sets, CHECKED_SETS))
        results = [
            states[position].judge(self._read(kept[position * self._kept_size :]))
            for position in chosen
        ]
        self._needs_no_kernel = results[0].ok and states[chosen[0]].needs_no_kernel()
        return (
            next((result for result in results if not result.ok), results[0]),
            states[0].seed,
            elapsed,
        )

    def _exchange(
        self, states: Sequence[CaseState], asks_origins: bool = False
    ) -> tuple[Result | None, torch.Tensor, float]:
        """Sends a set for each state, and waits for the candidate. Returns a copy of the outputs and
        the elapsed time in nanoseconds. If it asks for the origins of the outputs, a byte for each
        output follows the copy. The result says what is wrong if the outputs changed after
        the candidate had reported completion; otherwise it is None."""
        sets = len(states)
        end = sets * self._layout.size
        origins = slice(end, end + len(self._outputs) * asks_origins)
        memory = shared_memory.create(self._device, origins.stop)
        try:
            for position, state in enumerate(states):
                self._fill(state, memory.bytes[position * self._layout.size :])
            memory.bytes[origins].zero_()
            watched, watched_copies = self._watched_places(sets)
            handle = memory.handle()
            self._synchronize()
            self._note_round(memory.size)
            start = time.perf_counter_ns()
            try:
                self._line.go(Go(sets + asks_origins, memory.size), handle)
            finally:
                os.close(handle)
            self._line.wait_done(time.monotonic() + self._round_s)
            reported = memory.bytes.take(watched)
            self._synchronize()
            elapsed = float(time.perf_counter_ns() - start)
            kept = self._copied_outputs(memory.bytes, sets, memory.bytes[origins])
            self._synchronize()
        finally:
            memory.free()
        if torch.equal(reported, kept.take(watched_copies)):
            return None, kept, elapsed
        reason = "the outputs still changed after the candidate had reported completion"
        return Result(False, "wrong_result", reason), kept, elapsed

    def _fill(self, state: CaseState, flat: torch.Tensor) -> None:
        fill_poison(flat[: self._layout.size])
        for name, value in state.tensors():
            offset, size = self._layout.inputs[name], bytes_of_span(value)
            flat[offset : offset + size].copy_(span_view(value))

    def _watched_places(self, sets: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Draws random byte positions within the outputs. Returns them as positions in a round's
        memory, and as positions in the copy of its outputs."""
        places = [place for place in self._places if place.size > 0]
        rng = torch.Generator(self._device)
        rng.manual_seed(int.from_bytes(os.urandom(SEED_BYTES), "little"))
        share = WATCHED_BYTES // max(len(places), 1)
        none = torch.empty(0, dtype=torch.int64, device=self._device)
        drawn = [
            torch.randint(0, place.size, (share,), device=self._device, generator=rng)
            for place in places
        ]
        starts = torch.arange(sets, device=self._device)[:, None]
        there, here = (
            torch.cat([none, *(start + one for start, one in zip(offsets, drawn, strict=True))])
            for offsets in ([place.offset for place in places], [place.kept for place in places])
        )
        return (
            (starts * self._layout.size + there).reshape(-1),
            (starts * self._kept_size + here).reshape(-1),
        )

    def _output_places(self) -> tuple[list[OutputPlace], int]:
        """Returns the places of the outputs, and the size of a set of their copy."""
        spans = {
            wire["name"]: int(wire["nbytes"])
            for wire in self._arguments
            if wire["kind"] == "tensor"
        }
        places, kept = [], 0
        for output, offset in zip(self._outputs, self._layout.outputs, strict=True):
            name = output["from"]
            at = self._layout.inputs[name] if offset is None else offset
            size = spans[name] if offset is None else int(output["nbytes"])
            places.append(OutputPlace(at, size, kept))
            kept = aligned(kept + size)
        return places, max(kept, 1)

    def _copied_outputs(
        self, memory: torch.Tensor, sets: int, origins: torch.Tensor
    ) -> torch.Tensor:
        end = sets * self._kept_size
        kept = torch.empty(end + origins.numel(), dtype=torch.uint8, device=self._device)
        kept[end:].copy_(origins)
        rows = kept[:end].view(sets, self._kept_size)
        given = memory[: sets * self._layout.size].view(sets, self._layout.size)
        for place in self._places:
            rows[:, place.kept : place.kept + place.size].copy_(
                given[:, place.offset : place.offset + place.size]
            )
        return kept

    def _read(self, kept: torch.Tensor) -> list[torch.Tensor]:
        """Returns the outputs of the set with which this copy begins."""
        memory, wires = Memory(kept), {wire["name"]: wire for wire in self._arguments}
        return [
            memory.tensor(
                {**wires[output["from"]], "offset": place.kept}
                if output["from"]
                else contiguous(output, place.kept)
            )
            for output, place in zip(self._outputs, self._places, strict=True)
        ]

    def _synchronize(self) -> None:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)


def bytes_of_span(value: torch.Tensor) -> int:
    return span_view(value).numel() if bytes_of(value) else 0
