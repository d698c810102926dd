"""Checks workers over ssh on machines whose links are cut and slow. Each machine is a network
namespace of this one."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from cluster_load import outcomes, run_tests, unfinished, worker_pids
from http_serving import Server, serving
from ssh_node import SshNode, missing_programs
from test_roles import losses, wait_until

NOTICED_S = 5.0
JOBS = 12
RATE = "256kbit"  # of a slow link

pytestmark = pytest.mark.skipif(
    bool(missing_programs()) or os.geteuid() != 0,
    reason="only root can make network namespaces, and sshd is needed; ./run cluster-test does it",
)


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[list[SshNode]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(SshNode(tmp_path / f"node{number}", number)) for number in range(2)
        ]


def pools(folder: Path, binary: str, nodes: list[SshNode]) -> Path:
    """Makes one pool with a worker on each node. A script chooses the node, as an engine would."""
    log = folder / "worker.log"
    script = folder / "next_node"
    lines = ["#!/bin/sh", "# Runs a worker on the first node that has none and answers."]
    for number, node in enumerate(nodes):
        lines += [
            f"exec 9>{folder}/lock{number}",
            f"if flock --nonblock 9 && {node.ssh} true </dev/null; then",
            f"  exec {node.ssh} {binary} worker --device fake --log-file {log}",
            "fi",
        ]
    script.write_text("\n".join([*lines, "echo no node answers >&2", "exit 1", ""]))
    script.chmod(0o755)
    path = folder / "workers.toml"
    path.write_text(
        f'[[pool]]\nname = "ssh"\ncommand = {json.dumps(str(script))}\ndevice = "fake"\n'
        f"least = {len(nodes)}\nmost = {len(nodes)}\nstart_s = 30\nquarantine_s = 1\n"
    )
    return path


def judged(server: Server, prefix: str) -> list[dict[str, object]]:
    with ThreadPoolExecutor(JOBS) as threads:
        names = [f"{prefix}-{number}" for number in range(JOBS)]
        return list(threads.map(lambda name: run_tests(server, name), names))


def ready(server: Server) -> int:
    page = server.request("GET", "/metrics")[2]
    wanted = [f'assay_workers{{pool="ssh",state="{state}"}} ' for state in ("idle", "busy")]
    lines = page.splitlines()
    return sum(int(line.split()[-1]) for line in lines if line.startswith(tuple(wanted)))


def test_a_cut_link_costs_no_verdict(nodes: list[SshNode], binary: str, tmp_path: Path) -> None:
    file = pools(tmp_path, binary, nodes)
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        wait_until(lambda: ready(server) == len(nodes))
        with ThreadPoolExecutor(1) as threads:
            answers = threads.submit(judged, server, "cut")
            wait_until(lambda: unfinished(tmp_path / "assay.db") > 0)
            begin = time.monotonic()
            nodes[0].cut()
            wait_until(lambda: losses(server, "ssh") == 1)
            assert time.monotonic() - begin < NOTICED_S
            assert {one["outcome"] for one in answers.result()} == {"pass"}
        nodes[0].mend()
        wait_until(lambda: ready(server) == len(nodes))
        assert {one["outcome"] for one in judged(server, "mended")} == {"pass"}
    assert outcomes(tmp_path / "assay.db") == Counter({"pass none": 2 * JOBS})
    # The worker behind the cut ended with its connection.
    wait_until(lambda: worker_pids(tmp_path) == [])


def test_a_slow_link_delays_verdicts_and_loses_none(
    nodes: list[SshNode], binary: str, tmp_path: Path
) -> None:
    file = pools(tmp_path, binary, nodes)
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        wait_until(lambda: ready(server) == len(nodes))
        for node in nodes:
            node.limit(RATE)
        assert {one["outcome"] for one in judged(server, "slow")} == {"pass"}
        assert losses(server, "ssh") == 0
    assert outcomes(tmp_path / "assay.db") == Counter({"pass none": JOBS})
