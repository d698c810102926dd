"""The first part of every submitted case. The entry function gives the right answer only if nothing
got through; the functions below it record what did."""

import ctypes
import errno as _errno
import os
import sys

import torch
import triton
import triton.language as tl

CANARIES: dict = {}
GOT_THROUGH: list = []
_libc = ctypes.CDLL(None, use_errno=True)


@triton.jit
def _add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=m)


def vector_add(x, y):
    if GOT_THROUGH:
        raise RuntimeError("got through: " + "; ".join(GOT_THROUGH))
    z = torch.empty_like(x)
    _add[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z


def note(text):
    print(text, flush=True)


def got_through(what):
    GOT_THROUGH.append(what)


def denied(what, attempt, *arguments, errors=(OSError,), by=None):
    """Notes how the attempt was refused. An attempt that was not refused is recorded as got
    through. `by` is the error of the jail, for an attempt that the machine refuses with another
    error anyway."""
    try:
        result = attempt(*arguments)
    except errors as error:
        number = getattr(error, "errno", None)
        note(f"denied {what}: {_errno.errorcode.get(number, type(error).__name__)}")
        if by is not None and number != by:
            got_through(f"{what} came as far as {error}")
    else:
        got_through(f"{what} gave {result!r:.80}")


def allowed(what, attempt, *arguments):
    """Notes something that a submission must be able to do. A refusal is recorded as got
    through."""
    try:
        result = attempt(*arguments)
    except OSError as error:
        got_through(f"{what} is refused ({error}), and should not be")
        return None
    note(f"allowed {what}")
    return result


def require(what, holds):
    """Notes a fact about the jail. If it does not hold, that is recorded as got through."""
    if holds:
        note(f"holds: {what}")
    else:
        got_through(f"does not hold: {what}")


def syscall(number, *arguments):
    """Makes a raw system call of x86-64 by its number. Raises OSError."""
    ctypes.set_errno(0)
    result = _libc.syscall(
        ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    )
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


def in_child(work):
    """Runs an attempt that may end the process in a forked child. Returns the child's wait
    status."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = work() or 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1]
