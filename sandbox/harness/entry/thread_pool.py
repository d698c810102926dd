"""Makes PyTorch's pool of threads usable after a fork.

    if os.fork() == 0:
        renew_thread_pool()

After a fork, PyTorch makes its pool anew when it is used for the first time. If two threads use it
at the same time, such as those of autograd, one may find no pool, and then PyTorch ends the process
("Invalid thread pool!"). So a forked process uses the pool once before it has other threads."""

from __future__ import annotations

import torch

THREADS = 1  # more would wait for each other, because several processes compute at the same time


def renew_thread_pool() -> None:
    torch.set_num_threads(THREADS)
