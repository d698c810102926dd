"""The zygote: imports torch and Triton once, then forks candidates that start in milliseconds.

The zygote runs no submission, creates no tensor and opens no GPU or other device. Before it sends
`ready`, it checks that it has nothing open that a forked child must not inherit. After `ready`,
usually while no request waits, it prepares what only some submissions need. A child that is forked
before such a preparation does without it, or imports the module itself.

A child is process 1 of a new pid namespace if the jail has pid namespaces. The child enters the job
jail, waits for one job, serves the job, and ends by `os._exit`. The zygote reads these environment
variables:

    ASSAY_NATIVE_DIR        the folder of `_native` and of the fake CUDA guard. If it is unset (in
                            tests), there is no job jail, and `layers` reports that
    ASSAY_TEMPLATE_LAYERS   a JSON list of the isolation layers of the zygote's jail, for `ready`
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import linecache
import os
import random
import re
import select
import signal
import socket
import stat
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, TextIO

import numpy
import torch
import torch._subclasses.schema_check_mode  # torch's dispatch modes import it when they are used
from torch._subclasses import fake_tensor

from harness import triton_adapter
from harness.candidate import candidate, huge_pages
from harness.cuda_cpp import nvrtc
from harness.entry import fake_cuda
from harness.wire.frames import Channel, Frame, FrameError

# numpy itself would load it, in 6 ms, when a child seeds it. It comes after torch, whose errors tell
# more if packages are missing.
importlib.import_module("numpy.random")


def _import(name: str) -> None:
    with contextlib.suppress(ImportError):  # this torch or Triton lacks the module
        importlib.import_module(name)


# What the zygote prepares after `ready`. torch needs torch.distributed.tensor for views and for the
# modules of torch.nn. The last step is for the memory of all steps before it.
PREPARED_WHEN_IDLE: tuple[Callable[[], None], ...] = (
    partial(_import, "torch.distributed.tensor"),
    triton_adapter.split_libdevice,
    huge_pages.collapse,
)
# The zygote does one of these steps when it has received nothing for IDLE_MS. If requests keep
# coming, it waits at most LATEST_PREPARATION_S after `ready`, and does a step before it answers the
# next request. A request that comes during a step is answered after the step.
IDLE_MS = 300
LATEST_PREPARATION_S = 5.0
Layers = list[dict[str, Any]]
# Serves one job on the job's channel, and returns the exit status of the child.
ServeChild = Callable[[Channel, Layers], int]
CHILD_DEFECT = 3
STDIN, STDOUT, STDERR = 0, 1, 2
VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES"


class UncleanZygote(Exception):
    """The zygote has something open that a forked child must not inherit."""


def serve(control_fd: int, serve_child: ServeChild = candidate.serve) -> None:
    """Runs until the supervisor closes the control socket. May then raise a ConnectionError. Each
    child runs `serve_child`. An import of golden files passes another function than the default."""
    Zygote(Channel.from_fd(control_fd), serve_child).run()


def _native() -> Any:
    folder = os.environ.get("ASSAY_NATIVE_DIR")
    if not folder:
        return None
    sys.path.append(folder)
    try:
        import _native
    except ImportError as error:
        raise UncleanZygote(
            f"ASSAY_NATIVE_DIR is {folder}, but _native cannot be imported from it: {error}"
        ) from error
    finally:
        sys.path.remove(folder)
    return _native


def _warm_torch() -> None:
    """Does what torch would do in every candidate: it asks for the machine's processors, and a
    FakeTensorMode reads the source of each file in its stack. If a file of /sys cannot be read, the
    first tensor operation of a process hangs, so this belongs to the zygote's start."""
    torch.backends.cpu.get_cpu_capability()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "harness" or module is fake_tensor:
            linecache.getlines(str(module.__file__))


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


def open_devices() -> list[str]:
    """Returns the paths of the GPU device files that this process has open."""
    found = []
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            path = os.readlink(f"/proc/self/fd/{fd}")
            if path.startswith(("/dev/nvidia", "/dev/kfd", "/dev/dri")):
                found.append(path)
    return found


def count_visible_gpus(dev: str = "/dev") -> None:
    """Sets CUDA_VISIBLE_DEVICES to 0 if the jail shows the device file of only one GPU. In such a
    jail this GPU has the number 0, whatever its number is outside of the jail."""
    nodes = [name for name in os.listdir(dev) if re.fullmatch(r"nvidia\d+", name)]
    if os.environ.get(VISIBLE_DEVICES) and len(nodes) == 1:
        os.environ[VISIBLE_DEVICES] = "0"


def unknown_descriptors(known: set[int]) -> list[str]:
    """Describes the open descriptors, except the three standard streams and the descriptors in
    `known`."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        fd = int(name)
        with contextlib.suppress(OSError):
            mode = os.fstat(fd).st_mode
            if fd not in known and fd > STDERR:
                found.append(
                    f"{fd} ({os.readlink(f'/proc/self/fd/{fd}')}, mode {stat.filemode(mode)})"
                )
    return found


class Zygote:
    """The fork server. It is single-threaded, and `run` is its main loop."""

    def __init__(self, channel: Channel, serve_child: ServeChild = candidate.serve) -> None:
        self._channel = channel
        self.serve_child = serve_child
        self._native = _native()
        self._children: dict[int, tuple[int, int]] = {}  # pidfd: (slot, pid)
        count_visible_gpus()
        torch.set_num_threads(1)
        triton_adapter.warm()
        _warm_torch()
        fake_cuda.preload_guard()
        self._nvrtc = nvrtc.preload()
        self._check_clean()
        gc.freeze()

    def run(self) -> None:
        layers = json.loads(os.environ.get("ASSAY_TEMPLATE_LAYERS") or "[]")
        self._channel.send(
            {
                "type": "ready",
                **triton_adapter.versions(),
                "uncompiled": triton_adapter.uncompiled_packages(),
                "nvrtc": self._nvrtc,
                "layers": layers,
                "threads": threads(),
            }
        )
        poll = select.poll()
        poll.register(self._channel.fileno(), select.POLLIN)
        later = list(PREPARED_WHEN_IDLE)
        latest_s = time.monotonic() + LATEST_PREPARATION_S
        while True:
            events = poll.poll(IDLE_MS if later else None)
            if later and (not events or time.monotonic() > latest_s):
                self._prepare(later.pop(0))
            for fd, _ in events:
                if fd in self._children:
                    poll.unregister(fd)
                    self._reap(fd)
                    continue
                frame = self._channel.receive()
                if frame is None:
                    return
                pidfd = self._fork(frame)
                poll.register(pidfd, select.POLLIN)

    def _prepare(self, step: Callable[[], None]) -> None:
        """Does a step for all children that are forked from now on."""
        before = threads()
        gc.disable()
        step()
        gc.freeze()
        gc.enable()
        self._check_clean()
        if threads() > before:
            raise UncleanZygote("a preparation has started a thread")

    def _check_clean(self) -> None:
        if devices := open_devices():
            raise UncleanZygote(f"a GPU device is open before a fork: {', '.join(devices)}")
        if torch.cuda.is_initialized():
            raise UncleanZygote("torch has initialised CUDA before a fork")
        if unknown := unknown_descriptors({self._channel.fileno(), *self._children}):
            raise UncleanZygote(f"unknown descriptors are open before a fork: {', '.join(unknown)}")

    def _fork(self, frame: Frame) -> int:
        """Forks one candidate and sends the answer `forked`. Returns the candidate's pidfd."""
        if (
            frame.type != "fork"
            or not isinstance(frame.header.get("slot"), int)
            or len(frame.fds) != 3
        ):
            raise FrameError(
                "want `fork` with a slot and three descriptors: job socket, stdout, stderr"
            )
        slot = int(frame.header["slot"])
        try:
            if self._native is None:
                raise RuntimeError("there is no native module: ASSAY_NATIVE_DIR is not set")
            self._native.unshare_pid()
            layers: Layers = [{"name": "pid_namespace", "active": True, "detail": ""}]
        except RuntimeError as error:
            layers = [{"name": "pid_namespace", "active": False, "detail": str(error)}]
        pid = os.fork()
        if pid == 0:
            _child(self, frame, slot, layers)
        if layers[0]["active"]:
            self._native.rejoin_pid()
        pidfd = os.pidfd_open(pid)
        self._children[pidfd] = (slot, pid)
        frame.close()
        self._channel.send({"type": "forked", "slot": slot, "pid": pid}, fds=[pidfd])
        return pidfd

    def _reap(self, pidfd: int) -> None:
        slot, _ = self._children.pop(pidfd)
        result = os.waitid(os.P_PIDFD, pidfd, os.WEXITED)
        os.close(pidfd)
        if result is None:
            raise UncleanZygote(f"the child of slot {slot} ended without a status")
        how = {os.CLD_EXITED: "exited", os.CLD_KILLED: "killed", os.CLD_DUMPED: "dumped"}[
            result.si_code
        ]
        self._channel.send({"type": "exited", "slot": slot, "how": how, "value": result.si_status})

    def enter_jail(self, jail: dict[str, Any], job_fd: int) -> Layers:
        """Runs in the child: enters the job jail that the `fork` message describes. Returns the
        isolation layers, and for each whether it is active."""
        if self._native is None:
            return [{"name": "job_jail", "active": False, "detail": "ASSAY_NATIVE_DIR is not set"}]
        return list(self._native.enter_job_jail({**jail, "job_fd": job_fd}))

    def forget(self) -> None:
        """Runs in the child: closes the zygote's own descriptors."""
        self._channel.close()
        for pidfd in self._children:
            os.close(pidfd)
        self._children = {}


def _child(zygote: Zygote, frame: Frame, slot: int, layers: Layers) -> None:
    """Runs the forked child. Never returns."""
    status = CHILD_DEFECT
    try:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        job, out, err = frame.fds
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, STDIN)
        os.dup2(out, STDOUT)
        os.dup2(err, STDERR)
        for fd in (null, out, err):
            if fd > STDERR:
                os.close(fd)
        zygote.forget()
        sys.stdout, sys.stderr = _stream(STDOUT), _stream(STDERR)
        _reseed()
        layers = layers + zygote.enter_jail({"slot": slot, **frame.header.get("jail", {})}, job)
        status = zygote.serve_child(Channel(socket.socket(fileno=job)), layers)
    except BaseException:
        with contextlib.suppress(BaseException):
            traceback.print_exc()
    finally:
        os._exit(status)


def _stream(fd: int) -> TextIO:
    """Opens a line-buffered stream, so that the last output of a killed submission is not lost."""
    return os.fdopen(
        fd, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False
    )


def _reseed() -> None:
    seed = int.from_bytes(os.urandom(4), "little")
    random.seed(seed)
    numpy.random.seed(seed)
    torch.random.default_generator.manual_seed(seed)  # torch.manual_seed would also call CUDA
    # The module tempfile seeds its names again if the process id has changed. But the zygote is
    # process 1 of its pid namespace, and so is each child of its own.
    tempfile._name_sequence = None  # type: ignore[attr-defined]
