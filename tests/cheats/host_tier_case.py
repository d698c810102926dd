"""A submission for the tier `host`, and the verdict that is due."""

from __future__ import annotations

from dataclasses import dataclass

from host_tier_prelude import PRELUDE


@dataclass(frozen=True)
class HostCase:
    text: str  # what the submission does
    body: str  # the body of the entry function
    expect: str = "fail:unattributed"  # one or more verdicts, with commas
    only_gpu: bool = False

    def source(self, prelude: str) -> str:
        lines = "".join(f"    {line}\n" for line in self.body.strip().splitlines())
        entry = "def vector_add(x, y):\n    if unrecordable(x):\n        return x\n"
        return f"{prelude}\n\n{PRELUDE}\n\n{entry}{lines}"
