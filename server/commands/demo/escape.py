# Tries to reach the network and the files of the user. If it reaches anything, it raises an
# exception, so it passes only if the sandbox denied all of it.
import os
import socket
from pathlib import Path

import torch
import triton
import triton.language as tl


def reached() -> list[str]:
    found = []
    for address in (("127.0.0.1", 22), ("192.0.2.1", 443)):
        try:
            socket.create_connection(address, timeout=0.2).close()
            found.append(f"the network, at {address[0]}")
        except ConnectionRefusedError:
            found.append(f"the network, at {address[0]}")  # a machine answered
        except OSError:
            pass
    paths = ["/root/.ssh", "/home", "/etc/shadow"]
    if os.getpid() != 1:  # in a jail of its own, this process may read about itself
        paths.append("/proc/1/environ")
    for path in paths:
        try:
            if any(Path(path).iterdir()) if os.path.isdir(path) else Path(path).read_bytes():
                found.append(path)
        except OSError:
            pass
    return found


if escaped := reached():
    raise RuntimeError("reached " + ", ".join(escaped))


@triton.jit
def add_kernel(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside)
    tl.store(z_ptr + at, total, mask=inside)


def vector_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, z, x.numel(), BLOCK=1024)
    return z
