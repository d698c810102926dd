"""Checks that jobs on workers give the verdicts of the same jobs on the server's own device, and
that no verdict is lost or counted twice when workers die."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from http_serving import STATELESS, Server, serving, wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
CHANGED = Path(__file__).resolve().parent / "changed_worker.py"
PASS = "# fake: pass\ndef vector_add(x, y):\n    return x\n"


def slow(sleep_ms: int, note: object = "") -> str:
    return f"# fake: sleep_ms={sleep_ms}\n# {note}\ndef vector_add(x, y):\n    return x\n"


def pool(folder: Path, command: str, **settings: object) -> Path:
    """Writes a file with one pool, and returns its path."""
    lines = ["[[pool]]", 'name = "pool"', f"command = {json.dumps(command)}"]
    lines += [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    path = folder / "workers.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def changed(binary: str, change: dict[str, Any]) -> str:
    words = [sys.executable, str(CHANGED), json.dumps(change), binary, "worker", "--device", "fake"]
    return shlex.join(words)


def metric(server: Server, name: str) -> int:
    text = server.request("GET", "/metrics")[2]
    found = re.search(rf"^{re.escape(name)} (\d+)", text, re.MULTILINE)
    assert found, text
    return int(found[1])


def workers(server: Server, state: str) -> int:
    return metric(server, f'assay_workers{{pool="pool",state="{state}"}}')


def total(server: Server, what: str) -> int:
    return metric(server, f'assay_worker_{what}_total{{pool="pool"}}')


def problems(server: Server) -> str:
    """Returns why workers failed. Only the operator sees it."""
    lines = server.request("GET", "/metrics")[2].splitlines()
    return "\n".join(line for line in lines if line.startswith("assay_worker_problem{"))


def worker_pids(server: Server) -> list[int]:
    listed = subprocess.run(
        ["ps", "-ww", "--ppid", str(server.process.pid), "-o", "pid=,args="],
        capture_output=True,
        text=True,
    )
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if " worker " in line]


def arguments_for(source: str) -> dict[str, Any]:
    return {"operator": "vector_add", "code": source, "response_format": "detailed"}


def run_tests(server: Server, source: str, **more: str) -> dict[str, Any]:
    """Returns the verdict, however long it takes."""
    answer = server.call("run_tests", {**arguments_for(source), **more})["structuredContent"]
    while "outcome" not in answer:
        assert "job" in answer, answer
        waited = {"job": answer["job"], "wait_s": 20, "response_format": "detailed"}
        answer = server.call("job", waited)["structuredContent"]
    structured: dict[str, Any] = answer
    return structured


def text_of(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False)


def test_a_job_runs_on_a_worker(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, f"{binary} worker --device fake", device="fake")
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        answer = run_tests(server, PASS)
        assert answer["outcome"] == "pass"
        assert answer["provenance"]["worker"].startswith("pool-1@")
        assert answer["provenance"]["device"] == "fake"
        assert total(server, "losses") == 0


def test_a_lost_worker_costs_no_verdict(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, f"{binary} worker --device fake")
    with (
        serving(binary, tmp_path, "--workers", str(file), device="") as server,
        ThreadPoolExecutor() as threads,
    ):
        wait_until(lambda: workers(server, "idle") == 1)
        [pid] = worker_pids(server)  # before the job begins, because it can take seconds
        answer = threads.submit(run_tests, server, slow(5_000))
        wait_until(lambda: workers(server, "busy") == 1)
        os.kill(pid, signal.SIGKILL)
        assert answer.result()["outcome"] == "pass"
        assert total(server, "losses") == 1


def test_a_job_that_loses_three_workers_is_aborted(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, f"{binary} worker --device fake")
    with (
        serving(binary, tmp_path, "--workers", str(file), device="") as server,
        ThreadPoolExecutor() as threads,
    ):
        wait_until(lambda: workers(server, "idle") == 1)
        answer = threads.submit(run_tests, server, slow(600_000))
        # The health check of a new worker makes the worker busy, too, so a loss need not be one of
        # the job.
        while not answer.done():
            losses = total(server, "losses")
            wait_until(
                lambda: (
                    answer.done()
                    or (
                        workers(server, "busy") == 1
                        and metric(server, 'assay_worker_jobs_waiting{pool="pool"}') == 0
                    )
                )
            )
            for pid in worker_pids(server):
                os.kill(pid, signal.SIGKILL)
            wait_until(lambda lost=losses: answer.done() or total(server, "losses") > lost)
        assert answer.result()["error_kind"] == "aborted"
        assert "lost 3 workers" in text_of(answer.result())


def test_a_silent_worker_is_lost(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, f"{binary} worker --device fake")
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        wait_until(lambda: workers(server, "idle") == 1)
        [pid] = worker_pids(server)
        os.kill(pid, signal.SIGSTOP)
        wait_until(lambda: total(server, "losses") == 1)
        assert "was lost" in problems(server)
        wait_until(lambda: workers(server, "idle") == 1)
        wait_until(lambda: problems(server) == "")  # the new worker has passed its health check


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("no-such-engine assay worker", ["not found", "give the path of a program"]),
        ("echo Welcome to node 7", ["Welcome to node 7", "make it print nothing on stdout"]),
        ("sh -c 'echo no more space >&2; exit 3'", ["exit status 3", "no more space"]),
    ],
)
def test_a_broken_command_is_named(
    binary: str, tmp_path: Path, command: str, words: list[str]
) -> None:
    file = tmp_path / "workers.toml"
    good = f"{binary} worker --device fake"
    file.write_text(
        f'[[pool]]\nname = "pool"\ncommand = {json.dumps(command)}\n'
        f'[[pool]]\nname = "good"\ncommand = {json.dumps(good)}\n'
    )
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        answer = run_tests(server, PASS)
        assert answer["error_kind"] == "device_unhealthy"
        assert "several starts in a row failed" in text_of(answer)
        for word in words:
            assert word in problems(server) and word not in text_of(answer)
        assert run_tests(server, PASS, device="good")["outcome"] == "pass"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"assay": "0.0.1"}, "version 0.0.1 of Assay"),
        ({"harness": "ab" * 32}, "sandbox/harness has the digest abababababab"),
        ({"suite": "cd" * 32}, "operators have the digest cdcdcdcdcdcd"),
        ({"protocol": 99}, "it speaks protocol 99"),
    ],
)
def test_another_revision_is_refused(
    binary: str, tmp_path: Path, change: dict[str, Any], word: str
) -> None:
    file = pool(tmp_path, changed(binary, {"hello": change}))
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        answer = run_tests(server, PASS)
        assert answer["error_kind"] == "device_unhealthy"
        assert word in problems(server)


def test_a_worker_with_a_wrong_health_check_is_quarantined(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, changed(binary, {"verdict": {"outcome": "fail", "cases": []}}))
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        answer = run_tests(server, PASS)
        assert answer["error_kind"] == "device_unhealthy"
        assert "health check did not pass" in problems(server)
        assert metric(server, 'assay_workers_quarantined{pool="pool"}') == 1


def test_a_worker_whose_gpu_fails_is_examined_at_once(binary: str, tmp_path: Path) -> None:
    """Its health check would be due only minutes later, and until then it would get most jobs."""
    broken = {"outcome": "error", "error_kind": "device_unhealthy", "cases": []}
    command = changed(binary, {"verdict": broken, "unchanged": 1})
    file = pool(tmp_path, command, health_check_s=3_600)
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        wait_until(lambda: workers(server, "idle") == 1)
        assert run_tests(server, PASS)["error_kind"] == "device_unhealthy"
        wait_until(lambda: metric(server, 'assay_workers_quarantined{pool="pool"}') == 1)
        assert "health check did not pass" in problems(server)


def test_a_pool_grows_and_shrinks(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, f"{binary} worker --device fake", least=0, most=3, idle_s=1)
    with (
        serving(binary, tmp_path, "--workers", str(file), device="") as server,
        ThreadPoolExecutor() as threads,
    ):
        assert worker_pids(server) == []
        answers = [threads.submit(run_tests, server, slow(10_000, i)) for i in range(3)]
        wait_until(lambda: workers(server, "busy") == 3)
        assert [one.result()["outcome"] for one in answers] == ["pass"] * 3
        wait_until(lambda: worker_pids(server) == [])
        assert total(server, "losses") == 0


def test_a_preempted_worker_ends_its_job_first(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, f"{binary} worker --device fake")
    with (
        serving(binary, tmp_path, "--workers", str(file), device="") as server,
        ThreadPoolExecutor() as threads,
    ):
        wait_until(lambda: workers(server, "idle") == 1)
        [pid] = worker_pids(server)  # before the job begins, because it can take seconds
        answer = threads.submit(run_tests, server, slow(5_000))
        wait_until(lambda: workers(server, "busy") == 1)
        os.kill(pid, signal.SIGTERM)
        # On a machine that stands still for seconds, the job can end before anyone looks.
        wait_until(lambda: workers(server, "draining") == 1 or answer.done())
        assert answer.result()["outcome"] == "pass"
        wait_until(lambda: pid not in worker_pids(server))
        assert run_tests(server, PASS)["provenance"]["worker"].startswith("pool-2@")
        assert total(server, "losses") == 0


def test_a_worker_runs_several_jobs(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, f"{binary} worker --device fake", jobs_per_worker=2)
    with (
        serving(binary, tmp_path, "--workers", str(file), device="") as server,
        ThreadPoolExecutor() as threads,
    ):
        wait_until(lambda: workers(server, "idle") == 1)
        answers = list(threads.map(lambda i: run_tests(server, slow(500, i)), range(8)))
        assert {one["provenance"]["worker"].split("@")[0] for one in answers} == {"pool-1"}
        assert {one["outcome"] for one in answers} == {"pass"}


def test_jobs_are_spread_over_the_workers(binary: str, tmp_path: Path) -> None:
    """Each worker could run both jobs, but then the other one would be idle."""
    file = pool(tmp_path, f"{binary} worker --device fake", least=2, most=2, jobs_per_worker=4)
    with (
        serving(binary, tmp_path, "--workers", str(file), device="") as server,
        ThreadPoolExecutor() as threads,
    ):
        wait_until(lambda: workers(server, "idle") == 2)
        answers = [threads.submit(run_tests, server, slow(5_000, i)) for i in range(2)]
        wait_until(lambda: workers(server, "busy") == 2)
        used = {one.result()["provenance"]["worker"].split("@")[0] for one in answers}
        assert used == {"pool-1", "pool-2"}


def test_a_cancelled_job_frees_its_worker(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, f"{binary} worker --device fake")
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        wait_until(lambda: workers(server, "idle") == 1)
        connection = server.connection()
        # A call of a client without tasks ends with its connection.
        meta = {**STATELESS, "io.modelcontextprotocol/clientCapabilities": {}}
        call = {"name": "run_tests", "arguments": arguments_for(slow(50_000)), "_meta": meta}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers = {
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "run_tests",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        connection.request("POST", "/mcp", json.dumps(message), headers)
        wait_until(lambda: workers(server, "busy") == 1)
        connection.close()  # cancels the call and its job
        wait_until(lambda: workers(server, "idle") == 1)
        assert run_tests(server, PASS)["outcome"] == "pass"
        assert total(server, "losses") == 0


def test_a_verdict_on_a_worker_equals_the_local_one(binary: str, tmp_path: Path) -> None:
    source = (ROOT / "operators/standard/vector_add/oracle.py").read_text()
    (tmp_path / "far").mkdir()
    (tmp_path / "near").mkdir()
    with serving(
        binary, tmp_path / "far", "--worker-command", f"{binary} worker --device cpu", device=""
    ) as server:
        far = run_tests(server, source)
    with serving(binary, tmp_path / "near", device="cpu") as server:
        near = run_tests(server, source)
    assert far["provenance"].pop("worker").startswith("workers-1@")
    near["provenance"].pop("worker", None)
    for answer in (far, near):
        for changing in ("job", "stage_ms", "elapsed_ms", "artifacts"):
            answer.pop(changing, None)
        answer["provenance"].pop("seeds", None)
        for record in answer["cases"]:  # the seeds differ, and so do the errors
            del record["float64_error"], record["max_abs_error"]
    assert far == near
    assert far["outcome"] == "pass"


def assay(binary: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ASSAY_STATE_DIR": str(folder / "state")}
    return subprocess.run([binary, *arguments], capture_output=True, text=True, env=environment)


def test_doctor_starts_a_worker_of_each_pool(binary: str, tmp_path: Path) -> None:
    file = pool(tmp_path, f"{binary} worker --device fake")
    good = assay(binary, tmp_path, "doctor", "--workers", str(file))
    assert "pool pool: a worker on" in good.stdout
    bad = assay(binary, tmp_path, "doctor", "--worker-command", "echo hello")
    assert "make it print nothing" in bad.stdout
    assert bad.returncode != 0


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "[[pool]]"),
        ('[[pool]]\nname = "a"\n', "`command` is missing"),
        ('[[pool]]\nname = "a"\ncommand = "x"\nmost = 0\n', "valid: 1 to 512"),
        (
            '[[pool]]\nname = "a"\ncommand = "x"\ncolour = 1\n',
            "unknown field `colour`; valid: name",
        ),
        (
            '[[pool]]\nname = "a"\ncommand = "x"\ndevice = "tpu"\n',
            "valid: cpu, cuda:N, hip:N, emulated, fake",
        ),
    ],
)
def test_a_bad_file_of_workers_is_refused(
    binary: str, tmp_path: Path, text: str, word: str
) -> None:
    file = tmp_path / "workers.toml"
    file.write_text(text)
    refused = assay(binary, tmp_path, "serve", "--workers", str(file))
    assert refused.returncode == 64
    assert word in refused.stderr
