"""A judge of an imported suite. It judges operators whose references are code of others.

    status = serve(channel, frame)  # `frame` has the type `judge`

The process is a child of a zygote in a job jail, as a candidate is (sandbox/pool/jailed_judge.h). No
judge of another suite trusts it. It answers the requests of a judge (judging/judge.py)."""

from __future__ import annotations

import faulthandler
import os
import sys

from harness.judging import judge
from harness.wire.frames import Channel, Frame


def serve(channel: Channel, frame: Frame) -> int:
    """Answers requests until the supervisor closes the socket. Returns the exit status."""
    _keep_only_faults()
    judge.serve_on(channel, str(frame.header["device"]))
    return 0


def _keep_only_faults() -> None:
    """Discards what the references print, because nobody reads it, and a full pipe would block. If a
    signal ends the process, the supervisor still gets the Python stack."""
    sys.stdout.flush()
    sys.stderr.flush()
    faults = os.dup(sys.stderr.fileno())
    faulthandler.enable(file=faults)
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(null, stream.fileno())
    os.close(null)
