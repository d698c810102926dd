"""Builds a plan: its operations, and the choices between alternatives (the configurations of an
autotuned kernel). If the submission cannot be a plan, the draft keeps the reason.

    draft = Draft("cuda:90")
    draft.begin()
    with draft.choosing(owner, key) as choosing:  # an autotuned kernel
        with choosing.alternative("BLOCK: 64"):
            draft.append(op)
    data = draft.encode()  # draft.check() raises the first refusal

Not thread-safe."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from harness.entry.errors import NotRecordable
from harness.entry.refusals import Refusals
from harness.recording import plan as plans


class _Choosing:
    """Collects the alternatives of one choice. Implements launches.Choosing."""

    def __init__(self, draft: Draft, limit: int) -> None:
        self._draft = draft
        self._limit = limit
        self.alternatives: list[plans.Alternative] = []

    @property
    def count(self) -> int:
        return len(self.alternatives)

    @property
    def has_room(self) -> bool:
        """Returns False if there are as many alternatives as allowed, or if half of the plan is
        full. The other half is reserved for later launches of the submission."""
        binaries = self._draft.plan.binaries
        image_bytes = sum(len(binary.image) for binary in binaries)
        return (
            self.count < self._limit
            and len(binaries) < plans.MAX_BINARIES // 2
            and image_bytes < plans.MAX_PLAN_BYTES // 2
        )

    @contextlib.contextmanager
    def alternative(self, label: str) -> Iterator[None]:
        ops: list[plans.SimpleOp] = []
        with self._draft.collecting(ops, is_first=not self.alternatives):
            yield
        self.alternatives.append(plans.Alternative(label, ops))


class Draft:
    """The plan of one case while it is being recorded (see the module's docstring)."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.begin()

    def begin(self) -> None:
        """Starts a new plan."""
        self.plan = plans.Plan(self.target)
        self.notes: list[str] = []
        self.left_out = 0  # alternatives that are missing, but may compile at another time
        self._refusals = Refusals()
        # Maps (owner, key, number of alternatives) to the number of the tunable. The owner is an
        # autotuner. The choices of the plan refer to a tunable by its number.
        self._tunables: dict[tuple[int, object, int], int] = {}
        self._settled: set[int] = set()  # owners whose chosen configuration was read by host code
        self._alternative: list[plans.SimpleOp] | None = (
            # While an alternative is recorded, this list receives the operations.
            None
        )
        self.is_first_alternative = True

    def encode(self) -> bytes:
        try:
            return self.plan.encode()
        except plans.PlanTooLarge as error:
            raise NotRecordable(str(error)) from error

    # The methods below add operations to the plan.

    @property
    def in_alternative(self) -> bool:
        return self._alternative is not None

    def append(self, op: plans.SimpleOp) -> None:
        into: list[Any] = self.plan.ops if self._alternative is None else self._alternative
        if len(into) >= plans.MAX_OPERATIONS:
            raise self.refuse(f"more than {plans.MAX_OPERATIONS} launches, fills and copies")
        into.append(op)

    def prepare(self, op: plans.SimpleOp) -> None:
        """Appends an operation before the current choice, because the operation is needed with
        every alternative."""
        self.plan.ops.append(op)

    # The methods below record choices between alternatives.

    @contextlib.contextmanager
    def choosing(self, owner: int, key: object) -> Iterator[_Choosing]:
        """Records a piece of work that has several alternatives. `owner` is the autotuner."""
        chosen = _Choosing(self, 1 if owner in self._settled else plans.MAX_ALTERNATIVES)
        yield chosen
        if chosen.count > 1:
            number = self._tunables.setdefault((owner, key, chosen.count), len(self._tunables))
            self.plan.ops.append(plans.Choice(number, chosen.alternatives))
        elif chosen.alternatives:
            self.plan.ops.extend(chosen.alternatives[0].ops)

    def settle(self, owner: int) -> None:
        """Limits all earlier and later choices of an autotuner (`owner`) to the first alternative.
        The Triton adapter calls this when host code reads which alternative was chosen."""
        self._settled.add(owner)
        numbers = {number for (tuner, *_), number in self._tunables.items() if tuner == owner}
        for op in self.plan.ops:
            if isinstance(op, plans.Choice) and op.tunable in numbers:
                del op.alternatives[1:]

    @contextlib.contextmanager
    def collecting(self, into: list[plans.SimpleOp], is_first: bool) -> Iterator[None]:
        """Collects the operations of one alternative in the list `into`. Operations that prepare
        buffers are not collected, because prepare() puts them before the whole choice."""
        before = self._alternative, self.is_first_alternative
        self._alternative, self.is_first_alternative = into, is_first
        try:
            yield
        finally:
            self._alternative, self.is_first_alternative = before

    # The methods below keep notes, and the reasons why the work cannot be a plan.

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def leave_out(self, alternatives: int) -> None:
        self.left_out += alternatives

    def refuse(self, why: str, reads_values: bool = False, subject: str = "") -> NotRecordable:
        """Returns an exception that says why the work cannot be a plan. The draft keeps the
        exception, so that host code cannot hide it."""
        return self._refusals.refuse(NotRecordable(why, reads_values, subject))

    def deciding(self) -> contextlib.AbstractContextManager[None]:
        """Returns a context manager. If something is refused inside its block, the end of the block
        raises the first refusal, in place of any other error."""
        return self._refusals.deciding()

    def check(self) -> None:
        """Raises the first refusal, even if host code has caught it."""
        self._refusals.check()
