"""Tests the judge of an imported suite, which is forked from a zygote. The jail itself is tested by
tests/escapes/test_judge_jail.py."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

ENDS = "import os, sys\nprint('printed by the reference', file=sys.stderr)\nos.abort()\n"


def test_a_judge_is_forked_from_the_zygote(supervisor: Any, operator: Path) -> None:
    channel, out, err, pid, _ = supervisor.fork()
    parked = channel.receive()
    assert parked is not None and parked.type == "parked"
    channel.send({"type": "judge", "device": "cpu"})
    ready = channel.receive()
    assert ready is not None and (ready.type, ready.header["device_name"]) == ("ready", "cpu")
    case = {
        "id": "small",
        "axes": {"rows": 3, "cols": 2},
        "dtype": "float32",
        "distribution": "normal",
    }
    request = {"type": "prepare", "job": "job_1", "operator_dir": str(operator), "cases": [case]}
    channel.send(request)
    begun = channel.receive()
    assert begun is not None
    assert begun.header == {"type": "begun", "job": "job_1", "case": "small"}
    prepared = channel.receive()
    assert prepared is not None and prepared.type == "prepared", prepared
    prepared.close()

    # What a reference prints is not kept, but the place where it ended its judge is.
    with (operator / "reference.py").open("a") as stream:
        stream.write(ENDS)
    os.utime(operator / "reference.py", ns=(0, 0))
    channel.send(request)
    assert channel.receive() is None
    exited = supervisor.control.receive()
    assert exited is not None and (exited.type, exited.header["value"]) == (
        "exited",
        signal.SIGABRT,
    )
    channel.close()
    with os.fdopen(out) as printed, os.fdopen(err) as kept:
        assert printed.read() == ""
        faults = kept.read()
    assert "reference.py" in faults and "printed by the reference" not in faults
    assert pid > 0
