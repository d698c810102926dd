"""Kills the server's processes with kill -9 at random moments under load.

    python tests/crash/crash.py --kills 200 --device cpu --out measurements/results/crash-cpu.json

After each kill the running job must end with a true verdict (a pass or an infrastructure error,
never a wrong result), and a control job must pass. After a kill of the server itself, the next
server must know every verdict that a client got. At the end no process, mount, cgroup, shared
memory or System V object may be left."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "measurements"), str(Path(__file__).resolve().parent)]

import processes  # noqa: E402
from environment import environment  # noqa: E402
from stdio_client import StdioClient  # noqa: E402

OPERATOR = "vector_add"
OURS = {"internal_error", "device_unhealthy", "aborted"}
RECOVERY_S = 240.0
LONGEST_JOB_S = 3.0


@dataclass
class Tally:
    kills: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, int] = field(default_factory=dict)
    recovery_s: dict[str, list[float]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


class Bench:
    """Runs a server, kills it and restarts it with the same store. Remembers the verdicts that
    clients got."""

    def __init__(self, binary: str, device: str, folder: Path) -> None:
        self.source = (ROOT / "operators/standard" / OPERATOR / "oracle.py").read_text()
        self.state = folder / "state"
        self.command = [
            binary,
            "serve",
            "--stdio",
            "--device",
            device,
            "--store",
            str(folder / "assay.db"),
        ]
        self.environment = {**os.environ, "ASSAY_STATE_DIR": str(self.state)}
        self.given_out: dict[str, str] = {}  # maps a job to its outcome
        self.count = 0
        self.servers: list[int] = []
        self.start()

    def start(self) -> None:
        self.client = StdioClient(self.command, env=self.environment)
        self.servers.append(self.client.process.pid)

    def job(self) -> dict[str, Any]:
        """Runs one practice job. Returns its verdict."""
        self.count += 1
        code = f"{self.source}\n# {self.count} {os.urandom(8).hex()}\n"
        verdict: dict[str, Any] = self.client.call(
            "run_tests", {"operator": OPERATOR, "code": code}
        )["structuredContent"]
        while verdict.get("status") in ("queued", "running"):
            verdict = self.client.call("job", {"job": verdict["job"], "wait_s": 20})[
                "structuredContent"
            ]
        if "outcome" in verdict:
            self.given_out[verdict["job"]] = verdict["outcome"]
        return verdict

    def control(self) -> tuple[bool, str]:
        """Submits correct code again and again until it passes or a time limit is reached. Returns
        whether it passed, and the last verdict if it did not."""
        deadline = time.monotonic() + RECOVERY_S
        verdict: dict[str, Any] = {}
        while time.monotonic() < deadline:
            verdict = self.job()
            if verdict.get("outcome") == "pass":
                return True, ""
        return False, json.dumps(verdict)[:500]


def kill_server(bench: Bench, rng: random.Random, tally: Tally) -> None:
    bench.client.next_id += 1
    code = f"{bench.source}\n# {os.urandom(8).hex()}\n"
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "run_tests", "arguments": {"operator": OPERATOR, "code": code}, "_meta": meta}
    request = {
        "jsonrpc": "2.0",
        "id": bench.client.next_id,
        "method": "tools/call",
        "params": params,
    }
    assert bench.client.process.stdin is not None
    bench.client.process.stdin.write(json.dumps(request).encode() + b"\n")
    bench.client.process.stdin.flush()
    time.sleep(rng.uniform(0, LONGEST_JOB_S / 2))
    bench.client.process.kill()
    bench.client.process.wait()
    bench.start()
    for job, outcome in bench.given_out.items():
        known = bench.client.call("job", {"job": job, "wait_s": 0})["structuredContent"].get(
            "outcome"
        )
        if known != outcome:
            tally.problems.append(f"{job} was {outcome}, is {known} after a restart")


def kill_helper(bench: Bench, role: str, rng: random.Random, tally: Tally) -> bool:
    """Kills one process with the role `role` while a job runs. Returns False if there is no such
    process."""
    answer: list[dict[str, Any]] = []
    worker = threading.Thread(target=lambda: answer.append(bench.job()))
    worker.start()
    time.sleep(rng.uniform(0, LONGEST_JOB_S / 2))
    pids = processes.by_role(bench.client.process.pid)[role]
    killed = bool(pids) and processes.kill(rng.choice(pids))
    worker.join(RECOVERY_S * 2)
    if not answer:
        tally.problems.append(f"no verdict after killing the {role}")
        return killed
    verdict = answer[0]
    kind = (
        verdict.get("error_kind", "none")
        if verdict.get("outcome") == "error"
        else verdict.get("outcome", str(verdict)[:200])
    )
    tally.verdicts[kind] = tally.verdicts.get(kind, 0) + 1
    if kind != "pass" and kind not in OURS:
        tally.problems.append(f"killing the {role} gave {kind}: {json.dumps(verdict)[:300]}")
    return killed


def run(binary: str, device: str, kills: int, seconds: float, seed: int) -> Tally:
    end = time.monotonic() + seconds
    rng = random.Random(seed)
    tally = Tally()
    before = processes.leftovers([])
    with tempfile.TemporaryDirectory(prefix="assay-crash-") as folder:
        bench = Bench(binary, device, Path(folder))
        roles = ["zygote", "candidate", "judge", "server"] + (
            ["launcher"] if device.startswith("cuda") else []
        )
        ready, why = bench.control()
        if not ready:
            raise SystemExit(f"the control does not pass before anything was killed: {why}")
        while sum(tally.kills.values()) < kills and time.monotonic() < end and not tally.problems:
            role = rng.choice(roles)
            if role == "server":
                kill_server(bench, rng, tally)
            elif not kill_helper(bench, role, rng, tally):
                continue
            tally.kills[role] = tally.kills.get(role, 0) + 1
            begin = time.monotonic()
            back, why = bench.control()
            tally.recovery_s.setdefault(role, []).append(round(time.monotonic() - begin, 3))
            if not back:
                tally.problems.append(
                    f"the control did not pass within {RECOVERY_S} s after killing the {role}: {why}"
                )
        bench.client.close()
        if left := processes.survivors_after(folder):
            tally.problems.append(f"processes are left: {left}")
    for what, had in before.items():
        if extra := processes.leftovers(bench.servers)[what] - had:
            tally.problems.append(f"{what} left behind: {sorted(extra)}")
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=36_000.0, help="kill no more after this")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    tally = run(options.binary, options.device, options.kills, options.seconds, options.seed)
    result = {
        "what": __doc__,
        "seed": options.seed,
        "device": options.device,
        **vars(tally),
        "environment": environment(),
    }
    if options.out:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    medians = {role: sorted(values)[len(values) // 2] for role, values in tally.recovery_s.items()}
    print(
        f"kills {tally.kills}; verdicts of interrupted jobs {tally.verdicts}; median recovery in s {medians}; seed {options.seed}"
    )
    for problem in tally.problems:
        print("problem:", problem)
    raise SystemExit(1 if tally.problems else 0)


if __name__ == "__main__":
    main()
