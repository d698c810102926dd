"""A limit of time that a submission meets as an exception, so that the line where it was is known.

limit = TimeLimit()              # in the main thread
limit.start(60_000)              # ms; from now on, and in place of what was started before
with limit.held(): ...           # what must not be interrupted: the alarm waits
limit.stop()

It rings a little before the supervisor's own, which kills: code of a compiler or a library is not
interrupted before it returns, and a submission can silence the alarm. Nothing but the line hangs on
it."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

SHARE = 0.95  # of the limit, after which it rings


class TimeIsUp(BaseException):
    """No Exception: a submission that tries one thing after another shall not try on."""


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
