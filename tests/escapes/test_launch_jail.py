"""Tests the launcher's jail. No submitted host code runs in a launcher, but the GPU driver inside
the launcher parses submitted device images. A hostile image could take over the driver's code. The
fake driver therefore makes the system calls that such code could make.

Only a mutation build, which can leave out isolation layers, has this fake driver.
ASSAY_MUTATION_BIN is the path of the server in that build. `./run escapes` builds it."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Results
from launcher import Launcher, Room
from test_escapes import has_landlock
from watch import FIRST_SLOT_UID

pytestmark = pytest.mark.launcher

# Numbers of system calls on x86-64.
OPENAT, SOCKET, SENDTO, SHMGET, UNAME, PRLIMIT, PREAD, PRCTL, KEYCTL, GETSID, READLINK = (
    257,
    41,
    44,
    29,
    63,
    302,
    17,
    157,
    250,
    124,
    89,
)
GETPID = 39
AT_FDCWD, RLIMIT_FSIZE, RLIMIT_CORE = -100, 1, 4
PR_GET_DUMPABLE, PR_GET_NO_NEW_PRIVS, PR_CAPBSET_READ, CAP_SYS_ADMIN = 3, 39, 23, 21
KEYCTL_GET_KEYRING_ID, THREAD_KEYRING = 0, -1
IPC_CREAT, IPC_PRIVATE_KEY = 0o1000, 0x41535359
MOST_FILE_BYTES = 1 << 30  # sandbox/jail/launch_jail.h
DEATH_S = 60.0
LAYERS = [
    "launch_descriptors",
    "launch_session",
    "launch_user_namespace",
    "launch_network_namespace",
    "launch_ipc_namespace",
    "launch_uts_namespace",
    "launch_mount_namespace",
    "launch_root_filesystem",
    "launch_limits",
    "launch_capability_bounds",
    "launch_user",
    "launch_capabilities",
    "launch_no_dumps",
    "launch_parent_death",
    "launch_no_new_privileges",
    "launch_landlock",
    "launch_seccomp",
]


def folder() -> Path:
    path = (
        os.environ.get("ASSAY_BIN")
        if os.environ.get("ASSAY_WITHOUT")
        else os.environ.get("ASSAY_MUTATION_BIN")
    )
    if not path:
        pytest.skip(
            "ASSAY_MUTATION_BIN names no build with ASSAY_JAIL_MUTATIONS=ON; ./run escapes makes one"
        )
    return Path(path).parent


def without() -> str:
    return os.environ.get("ASSAY_WITHOUT", "")


@pytest.fixture(autouse=True)
def seen(request: pytest.FixtureRequest, results: Results) -> Iterator[None]:
    """Records the results of all tests of this file together, as one row of the page
    docs/reference/generated/escapes.md."""
    before = request.session.testsfailed
    yield
    row = results.setdefault("131_launcher_taken_over", {"seen": "refused", "problems": []})
    if request.session.testsfailed > before:
        row["problems"].append(request.node.name)


@pytest.fixture
def launcher() -> Iterator[Launcher]:
    with Launcher(folder(), without=without()) as started:
        started.ready()
        yield started


def status(launcher: Launcher) -> dict[str, str]:
    lines = Path(f"/proc/{launcher.process.pid}/status").read_text().splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def opened(launcher: Launcher, path: str, flags: int = os.O_RDONLY) -> int:
    return launcher.system_call(OPENAT, AT_FDCWD, path.encode() + b"\0", flags)[0]


def namespace(launcher: Launcher, kind: str) -> str:
    length, (name,) = launcher.system_call(
        READLINK, f"/proc/self/ns/{kind}".encode() + b"\0", Room(64), 64
    )
    assert length > 0, os.strerror(-length)
    return name[:length].decode()


def test_a_descriptor_that_it_inherited(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    with (
        open(secret) as leak,
        Launcher(folder(), leaked=[leak.fileno()], without=without()) as launcher,
    ):
        launcher.ready()
        assert launcher.system_call(PREAD, leak.fileno(), Room(8), 8, 0)[0] == -errno.EBADF


def test_the_supervisors_session(launcher: Launcher) -> None:
    assert launcher.system_call(GETSID, 0)[0] == launcher.process.pid


def test_a_port_of_the_host(launcher: Launcher) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.setblocking(False)
        address = (
            struct.pack("<H", socket.AF_INET)
            + struct.pack("!H", listener.getsockname()[1])
            + socket.inet_aton("127.0.0.1")
            + bytes(8)
        )
        channel, _ = launcher.system_call(SOCKET, socket.AF_INET, socket.SOCK_DGRAM, 0)
        if channel >= 0:
            launcher.system_call(SENDTO, channel, b"canary", 6, 0, address, len(address))
        with pytest.raises(BlockingIOError):
            listener.recv(16)


def test_shared_memory_of_the_host(launcher: Launcher) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    segment = libc.shmget(IPC_PRIVATE_KEY, 4096, IPC_CREAT | 0o666)
    assert segment >= 0, os.strerror(ctypes.get_errno())
    try:
        assert launcher.system_call(SHMGET, IPC_PRIVATE_KEY, 0, 0)[0] == -errno.ENOENT
    finally:
        libc.shmctl(segment, 0, None)  # IPC_RMID


def test_the_hosts_name(launcher: Launcher) -> None:
    result, (names,) = launcher.system_call(UNAME, Room(390))
    assert result == 0
    assert names[65:130].split(b"\0")[0].decode() != platform.node()


def test_files_of_the_host(launcher: Launcher) -> None:
    for path in ("/etc/passwd", __file__, "/root", "/dev/kmsg"):
        assert opened(launcher, path) == -errno.ENOENT, path


def test_namespaces_of_the_host(launcher: Launcher) -> None:
    for kind in ("user", "mnt"):
        assert namespace(launcher, kind) != os.readlink(f"/proc/self/ns/{kind}"), kind


def test_limits_of_the_host(launcher: Launcher) -> None:
    for resource, most in ((RLIMIT_FSIZE, MOST_FILE_BYTES), (RLIMIT_CORE, 0)):
        result, (limits,) = launcher.system_call(PRLIMIT, 0, resource, 0, Room(16))
        assert result == 0
        assert max(struct.unpack("<QQ", limits)) <= most


def test_capabilities_to_gain(launcher: Launcher) -> None:
    assert launcher.system_call(PRCTL, PR_CAPBSET_READ, CAP_SYS_ADMIN)[0] == 0
    assert launcher.system_call(PRCTL, PR_GET_NO_NEW_PRIVS)[0] == 1


def test_capabilities_that_it_holds(launcher: Launcher) -> None:
    """Checks that the launcher has no capabilities, even if it has not changed its user."""
    facts = status(launcher)
    assert int(facts["CapEff"], 16) == int(facts["CapPrm"], 16) == int(facts["CapInh"], 16) == 0


def test_its_memory_is_not_for_others_to_read(launcher: Launcher) -> None:
    """Checks that other processes of the launcher's user may neither dump nor trace the launcher.
    This must hold whether the user is root or not."""
    assert launcher.system_call(PRCTL, PR_GET_DUMPABLE)[0] == 0


@pytest.mark.skipif(
    os.geteuid() != 0, reason="without root one user id is mapped, and the launcher keeps it"
)
def test_the_supervisors_user(launcher: Launcher) -> None:
    assert all(int(uid) >= FIRST_SLOT_UID for uid in status(launcher)["Uid"].split())


def test_memory_and_files_of_its_own_in_proc(launcher: Launcher) -> None:
    """Checks that another process of the same user cannot open the launcher's memory and files in
    /proc."""
    assert os.stat(f"/proc/{launcher.process.pid}/mem").st_uid == 0


@pytest.mark.skipif(
    not has_landlock(), reason="this kernel has no Landlock, and nothing else stands against it"
)
def test_the_entropy_pool(launcher: Launcher) -> None:
    assert opened(launcher, "/dev/urandom") >= 0
    assert opened(launcher, "/dev/urandom", os.O_WRONLY) == -errno.EACCES


def test_system_calls_that_no_driver_makes(launcher: Launcher) -> None:
    assert launcher.system_call(KEYCTL, KEYCTL_GET_KEYRING_ID, THREAD_KEYRING, 1)[0] == -errno.EPERM


PARENT = """
import sys, time
sys.path[:0] = {path!r}
from pathlib import Path
from launcher import Launcher, kernel_plan
launcher = Launcher(Path({folder!r}), without={without!r})
launcher.ready()
launcher.send(kernel_plan("fake_endless").encode())
print(launcher.process.pid, flush=True)
time.sleep(1000)
"""


def test_outlives_its_supervisor_in_a_kernel_that_never_ends() -> None:
    """Checks that a busy launcher ends when its supervisor ends. A busy launcher does not see that
    its socket is closed."""
    program = PARENT.format(path=sys.path, folder=str(folder()), without=without())
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    time.sleep(0.5)  # the kernel runs meanwhile
    parent.kill()
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + DEATH_S
    try:
        while os.path.exists(f"/proc/{pid}") and time.monotonic() < end:
            time.sleep(0.02)
        assert not os.path.exists(f"/proc/{pid}"), "it outlived its supervisor"
    finally:
        if os.path.exists(f"/proc/{pid}"):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("layer", LAYERS)
def test_a_missing_layer_is_never_silent(layer: str) -> None:
    if without():
        pytest.skip("this is a mutation run")
    with Launcher(folder(), without=layer) as loose:
        missing = {entry["name"] for entry in loose.ready()["layers"] if not entry["active"]}
        assert layer in missing
    with Launcher(folder(), without=layer, options=["--isolation", "strict"]) as strict:
        assert strict.process.wait(DEATH_S) == 1
        assert f"strict isolation needs the layer {layer}" in strict.words()


def test_a_release_build_leaves_nothing_out_and_makes_no_system_call(binary: str) -> None:
    if without():
        pytest.skip("this is a mutation run")
    with Launcher(Path(binary).parent, without="launch_seccomp") as launcher:
        assert launcher.process.wait(DEATH_S) == 2
        assert "argument '--without' is unknown" in launcher.words()
    with Launcher(Path(binary).parent) as launcher:
        launcher.ready()
        assert (
            launcher.system_call(GETPID)[0] != launcher.process.pid
        )  # the fake driver does not know this kernel, so the launcher writes nothing
