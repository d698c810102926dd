"""Kills workers at random while they run jobs."""

from __future__ import annotations

import os
import random
import signal
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from http_serving import serving, wait_until
from test_workers import pool, run_tests, slow, total, worker_pids, workers


def test_no_verdict_is_lost_while_workers_are_killed(binary: str, tmp_path: Path) -> None:
    """Sends jobs from several threads while another thread kills workers at random. A job may lose
    two workers and is aborted if it loses a third one. So the next kill waits until the jobs that
    ran at the last one have their verdicts, however slow the machine is."""
    file = pool(tmp_path, f"{binary} worker --device fake", least=3, most=3)
    chance = random.Random(7)
    over = threading.Event()
    changed = threading.Condition()
    sent: set[int] = set()
    judged: set[int] = set()
    with (
        serving(binary, tmp_path, "--workers", str(file), device="") as server,
        ThreadPoolExecutor(6) as threads,
    ):

        def judge(number: int) -> dict[str, Any]:
            with changed:
                sent.add(number)
            answer = run_tests(server, slow(100, number))
            with changed:
                judged.add(number)
                changed.notify_all()
            return answer

        def kill_workers() -> None:
            while not over.is_set():
                wait_until(lambda: over.is_set() or workers(server, "busy") > 0)
                with changed:
                    if pids := worker_pids(server):
                        os.kill(chance.choice(pids), signal.SIGKILL)
                    waiting = sent - judged
                    changed.wait_for(lambda w=waiting: w <= judged or over.is_set())

        killer = threading.Thread(target=kill_workers)
        killer.start()
        try:
            answers = list(threads.map(judge, range(60)))
        finally:
            with changed:
                over.set()
                changed.notify_all()
            killer.join()
        jobs = {answer["job"] for answer in answers}
        assert len(jobs) == 60
        assert {answer["outcome"] for answer in answers} == {"pass"}
        assert total(server, "losses") > 0
