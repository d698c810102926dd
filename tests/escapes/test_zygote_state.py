"""Checks the isolation layers of the zygote from outside. No case can test these layers, because
further layers protect each candidate."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from case_file import Case
from escape_server import ROOT
from stdio_client import StdioClient
from test_supervisor_death import DEATH_S, START_S, descendants

pytestmark = pytest.mark.short

LEFT_OPEN = "/etc/hostname"  # descriptor 9 of the server, left open by the process that starts it
NAMESPACES = {
    "network_namespace": "net",
    "ipc_namespace": "ipc",
    "uts_namespace": "uts",
    "mount_namespace": "mnt",
    "zygote_pid_namespace": "pid",
    "user_namespace": "user",
}
MOST_PROCESSES = 40  # the zygote's pid namespace always has fewer processes, and the host has more


@pytest.fixture
def server(binary: str, control_cases: tuple[Case, Case]) -> Iterator[StdioClient]:
    """Starts a server and runs one job, so that the zygote has started."""
    folder = Path(tempfile.mkdtemp(prefix="escapes-", dir=ROOT / "build"))
    command = [binary, "serve", "--stdio", "--device", "cpu", "--store", str(folder / "assay.db")]
    without = os.environ.get("ASSAY_WITHOUT", "")
    command += ["--without", without] if without else []
    leaky = ["sh", "-c", f'exec 9<{LEFT_OPEN}; exec "$@"', "sh", *command]
    client = StdioClient(leaky, env={**os.environ, "ASSAY_STATE_DIR": str(folder / "state")})
    client.call("run_tests", {"operator": "vector_add", "code": control_cases[0].source({})})
    yield client
    client.process.kill()
    client.process.wait()
    shutil.rmtree(folder)


def words_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except FileNotFoundError:  # the process has just ended
        return []


def stat_of(pid: int, field: int) -> int:
    """Returns a number from /proc/PID/stat. Field 0 is the state, field 1 is the parent's process
    id."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[field])


def zygote_of(server: StdioClient) -> int:
    """Returns the process id of the zygote. The zygote's children have the same command line, but
    only the zygote is a child of the jail."""
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        for pid in descendants(server.process.pid):
            words = words_of(pid)
            if (
                b"zygote" in words
                and words[0].endswith(b"python")
                and words_of(stat_of(pid, 1))[0].endswith(b"assay-jail")
            ):
                return pid
        time.sleep(0.1)
    raise AssertionError("there is no zygote")


@pytest.mark.skipif(
    os.geteuid() != 0, reason="an ordinary user cannot look into the namespaces of others"
)
def test_the_fork_server_shares_nothing_of_the_machine(server: StdioClient) -> None:
    zygote, own = zygote_of(server), server.process.pid
    shared = [
        layer
        for layer, kind in NAMESPACES.items()
        if os.readlink(f"/proc/{zygote}/ns/{kind}") == os.readlink(f"/proc/{own}/ns/{kind}")
    ]
    assert shared == []
    assert stat_of(zygote, 3) == zygote, "it can reach the terminal of the server"
    held = [os.readlink(entry.path) for entry in os.scandir(f"/proc/{zygote}/fd")]
    assert LEFT_OPEN not in held, "it has a descriptor that the server inherited"
    seen = [name for name in os.listdir(f"/proc/{zygote}/root/proc") if name.isdigit()]
    assert 0 < len(seen) < MOST_PROCESSES, "its /proc is not that of its own process namespace"


def test_a_fork_server_that_is_stopped_dies_with_its_supervisor(server: StdioClient) -> None:
    family = descendants(server.process.pid)
    os.kill(zygote_of(server), signal.SIGSTOP)  # so the zygote cannot see that its socket closes
    server.process.kill()
    server.process.wait()
    end = time.monotonic() + DEATH_S
    try:
        while alive := [pid for pid in family if os.path.exists(f"/proc/{pid}")]:
            assert time.monotonic() < end, f"processes outlive their supervisor: {alive}"
            time.sleep(0.05)
    finally:
        for pid in alive:
            os.kill(pid, signal.SIGKILL)
