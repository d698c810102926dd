"""Makes a machine that can be reached only over ssh, as a network namespace of this machine with an
sshd of its own. Its link can be cut and made slow.

    with SshNode(folder, 1) as node:
        command = f"{node.ssh} assay worker --device fake"
        node.cut()
        node.mend()
        node.limit("1mbit")

Debian's packages openssh-server, openssh-client and iproute2 are needed, and the user must be
root."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import time
from pathlib import Path

PROGRAMS = ("ip", "tc", "ssh", "sshd", "ssh-keygen")
WAIT_S = 120.0
CONFIGURATION = """\
ListenAddress {address}
HostKey {folder}/host
AuthorizedKeysFile {folder}/key.pub
PidFile {folder}/sshd.pid
StrictModes no
PermitRootLogin prohibit-password
UsePAM no
MaxStartups 100
ClientAliveInterval 2
ClientAliveCountMax 3
"""
BURST = "32kbit"  # the bytes that a slow link passes at once
LATENCY = "2s"  # the longest time that they wait


def path() -> str:
    return os.environ["PATH"] + ":/usr/sbin:/sbin"


def missing_programs() -> list[str]:
    return [name for name in PROGRAMS if shutil.which(name, path=path()) is None]


def run(*command: str) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PATH": path()}
    )
    assert done.returncode == 0, f"{shlex.join(command)}: {done.stderr}"


class SshNode:
    def __init__(self, folder: Path, number: int) -> None:
        self.folder = folder
        self.name = f"assay{os.getpid()}n{number}"
        self._link = f"as{os.getpid()}h{number}"[-15:]  # the kernel's limit for names
        self._far = f"as{os.getpid()}f{number}"[-15:]
        self._sshd: subprocess.Popen[bytes] | None = None
        # Networks of four addresses in the block for tests of network devices (RFC 2544).
        base = (os.getpid() % 8_192) * 8 + number * 4
        self._near_address = f"198.{18 + base // 65_536}.{base // 256 % 256}.{base % 256 + 1}"
        self.address = f"198.{18 + base // 65_536}.{base // 256 % 256}.{base % 256 + 2}"
        options = ["BatchMode=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null"]
        options += ["ServerAliveInterval=1", "ServerAliveCountMax=3", "ConnectTimeout=5"]
        words = ["ssh", "-q", "-i", str(folder / "key")]
        words += [word for option in options for word in ("-o", option)]
        self.ssh = shlex.join([*words, f"root@{self.address}"])

    def __enter__(self) -> SshNode:
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        return self

    def _start(self) -> None:
        self.folder.mkdir()
        for key in ("host", "key"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / key))
        Path("/run/sshd").mkdir(exist_ok=True)  # sshd changes its root to this empty folder
        run("ip", "netns", "add", self.name)
        run("ip", "link", "add", self._link, "type", "veth", "peer", "name", self._far)
        run("ip", "link", "set", self._far, "netns", self.name)
        run("ip", "address", "add", f"{self._near_address}/30", "dev", self._link)
        run("ip", "link", "set", self._link, "up")
        inside = ["ip", "-n", self.name]
        run(*inside, "address", "add", f"{self.address}/30", "dev", self._far)
        run(*inside, "link", "set", self._far, "up")
        run(*inside, "link", "set", "lo", "up")
        text = CONFIGURATION.format(address=self.address, folder=self.folder)
        (self.folder / "sshd_config").write_text(text)
        sshd = shutil.which("sshd", path=path())
        assert sshd
        with (self.folder / "sshd.log").open("wb") as log:
            words = ["ip", "netns", "exec", self.name, sshd, "-D", "-e"]
            self._sshd = subprocess.Popen(
                [*words, "-f", str(self.folder / "sshd_config")],
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "PATH": path()},
            )
        deadline = time.monotonic() + WAIT_S
        while subprocess.run(f"{self.ssh} true", shell=True, capture_output=True).returncode:
            said = (self.folder / "sshd.log").read_text()
            assert time.monotonic() < deadline, f"sshd does not answer: {said}"
            time.sleep(0.2)

    def __exit__(self, *_: object) -> None:
        assert not self._end()

    def _end(self) -> list[str]:
        """Ends and removes what exists. Returns the errors of what could not be removed."""
        if self._sshd is not None:
            self._sshd.terminate()
            self._sshd.wait()
        listed = subprocess.run(
            ["ip", "netns", "pids", self.name],
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": path()},
        )
        for pid in listed.stdout.split():
            subprocess.run(["kill", "-KILL", pid], capture_output=True)
        removals = (("link", "delete", self._link), ("netns", "delete", self.name))
        done = [
            subprocess.run(
                ["ip", *words],
                capture_output=True,
                text=True,
                env={**os.environ, "PATH": path()},
            )
            for words in removals
        ]
        return [one.stderr for one in done if one.returncode != 0]

    def cut(self) -> None:
        run("ip", "link", "set", self._link, "down")

    def mend(self) -> None:
        run("ip", "link", "set", self._link, "up")

    def limit(self, rate: str) -> None:
        """Limits the link to a rate, in both directions."""
        shape = ["root", "tbf", "rate", rate, "burst", BURST, "latency", LATENCY]
        run("tc", "qdisc", "replace", "dev", self._link, *shape)
        run("tc", "-n", self.name, "qdisc", "replace", "dev", self._far, *shape)
