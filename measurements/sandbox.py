"""Measures the sandbox: verdicts per hour with several simultaneous agents, the time to recover
after faults, and the memory of the idle processes.

    python measurements/sandbox.py --device cuda:0 --out measurements/results/sandbox-h200.json

An agent is a thread of this process with its own HTTP connection. It calls run_tests of vector_add
with a different source each time, one call after the other. To measure recovery, the script sends a
submission that harms the device and then at once a correct submission. Recovery is the time from
the verdict on the harmful submission to the verdict `pass` on the correct submission."""

from __future__ import annotations

import argparse
import atexit
import http.client
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from environment import environment
from stdio_client import PROTOCOL

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/crash"))
import processes  # noqa: E402

OPERATOR = "vector_add"
ORACLE = (ROOT / "operators/standard" / OPERATOR / "oracle.py").read_text()
START_S = 120.0
CALL_S = 120.0

KERNEL = """import torch, triton, triton.language as tl

@triton.jit
def kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    BODY

def vector_add(x, y):
    z = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 512),)](x, y, z, x.numel(), BLOCK=512)
    return z
"""
FAULTS = {
    "endless kernel": (
        KERNEL.replace(
            "BODY",
            "while tl.load(x) < 1e30:\n        tl.store(z + i, tl.load(y + i, mask=m), mask=m)",
        ),
        "timeout",
    ),
    "illegal address": (
        KERNEL.replace("BODY", "tl.store(z + i.to(tl.int64) * 100000000000, 1.0, mask=i > 0)"),
        "gpu_fault",
    ),
    "write past the end": (
        KERNEL.replace(
            "BODY",
            "tl.store(z + i, tl.load(x + i, mask=m) + tl.load(y + i, mask=m), mask=i < n + 16)",
        ),
        "canary_violation",
    ),
    "process exit": ("import os\nos._exit(0)\n", "protocol_error"),
}
HOST_FAULTS = ("process exit",)  # the faults that a device without a GPU can have


def make_distinct(source: str) -> str:
    """Returns the source with a new comment at its end."""
    return f"{source}\n# {os.urandom(8).hex()}\n"


class Agent:
    """A client with one HTTP connection that stays open. It uses the stateless protocol."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=CALL_S)
        self.count = 0
        self.run = ""

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        self.count += 1
        meta = {
            "io.modelcontextprotocol/protocolVersion": PROTOCOL,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        body = json.dumps(
            {"jsonrpc": "2.0", "id": self.count, "method": "tools/call", "params": params}
        )
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": PROTOCOL,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        self.connection.request("POST", "/mcp", body, headers)
        answer = json.loads(self.connection.getresponse().read())
        if "error" in answer:
            raise RuntimeError(f"{tool}: {answer['error']}")
        structured: dict[str, Any] = answer["result"]["structuredContent"]
        return structured

    def verdict(
        self,
        source: str,
        device: str = "",
        tool: str = "run_tests",
        operator: str = OPERATOR,
        in_run: bool = False,
        distinct: bool = True,
    ) -> dict[str, Any]:
        """Calls a tool with a source. Uses the server's default device if `device` is empty. The
        first `submit`, or the first call with `in_run`, starts a run for this agent. With
        `distinct`, the source is one that the server has not seen, so it is recorded anew."""
        arguments = {"operator": operator, "code": make_distinct(source) if distinct else source}
        if device:
            arguments["device"] = device
        if in_run or tool == "submit":
            self.run = self.run or str(
                self.call("start_run", {"agent": "bench", "model": "none", "track": "practice"})[
                    "run"
                ]
            )
            arguments["run"] = self.run
        answer = self.call(tool, arguments)
        while answer.get("status") in ("queued", "running"):
            answer = self.call("job", {"job": answer["job"], "wait_s": 20})
        return answer


class Server:
    def __init__(
        self,
        binary: str,
        device: str,
        folder: Path,
        *arguments: str,
        probe: bool = True,
        state: Path | None = None,
    ) -> None:
        """Starts a server. With `probe`, also waits until a correct submission passes. `state` is
        the server's state folder, if it is not one in `folder`."""
        command = [
            binary,
            "serve",
            "--http",
            "127.0.0.1:0",
            "--device",
            device,
            "--store",
            str(folder / "assay.db"),
            *arguments,
        ]
        environment = {**os.environ, "ASSAY_STATE_DIR": str(state or folder / "state")}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        atexit.register(self.process.kill)  # ends the server even if a measurement fails
        assert self.process.stderr is not None
        while line := self.process.stderr.readline():
            if found := re.search(r"http://[^:]+:(\d+)", line):
                self.port = int(found.group(1))
                break
        else:
            raise SystemExit("the server did not start")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        deadline = time.monotonic() + START_S
        while probe and Agent(self.port).verdict(ORACLE).get("outcome") != "pass":
            if time.monotonic() > deadline:
                raise SystemExit("a correct submission does not pass")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def oracle_of(operator: str) -> str:
    return next((ROOT / "operators").glob(f"*/{operator}/oracle.py")).read_text()


def throughput(
    server: Server,
    agents: int,
    seconds: float,
    devices: Sequence[str] = ("",),
    tool: str = "run_tests",
    operators: Sequence[str] = (OPERATOR,),
    in_runs: bool = False,
) -> dict[str, Any]:
    """Returns verdicts per hour, the time that an agent waits for a verdict, and the mean duration
    of each stage.

    The agents are spread over the devices. Each agent goes through the operators and sends the code
    of each oracle. With `in_runs`, each agent has a run, which keeps its context on the GPU.
    """
    codes = [(operator, oracle_of(operator)) for operator in operators]
    latencies: list[float] = []
    stages: list[dict[str, float]] = []
    wrong: list[str] = []
    begin = time.monotonic()

    def work(device: str) -> None:
        agent = Agent(server.port)
        turns = itertools.cycle(codes)
        while time.monotonic() < begin + seconds:
            operator, code = next(turns)
            start = time.perf_counter()
            verdict = agent.verdict(code, device, tool, operator, in_runs)
            latencies.append((time.perf_counter() - start) * 1e3)
            stages.append(verdict.get("stage_ms") or {})
            if verdict.get("outcome") != "pass":
                wrong.append(json.dumps(verdict)[:300])

    threads = [
        threading.Thread(target=work, args=[devices[index % len(devices)]])
        for index in range(agents)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if wrong:
        raise SystemExit(f"{len(wrong)} correct submissions did not pass: {wrong[0]}")
    took = time.monotonic() - begin
    ordered = sorted(latencies)
    return {
        "agents": agents,
        "verdicts_per_hour": round(len(latencies) / took * 3600),
        "p50_ms": round(statistics.median(ordered), 1),
        "p95_ms": round(ordered[int(0.95 * (len(ordered) - 1))], 1),
        "stage_ms": {
            stage: round(statistics.mean(one.get(stage, 0) for one in stages), 1)
            for stage in stages[0]
        },
        "samples_ms": [round(value, 2) for value in latencies],
    }


def recovery(server: Server, device: str, rounds: int) -> dict[str, list[float]]:
    """Returns, for each kind of fault, the seconds until a correct submission passes again."""
    agent = Agent(server.port)
    found: dict[str, list[float]] = {}
    for name, (source, kind) in FAULTS.items():
        if not device.startswith("cuda") and name not in HOST_FAULTS:
            continue
        for _ in range(rounds):
            verdict = agent.verdict(source)
            if verdict.get("error_kind") != kind:
                raise SystemExit(f"{name}: expected {kind}, got {json.dumps(verdict)[:400]}")
            begin = time.monotonic()
            after = agent.verdict(ORACLE)
            if after.get("outcome") != "pass":
                raise SystemExit(f"after {name}: {json.dumps(after)[:400]}")
            found.setdefault(name, []).append(round(time.monotonic() - begin, 3))
    return found


def pool_memory(server: Server) -> dict[str, int]:
    """Returns the proportional set size in KiB of the idle processes, by role."""
    time.sleep(2.0)
    roles = processes.by_role(server.process.pid)
    roles["server"] = [server.process.pid]
    sizes = {}
    for role, pids in roles.items():
        total = 0
        for pid in pids:
            try:
                lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            except (FileNotFoundError, ProcessLookupError):
                continue  # the process has ended since it was listed
            for line in lines:
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        sizes[role] = total
    return sizes


def shown(rate: dict[str, Any]) -> dict[str, Any]:
    """Prints a result at once, so that a run that is stopped has shown what it has measured."""
    figures = {key: rate[key] for key in ("agents", "verdicts_per_hour", "p50_ms", "p95_ms")}
    print(json.dumps(figures), file=sys.stderr, flush=True)
    return rate


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--binary", default=str(ROOT / "build/release/bin/assay"))
    parser.add_argument("--agents", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--seconds", type=float, default=20.0, help="for each number of agents")
    parser.add_argument(
        "--rounds", type=int, default=2, help="of each fault; an endless kernel takes a minute"
    )
    parser.add_argument(
        "--only-shared",
        action="store_true",
        help="do not measure again with one job on the GPU at a time, which takes as long",
    )
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.binary, options.device, Path(folder))
        memory = pool_memory(server)
        rates = [shown(throughput(server, agents, options.seconds)) for agents in options.agents]
        after = recovery(server, options.device, options.rounds)
        server.close()
    alone = []
    if options.device != "cpu" and not options.only_shared:
        with tempfile.TemporaryDirectory() as folder:
            server = Server(options.binary, options.device, Path(folder), "--gpu-sharers", "1")
            alone = [
                shown(throughput(server, agents, options.seconds)) for agents in options.agents
            ]
            server.close()
    summary = {
        "verdicts_per_hour": {str(rate["agents"]): rate["verdicts_per_hour"] for rate in rates},
        "one_job_at_a_time_per_hour": {
            str(rate["agents"]): rate["verdicts_per_hour"] for rate in alone
        },
        "p50_ms": {str(rate["agents"]): rate["p50_ms"] for rate in rates},
        "recovery_s": {name: statistics.median(values) for name, values in after.items()},
        "pool_pss_kib": memory,
    }
    result = {
        "what": __doc__,
        "device": options.device,
        "summary": summary,
        "environment": environment(),
        "throughput": rates,
        "one_job_at_a_time": alone,
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(
        json.dumps({**result, "recovery_s": after}, separators=(",", ":")) + "\n"
    )
    print(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
