"""The first part of every submission of the escape suite; the case is the second part. The case
calls the functions below, which record each attempt that succeeded ("got through"). The entry
function returns the correct answer only if no attempt succeeded."""

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


def has_own_user():
    """Returns whether a candidate has its own user id (the layer slot_user). If an ordinary user
    started the server, the server can map only one id, so all its processes have the same id."""
    return open("/proc/self/uid_map").read().split()[2] != "1"


def has_no_values(tensor):
    """Returns whether this process only compiles the kernels. It then has no tensors of a case."""
    return type(tensor).__name__ == "FakeTensor"


def note(text):
    print(text, flush=True)


def got_through(what):
    GOT_THROUGH.append(what)


def denied(what, attempt, *arguments, errors=(OSError,), by=None):
    """Makes an attempt that must be refused, and prints the error. If the attempt was not refused,
    records that it got through. Some attempts are refused even without a jail, but with another
    error number. For such an attempt, `by` is the error number that the jail gives."""
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
    """Does something that a submission must be able to do. If it is refused, the case fails."""
    try:
        result = attempt(*arguments)
    except OSError as error:
        got_through(f"{what} is refused ({error}), and should not be")
        return None
    note(f"allowed {what}")
    return result


def require(what, holds):
    """Checks a fact about the jail. If the fact does not hold, the case fails."""
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
    """Runs an attempt in a forked child, because the attempt may end its process. Returns the
    child's wait status."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = work() or 0
        finally:
            os._exit(status)
    return os.waitpid(pid, 0)[1]
