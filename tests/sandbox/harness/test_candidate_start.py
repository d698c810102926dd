"""Tests that a failure of the harness, before the submission runs, is no error of the submission."""

from __future__ import annotations

import errno
import socket
import tempfile
from pathlib import Path

import pytest
from harness.candidate import candidate
from harness.wire.frames import Channel


@pytest.mark.parametrize(
    "error", [OSError(errno.EMFILE, "no files"), RuntimeError("Unable to open /dev/urandom")]
)
def test_a_failure_before_the_submission_runs_is_no_error_of_the_submission(
    error: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr(candidate, "_runner", fails)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ours, theirs = (Channel(side) for side in socket.socketpair())
    ours.send({"type": "job", "mode": "interpret", "entry": "f", "target": "cuda:90"}, b"")
    assert candidate.serve(theirs, []) == 3
    theirs.close()
    parked = ours.receive()
    assert parked is not None and parked.type == "parked"
    assert ours.receive() is None
