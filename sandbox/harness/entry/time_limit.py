"""Raises an exception in the submission when the submission's time is up, so that the verdict can
name the line that the submission executes at that moment.

    limit = TimeLimit()  # in the main thread
    limit.start(60_000)  # in ms; replaces an earlier start
    with limit.held():  # delays the alarm: this block must not be interrupted
        ...
    limit.stop()

The alarm goes off shortly before the time limit at which the supervisor kills the process. If
compiler or library code runs at that moment, the exception is raised only when that code returns. A
submission can switch the alarm off. This does no harm, because only the reported line depends on
the alarm."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

SHARE = 0.95  # the share of the limit after which the alarm goes off


class TimeIsUp(BaseException):
    """The time limit has passed. This is not an Exception, because a submission that catches
    Exception and retries must not catch it."""


class TimeLimit:
    def __init__(self) -> None:
        self._wall_ms = 0
        signal.signal(signal.SIGALRM, self._ring)

    def start(self, wall_ms: int) -> None:
        self._wall_ms = wall_ms
        signal.setitimer(signal.ITIMER_REAL, SHARE * wall_ms / 1e3)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        raise TimeIsUp(
            f"stopped after {SHARE * self._wall_ms:.0f} ms; the limit is {self._wall_ms} ms"
        )
