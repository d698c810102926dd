"""Stands in for Ray in tests that must not need it: actors are objects of this process, and each call
has a thread. Only what assay.ray uses is here. With ASSAY_FAKE_RAY_FULL=1, no node is ever free."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import Any

from ray import exceptions, util

__all__ = ["exceptions", "util"]
started: list[tuple[type, dict[str, Any]]] = []  # the class and the options of each actor
_initialized = False


def init(*_: object, **__: object) -> None:
    global _initialized
    _initialized = True


def is_initialized() -> bool:
    return _initialized


class _Context:
    def get_node_id(self) -> str:
        return "0123456789abcdef"


def get_runtime_context() -> _Context:
    return _Context()


class _Method:
    def __init__(self, actor: _Actor, name: str) -> None:
        self._actor = actor
        self._name = name

    def remote(self, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if self._actor.code is None:
            return future

        def call() -> None:
            try:
                if self._actor.killed.is_set():
                    raise exceptions.RayActorError("The actor is dead.\nMore lines.")
                future.set_result(getattr(self._actor.code, self._name)(*arguments))
            except Exception as error:
                future.set_exception(error)

        threading.Thread(target=call, daemon=True).start()
        return future


class _Actor:
    def __init__(self, code: Any) -> None:
        self.code = code
        self.killed = threading.Event()

    def __getattr__(self, name: str) -> _Method:
        return _Method(self, name)


class _ActorClass:
    def __init__(self, code: type, options: dict[str, Any]) -> None:
        self._code = code
        self._options = options

    def options(self, **options: Any) -> _ActorClass:
        return _ActorClass(self._code, {**self._options, **options})

    def remote(self, *arguments: Any) -> _Actor:
        started.append((self._code, self._options))
        if os.environ.get("ASSAY_FAKE_RAY_FULL"):
            return _Actor(None)
        return _Actor(self._code(*arguments))


def remote(code: type) -> _ActorClass:
    return _ActorClass(code, {})


def get(future: Future[Any], timeout: float | None = None) -> Any:
    if timeout is not None and not wait_for([future], timeout).done:
        raise exceptions.GetTimeoutError("Get timed out.")
    return future.result()


def wait(futures: list[Future[Any]], timeout: float | None = None) -> Any:
    found = wait_for(futures, timeout)
    return list(found.done), list(found.not_done)


def kill(actor: _Actor) -> None:
    """Ends the actor. A process ends what it started; the object here must do it itself."""
    actor.killed.set()
    if hasattr(actor.code, "_worker"):
        actor.code._worker.stop()
