"""Remembers the first refusal of a call, so that host code cannot hide it.

    refusals = Refusals()
    with refusals.deciding():  # at its end, raises the first refusal, even if entry() caught it
        entry(x)
    raise refusals.refuse(NotRecordable("..."))  # at every place that refuses something

A refusal is an exception that says what the submission may not do. The submission's host code runs
between the check that raises the exception and the harness, so an `except` in the submission could
catch the exception. Therefore every check reports its refusal to this class, and the end of the
call raises it again. Not thread-safe."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TypeVar

Refusal = TypeVar("Refusal", bound=Exception)


class Refusals:
    """The refusals of one call (see the module's docstring)."""

    def __init__(self) -> None:
        self._first: Exception | None = None

    def refuse(self, error: Refusal) -> Refusal:
        """Remembers the error if it is the first one. Returns the error, so that the caller can
        raise it."""
        self._first = self._first or error
        return error

    def forget(self) -> None:
        """Forgets the refusals of an earlier call, in a process that serves several calls."""
        self._first = None

    def check(self) -> None:
        """Raises the first refusal, if there is one."""
        if self._first is not None:
            raise self._first

    @contextlib.contextmanager
    def deciding(self) -> Iterator[None]:
        """A context manager around the call of the submission. At its end it raises the first error
        that refuse() got, even if the submission caught that error or raised another one. Without
        such an error, an error of the submission passes through unchanged."""
        try:
            yield
        except BaseException:
            if self._first is not None:
                raise self._first from None
            raise
        self.check()
