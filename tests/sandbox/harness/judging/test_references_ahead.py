"""Tests that the judge computes references before they are asked for, but not while a job is
timed."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.dirname(__file__)))
from judge_client import REFERENCE, JudgeClient, write_operator

PATIENCE_S = 120.0  # the longest wait for an event that must come


def test_references_are_computed_ahead_but_not_while_a_job_is_timed(
    judge: JudgeClient, tmp_path: Path
) -> None:
    """A reference waits while `gate` does not exist. So the judge is in the references of one case
    when a request comes, however fast the machine is."""
    done, gate = tmp_path / "done", tmp_path / "gate"
    body = (
        f"    import os, time\n    while not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
        f"    open({str(done)!r}, 'a').write('x')\n    return a * x, index + 1"
    )
    slow = write_operator(
        tmp_path / "slow", reference=REFERENCE.replace("    return a * x, index + 1", body)
    )
    cases = [
        {"id": name, "axes": {"rows": 4, "cols": 3}, "dtype": "float32", "distribution": "normal"}
        for name in "abcdef"
    ]

    def prepare(job: str, count: int) -> None:
        judge.ask(
            {
                "type": "prepare",
                "job": job,
                "operator_dir": str(slow),
                "device": "cpu",
                "cases": cases[:count],
            }
        ).close()

    def references() -> int:
        return done.stat().st_size if done.exists() else 0

    def comes_to(count: int) -> bool:
        end = time.monotonic() + PATIENCE_S
        while references() < count and time.monotonic() < end:
            time.sleep(0.02)
        return references() == count

    gate.touch()
    prepare("first", 1)
    assert comes_to(references_of_one := 2)  # once in the case's dtype, and once in float64
    gate.unlink()
    prepare("second", len(cases))
    judge.channel.send({"type": "settle", "job": "timed"})
    gate.touch()
    assert (reply := judge.channel.receive()) is not None and reply.type == "settled"
    settled = references()
    assert settled <= 2 * references_of_one
    time.sleep(0.2)  # a judge that goes on would compute all references meanwhile
    assert references() == settled
    prepare("third", 1)
    assert comes_to((2 + len(cases)) * references_of_one)
    gate.unlink()
    prepare("fourth", len(cases))
    judge.channel.send({"type": "release", "job": "fourth"})  # its references are no longer needed
    judge.channel.send({"type": "settle", "job": "timed"})
    gate.touch()
    assert (reply := judge.channel.receive()) is not None and reply.type == "settled"
    assert references() <= (3 + len(cases)) * references_of_one
    for job in ("first", "second", "third"):
        judge.channel.send({"type": "release", "job": job})
