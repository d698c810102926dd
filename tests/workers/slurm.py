"""Runs a Slurm cluster on this machine, with a munged, a slurmctld and several slurmd of its own.

    with Slurm(folder, nodes=3) as slurm:
        slurm.run("sinfo")
        slurm.environment  # with these variables, srun uses this cluster

Debian's packages slurmctld, slurmd, slurm-client and munge are needed, and the user must be root,
because a slurmd starts jobs for other users. systemd is not needed."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "scancel", "scontrol", "squeue")
WAIT_S = 120.0
CONFIGURATION = """\
ClusterName=assay
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmctldTimeout=30
SlurmdTimeout=10
InactiveLimit=30
KillWait=2
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MailProg=/bin/true
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
"""


def missing_programs() -> list[str]:
    path = os.environ["PATH"] + ":/usr/sbin"
    return [name for name in PROGRAMS if shutil.which(name, path=path) is None]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Slurm:
    def __init__(self, folder: Path, nodes: int, slots: int = 2) -> None:
        """Each node has `slots` processors for Slurm, whatever the machine has."""
        self.folder = folder
        self.nodes = [f"node{i}" for i in range(1, nodes + 1)]
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        host = socket.gethostname().split(".")[0]
        text = CONFIGURATION.format(host=host, port=free_port(), folder=folder)
        for node in self.nodes:
            text += (
                f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={free_port()} "
                f"CPUs={slots} RealMemory=4096 State=UNKNOWN\n"
            )
        text += "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=1\n"
        text += "PartitionName=urgent Nodes=ALL MaxTime=INFINITE PriorityTier=2\n"
        (folder / "slurm.conf").write_text(text)
        self.environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
        self.environment["PATH"] += ":/usr/sbin"

    def __enter__(self) -> Slurm:
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        (self.folder / "state").mkdir()
        options = [f"--key-file={key}", f"--socket={self.folder}/munge.socket"]
        options += [f"--log-file={self.folder}/munged.log", f"--pid-file={self.folder}/munged.pid"]
        options += [f"--seed-file={self.folder}/munged.seed"]
        self.start("munged", ["munged", "--foreground", "--force", *options])
        self.wait_until(lambda: (self.folder / "munge.socket").exists(), "munged does not start")
        self.start_controller()
        for node in self.nodes:
            self.start_node(node)
        self.wait_until(
            lambda: self.states() == dict.fromkeys(self.nodes, "idle"),
            "the nodes do not become idle",
        )
        return self

    def __exit__(self, *_: object) -> None:
        left = self.end_steps()
        for name in reversed(self.processes):
            self.processes[name].send_signal(signal.SIGTERM)
        for process in self.processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in self.step_daemons():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert not left, f"the steps' daemons {left} did not end\n{self.logs()}"

    def end_steps(self) -> list[int]:
        """Ends all jobs, and returns the daemons of steps that did not end. A slurmstepd needs the
        controller and munged for its end: without them it tries to report it for ever."""
        deadline = time.monotonic() + WAIT_S
        while (left := self.step_daemons()) and time.monotonic() < deadline:
            with contextlib.suppress(subprocess.TimeoutExpired):  # the controller may hang
                self.run("scancel", "--user=root", timeout_s=5.0)
            time.sleep(0.2)
        return left

    def step_daemons(self) -> list[int]:
        """Returns the slurmstepd processes of this cluster."""
        mine = f"SLURM_CONF={self.folder / 'slurm.conf'}".encode()
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has just ended
                if (process / "comm").read_text().startswith("slurmstepd") and mine in (
                    process / "environ"
                ).read_bytes().split(b"\0"):
                    found.append(int(process.name))
        return found

    def start(self, name: str, command: list[str]) -> None:
        with (self.folder / f"{name}.out").open("ab") as out:
            self.processes[name] = subprocess.Popen(
                command, env=self.environment, stdout=out, stderr=out, stdin=subprocess.DEVNULL
            )

    def start_controller(self) -> None:
        self.start("slurmctld", ["slurmctld", "-D"])

    def start_node(self, node: str) -> None:
        self.start(node, ["slurmd", "-D", "-N", node])

    def kill(self, name: str) -> None:
        """Kills the controller or the slurmd of a node, without a chance to tidy up."""
        self.processes[name].kill()
        self.processes[name].wait()

    def run(self, *command: str, timeout_s: float | None = None) -> str:
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=timeout_s
        )
        return done.stdout

    def states(self) -> dict[str, str]:
        lines = self.run("sinfo", "--Node", "--noheader", "--partition=main", "--format=%N %t")
        return dict(line.split() for line in lines.splitlines())

    def steps(self) -> list[str]:
        """Returns the ids of the running jobs."""
        return self.run("squeue", "--noheader", "--states=RUNNING", "--format=%i").split()

    def wait_until(self, condition: object, complaint: str) -> None:
        assert callable(condition)
        deadline = time.monotonic() + WAIT_S
        while not condition():
            assert time.monotonic() < deadline, f"{complaint}\n{self.logs()}"
            time.sleep(0.1)

    def logs(self) -> str:
        files = sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        return "\n".join(
            f"{file.name}: {file.read_text(errors='replace')[-1500:]}" for file in files
        )
