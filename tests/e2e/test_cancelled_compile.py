"""Checks that a client that cancels `run_tests` while its kernels are compiled gets no pass, although
all outputs of the interpreter were right, and that nothing of the job is left."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from http_serving import STATELESS, Server, serving, wait_until

KERNEL = """import torch, triton, triton.language as tl

@triton.jit
def kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)

def vector_add(x, y):
    HOST
    z = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
"""
RIGHT = KERNEL.replace("HOST", "pass")
# The compilation never ends by itself, so the client always cancels before its end.
ENDLESS = KERNEL.replace("HOST", "while not triton.knobs.runtime.interpret: pass")
# All cases are judged. Two short runs of a case follow, and then only the compilation is left.
JUDGED = re.compile(r"stage judge, case (\d+) of \1\b")
# So many times in a row, a test sees that only the compilation is left.
LOOKS = 100
STAT_PARENT = 1  # the parent's place in /proc/PID/stat after the name of the program


def arguments(code: str) -> dict[str, str]:
    return {"operator": "vector_add", "code": code}


def cancel_by_task(server: Server, wait_until_compiling: Callable[[], None]) -> None:
    params = {"name": "run_tests", "arguments": arguments(ENDLESS)}
    task = server.stateless("tools/call", params, "run_tests", "")["result"]["taskId"]

    def state() -> dict[str, str]:
        return dict(server.stateless("tasks/get", {"taskId": task}, task, "")["result"])

    wait_until(lambda: JUDGED.search(state().get("statusMessage", "")) is not None)
    wait_until_compiling()
    server.stateless("tasks/cancel", {"taskId": task}, task, "")
    assert state()["status"] == "cancelled"


def cancel_by_hanging_up(server: Server, wait_until_compiling: Callable[[], None]) -> None:
    """In the stateless revision, a client cancels its call by hanging up."""
    meta = {**STATELESS, "io.modelcontextprotocol/clientCapabilities": {}, "progressToken": "p"}
    connection = server.begin_call("run_tests", arguments(ENDLESS), meta)
    response = connection.getresponse()
    while JUDGED.search(line := response.readline().decode()) is None:
        assert line, "the answer came before the client cancelled"
    wait_until_compiling()
    response.close()
    connection.close()


def metrics(server: Server, name: str) -> dict[str, int]:
    """Returns the values of a metric, by its labels."""
    text = server.request("GET", "/metrics")[2]
    return {labels: int(value) for labels, value in re.findall(name + r"\{(.*)\} (\d+)", text)}


def descendants(process: int) -> int:
    """Returns the number of processes that this process has started, directly or not."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it ended meanwhile
            continue
        parents[int(stat.parent.name)] = int(fields[STAT_PARENT])
    found, new = set(), {process}
    while new:
        new = {child for child, parent in parents.items() if parent in new}
        found |= new
    return len(found)


@pytest.mark.parametrize("cancel", [cancel_by_task, cancel_by_hanging_up])
def test_a_call_that_is_cancelled_while_it_compiles_is_no_pass(
    binary: str, tmp_path: Path, cancel: Callable[[Server, Callable[[], None]], None]
) -> None:
    with serving(binary, tmp_path, device="cpu") as server:
        first = server.call("run_tests", arguments(RIGHT))["structuredContent"]
        assert first["outcome"] == "pass", first["summary"]

        def is_idle() -> bool:
            processes = metrics(server, "assay_device_processes")
            return (
                metrics(server, "assay_jobs_running") == {'device="cpu"': 0}
                and processes['device="cpu",kind="candidates"'] == 0
                and processes['device="cpu",kind="parked_candidates"'] == 2
            )

        wait_until(is_idle)
        before = descendants(server.process.pid)
        seen = 0

        def only_compiles() -> bool:
            nonlocal seen
            seen = seen + 1 if descendants(server.process.pid) == before + 1 else 0
            return seen >= LOOKS

        cancel(server, lambda: wait_until(only_compiles))
        wait_until(is_idle)
        wait_until(lambda: descendants(server.process.pid) == before)
        ended = {
            'tool="run_tests",device="cpu",outcome="pass",error=""': 1,
            'tool="run_tests",device="cpu",outcome="error",error="cancelled"': 1,
        }
        wait_until(lambda: sum(metrics(server, "assay_jobs_total").values()) == len(ended))
        assert metrics(server, "assay_jobs_total") == ended
        # The cancelled job kept neither a place nor a recording that another job would get.
        again = server.call("run_tests", arguments(RIGHT + "\n"))["structuredContent"]
        assert again["outcome"] == "pass", again["summary"]
