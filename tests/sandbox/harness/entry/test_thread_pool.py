"""Tests that threads of a forked process can use PyTorch at once."""

from __future__ import annotations

import os
import threading

import torch
from harness.entry.thread_pool import renew_thread_pool

FORKS, THREADS, ELEMENTS = 10, 8, 1 << 17  # so many elements use the pool


def test_threads_of_a_forked_process_use_the_pool_at_once() -> None:
    torch.ones(ELEMENTS).add_(1)
    for _ in range(FORKS):
        pid = os.fork()
        if pid == 0:
            renew_thread_pool()
            together = threading.Barrier(THREADS)
            values = [torch.ones(ELEMENTS) for _ in range(THREADS)]

            def add(value: torch.Tensor, together: threading.Barrier = together) -> None:
                together.wait()
                value.add_(1)

            threads = [threading.Thread(target=add, args=(value,)) for value in values]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            right = all(bool((value == 2).all()) for value in values)
            os._exit(0 if right and torch.get_num_threads() == 1 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
