"""Two windows of an editor start Assay at the same time, each with its own client, and with the store
that is the default. Both are answered."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier

import pytest
from mcp_sessions import CLIENTS, Client, Session, Target, connect
from test_scored_run import ADD, structured

WINDOWS = 2
PYTHON = [client for client in CLIENTS if client.sdk == "python"]
# The CPU device starts processes that import torch. It is enough that one client waits for these.
DEVICES = ("cpu", "fake")


@pytest.mark.parametrize(("client", "device"), list(zip(PYTHON, DEVICES, strict=True)), ids=str)
def test_two_windows_at_once(client: Client, device: str, binary: str, tmp_path: Path) -> None:
    state = ("env", "-u", "ASSAY_STATE_DIR", f"XDG_STATE_HOME={tmp_path}")
    target = Target(command=(*state, binary, "serve", "--device", device))
    together = Barrier(WINDOWS, timeout=120)
    with ExitStack() as stack:

        def opened(_: int) -> Session:
            together.wait()
            return stack.enter_context(connect(client, target, Path()))

        def tested(session: Session) -> str:
            together.wait()
            verdict = structured(session, "run_tests", operator="vector_add", code=ADD)
            return str(verdict["outcome"])

        with ThreadPoolExecutor(WINDOWS) as pool:
            sessions = list(pool.map(opened, range(WINDOWS)))
            outcomes = list(pool.map(tested, sessions))
        assert outcomes == ["pass"] * WINDOWS
        practice = [
            "for practice only" in str(session.connected.get("instructions"))
            for session in sessions
        ]
        assert sorted(practice) == [False, True]
    assert (tmp_path / "assay/assay.db").exists()
