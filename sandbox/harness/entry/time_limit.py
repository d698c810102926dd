"""A time limit that reaches a submission as an exception, so that its current line is known.

    limit = TimeLimit()  # in the main thread
    limit.start(60_000)  # in ms; replaces an earlier start
    with limit.held():  # delays the alarm: this block must not be interrupted
        ...
    limit.stop()

The alarm rings a little before the supervisor's own limit, which kills the process. Code of a
compiler or a library is interrupted only when it returns, and a submission can silence the alarm.
Only the reported line depends on it."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

SHARE = 0.95  # the alarm rings after this share of the limit


class TimeIsUp(BaseException):
    """Not an Exception, so that a submission that catches Exception and retries does not catch
    it."""


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
