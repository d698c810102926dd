"""Makes system calls of running processes fail on command. strace does the work, so the processes
need no library of ours, and the processes in the sandbox can be struck too.

    trace = Trace([zygote_pid], "clone", errno.EAGAIN, skip=0, times=1)
    ...
    assert trace.stop() == 1  # the number of calls that failed"""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence

ATTACH_S = 120.0  # strace stops each thread of a process for a moment


class Trace:
    """From the constructor's return until stop(), `skip` calls of each process succeed, and the
    next `times` calls fail."""

    def __init__(
        self, pids: Sequence[int], call: str, error: int, skip: int = 0, times: int = 1
    ) -> None:
        self.output = tempfile.NamedTemporaryFile(prefix="assay-strace-")  # noqa: SIM115
        which = f"{skip + 1}" if times == 1 else f"{skip + 1}..{skip + times}"
        command = [
            "strace", "-o", self.output.name, "-e", f"trace={call}",
            "-e", f"inject={call}:error={errno.errorcode[error]}:when={which}",
        ]  # fmt: skip
        for pid in pids:
            command += ["-p", str(pid)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self._wait(len(pids))

    def stop(self) -> int:
        """Lets all calls succeed again. Returns how many have failed."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=ATTACH_S)
        lines = self.output.file.read().decode(errors="replace")
        self.output.close()
        return len(re.findall(r"\(INJECTED\)", lines))

    def _wait(self, count: int) -> None:
        """Waits until strace has attached itself to the processes. A process that ended before
        counts too."""
        timer = threading.Timer(ATTACH_S, self.process.kill)
        timer.start()
        assert self.process.stderr is not None
        seen: list[str] = []
        while sum("attach" in line for line in seen) < count:
            line = self.process.stderr.readline()
            if not line:
                timer.cancel()
                raise RuntimeError(f"strace did not attach itself: {''.join(seen)}")
            seen.append(line)
        timer.cancel()


def can_trace() -> bool:
    """Returns whether strace is installed and may trace a process of another user namespace."""
    if os.geteuid() != 0:
        return False
    try:
        done = subprocess.run(["strace", "-qq", "-e", "trace=none", "true"], capture_output=True)
    except FileNotFoundError:
        return False
    return done.returncode == 0
