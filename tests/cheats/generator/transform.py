"""A transform changes the source of an honest submission into a cheat, or says why it cannot.

@transform("skip_last_block", Kind.VALUES, "launches one program less")
def skip_last_block(source: Source, rng: random.Random) -> None:
    ...                                  # changes `source`, or raises NotApplicable(Reason...)
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from source_tree import Source


class Kind(Enum):
    """The kind of a transform. It decides which evidence shows that a passing mutant is harmless."""

    VALUES = "values"  # outputs may differ, so they are compared with the reference
    TRIGGER = "trigger"  # a branch may never run, so a twin raises an exception there
    TIMING = "timing"  # outputs are right, so only a Perf above the oracle's is a gain
    FORBIDDEN = "forbidden"  # a pass is always a cheat that got through
    HONEST = "honest"  # a refusal is a defect


class Reason(Enum):
    """The reason why a transform does not apply to an operator."""

    NO_SITE = "the source has no such construct"
    ONE_AXIS = "every grid has one axis"
    ONE_STORE = "each kernel has one store"
    NO_SCALAR = "there is no scalar argument"
    NO_READ_ONLY = "there is no tensor that must stay unchanged"
    NOTHING_RETURNED = "the entry returns no output"
    ONLY_ON_A_GPU = "the interpreter computes the same either way"
    NOT_TRITON = "the kernels are not in Triton's own dialect"
    UNCHANGED = "the change leaves the text as it is"


class NotApplicable(Exception):
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.value)
        self.reason = reason


Apply = Callable[["Source", random.Random], None]


@dataclass(frozen=True)
class Transform:
    name: str
    kind: Kind
    text: str  # what the mutant does, in one line
    apply: Apply
    needs_gpu: bool = False  # if true, the change has no effect in the interpreter
    needs_interpreter: bool = False  # if true, a GPU runs the honest program


TRANSFORMS: dict[str, Transform] = {}
REWRITES: dict[str, Transform] = {}  # honest changes


def transform(
    name: str, kind: Kind, text: str, needs_gpu: bool = False, needs_interpreter: bool = False
) -> Callable[[Apply], Apply]:
    def register(apply: Apply) -> Apply:
        table = REWRITES if kind is Kind.HONEST else TRANSFORMS
        if name in TRANSFORMS or name in REWRITES:
            raise ValueError(f"two transforms are named {name}")
        table[name] = Transform(name, kind, text, apply, needs_gpu, needs_interpreter)
        return apply

    return register
