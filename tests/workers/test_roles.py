"""Checks workers with roles: one pool records, another one launches on a GPU with the fake driver.
Their verdicts must be those of one process, and no verdict is lost when a worker dies."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from http_serving import Server, serving

ROOT = Path(__file__).resolve().parent.parent.parent
CHANGED = Path(__file__).resolve().parent / "changed_worker.py"
SUITE = ROOT / "tests/faults/gpu_suite"
COPY = (SUITE / "standard/plain_copy/oracle.py").read_text()
WAIT_S = 120
IMPORT_S = 3  # a submission that is killed while it is imported


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits for a state that no event announces."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "the event did not come"
        time.sleep(0.1)


def pools_file(folder: Path, *pools: dict[str, object]) -> Path:
    lines = []
    for pool in pools:
        lines.append("[[pool]]")
        lines += [f"{name} = {json.dumps(value)}" for name, value in pool.items()]
    path = folder / "workers.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def fake_gpu(binary: str) -> str:
    path = str(Path(binary).with_name("assay_on_fake_gpu"))
    assert os.access(path, os.X_OK), f"{path} is not built; `ninja assay_on_fake_gpu` builds it"
    return path


@pytest.fixture(scope="module")
def servers(
    binary: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Server]]:
    """A server whose workers have roles, and a server with the same GPU that does all itself."""
    program = fake_gpu(binary)
    suite = ["--suite", str(SUITE)]
    worker = shlex.join([program, "worker", *suite])
    folder = tmp_path_factory.mktemp("roles")
    file = pools_file(
        folder,
        {
            "name": "cpus",
            "role": "record",
            "command": f"{worker} --role record",
            "jobs_per_worker": 4,
        },
        {
            "name": "gpus",
            "role": "launch",
            "command": f"{worker} --role launch --device cuda:0",
            "device": "cuda:0",
            "jobs_per_worker": 4,
        },
    )
    alone = tmp_path_factory.mktemp("alone")
    with ExitStack() as stack:
        split = stack.enter_context(
            serving(program, folder, "--workers", str(file), *suite, device="")
        )
        whole = stack.enter_context(serving(program, alone, *suite, device="cuda:0"))
        yield split, whole


def metrics(server: Server) -> str:
    return server.request("GET", "/metrics")[2]


def metric(server: Server, name: str) -> int:
    found = re.search(rf"^{re.escape(name)} (\d+)", metrics(server), re.MULTILINE)
    assert found, name
    return int(found[1])


def busy(server: Server, pool: str) -> int:
    return metric(server, f'assay_workers{{pool="{pool}",state="busy"}}')


def losses(server: Server, pool: str) -> int:
    return metric(server, f'assay_worker_losses_total{{pool="{pool}"}}')


def problems(server: Server) -> list[str]:
    """Returns why workers failed. Only the operator sees it."""
    return [
        line for line in metrics(server).splitlines() if line.startswith("assay_worker_problem{")
    ]


def worker_pid(server: Server, role: str) -> int:
    listed = subprocess.run(
        ["ps", "-ww", "--ppid", str(server.process.pid), "-o", "pid=,args="],
        capture_output=True,
        text=True,
    )
    [pid] = [
        int(line.split()[0]) for line in listed.stdout.splitlines() if f"--role {role}" in line
    ]
    return pid


def answer_of(server: Server, tool: str, source: str, **more: Any) -> dict[str, Any]:
    """Returns the answer of a tool, however long it takes."""
    arguments = {"operator": "plain_copy", "code": source, "response_format": "detailed", **more}
    answer = server.call(tool, arguments)["structuredContent"]
    while "outcome" not in answer:
        assert "job" in answer, answer
        waited = {"job": answer["job"], "wait_s": 20, "response_format": "detailed"}
        answer = server.call("job", waited)["structuredContent"]
    structured: dict[str, Any] = answer
    return structured


def in_short(answer: dict[str, Any]) -> dict[str, Any]:
    """Returns what must be the same wherever the job ran."""
    short = {
        name: answer.get(name)
        for name in ("outcome", "error_kind", "stage", "tier", "detail", "diagnostic")
    }
    short["summary"] = answer["summary"].partition(", perf")[0]  # times differ
    short["cases"] = [
        {name: case.get(name) for name in ("id", "hidden", "outcome", "reason")}
        for case in answer.get("cases", [])
    ]
    short["kernels"] = [kernel["name"] for kernel in answer.get("kernels", [])]
    short["stdout"] = answer.get("stdout")
    short["source"] = answer.get("provenance", {}).get("source_sha256")
    return short


def test_one_worker_records_and_another_one_launches(servers: tuple[Server, Server]) -> None:
    answer = answer_of(servers[0], "run_tests", COPY)
    assert answer["outcome"] == "pass", answer
    provenance = answer["provenance"]
    assert provenance["worker"].startswith("gpus-1@")
    assert provenance["recorder"].startswith("cpus-1@")
    assert provenance["device"] == "cuda:0"
    assert provenance["triton"] and provenance["torch"]  # of the worker that recorded
    assert provenance["source_sha256"] == hashlib.sha256(COPY.encode()).hexdigest()
    assert 'assay_worker_pool{pool="gpus",role="launch",records="cpus"} 1' in metrics(servers[0])


@pytest.mark.parametrize(
    ("tool", "source"),
    [
        ("run_tests", "print('hello')\n" + COPY),
        ("run_tests", COPY.replace("fake_copy", "fake_nothing").replace("empty", "zeros")),
        ("run_tests", "def plain_copy(x):\n    return x.clone()\n"),  # no kernel of its own
        ("run_tests", "def plain_copy(x:\n"),
        ("run_tests", "import nothing_like_this\n"),
        ("run_tests", COPY.replace("    y = torch", "    x.nothing\n    y = torch")),
        ("compile", COPY),
        ("profile", COPY),
    ],
)
def test_the_verdict_is_that_of_one_process(
    servers: tuple[Server, Server], tool: str, source: str
) -> None:
    split, whole = (in_short(answer_of(server, tool, source)) for server in servers)
    assert split == whole


def test_a_submission_that_needs_the_host_tier_is_told_what_to_do(
    servers: tuple[Server, Server],
) -> None:
    source = COPY.replace("    y = torch", "    x.sum().item()\n    y = torch")
    split, whole = (answer_of(server, "run_tests", source) for server in servers)
    assert whole["tier"] == "host", whole
    assert split["outcome"] == "error" and split["error_kind"] == "not_recordable", split
    assert "aten::sum is arithmetic by torch" in split["detail"], split
    assert "no host tier" in split["detail"] and "a device without roles" in split["detail"]


def test_hidden_cases_are_recorded_after_the_public_ones(servers: tuple[Server, Server]) -> None:
    for source in (COPY, COPY.replace("fake_copy", "fake_nothing").replace("empty", "zeros")):
        answers = []
        for server in servers:
            wanted = {"agent": "a", "model": "m", "track": "practice", "suite": "plain_copy"}
            run = server.call("start_run", wanted)["structuredContent"]["run"]
            answers.append(answer_of(server, "submit", source, run=run))
        assert in_short(answers[0]) == in_short(answers[1])


def test_a_grade_of_kept_plans_tells_no_more_than_the_first_one(
    servers: tuple[Server, Server],
) -> None:
    """The launch of each hidden case is refused. The second grade has all plans from a cache."""
    refused = "        fake_illegal_address[(1,)](y, 0)\n"
    source = COPY.replace(
        "def plain_copy(x):\n    y = torch.empty_like(x)\n",
        "@triton.jit\ndef fake_illegal_address(p, n):\n    pass\nSEEN = []\n"
        "def plain_copy(x):\n    y = torch.empty_like(x)\n"
        f"    if x.numel() in SEEN:\n{refused}    SEEN.append(x.numel())\n",
    )
    assert refused in source
    for server in servers:
        wanted = {"agent": "a", "model": "m", "track": "practice", "suite": "plain_copy"}
        run = server.call("start_run", wanted)["structuredContent"]["run"]
        first, second = (answer_of(server, "submit", source, run=run) for _ in range(2))
        assert in_short(first) == in_short(second)
        assert (second["outcome"], second["error_kind"]) == ("fail", "hidden_case")
        assert not re.search(r"hidden\d", json.dumps(second)), second


def in_hidden_cases(statement: str) -> str:
    """Returns a submission that runs a statement when a shape occurs for the second time. The hidden
    cases have the shapes of the public ones."""
    return COPY.replace(
        "def plain_copy(x):\n    y = torch.empty_like(x)\n",
        "import os\nSEEN = []\ndef plain_copy(x):\n    y = torch.empty_like(x)\n"
        f"    if x.numel() in SEEN:\n        {statement}\n    SEEN.append(x.numel())\n",
    )


FORGED = b'\x00\x00\x00\x0f{"type":"done"}'
CHEATS = {
    "torch copies in hidden cases": (in_hidden_cases("return x.clone()"), "fail:hidden_case"),
    "names hidden cases in an error": (
        in_hidden_cases("raise ValueError('n12289')"),
        "fail:hidden_case",
    ),
    "ends in hidden cases": (in_hidden_cases("os._exit(0)"), "fail:hidden_case"),
    "reads a value in hidden cases": (in_hidden_cases("x.sum().item()"), "fail:hidden_case"),
    "prints in hidden cases": (in_hidden_cases("print('n12289')"), "pass:none"),
    "copies by torch, with a decoy": (
        COPY.replace("fake_copy", "fake_nothing")
        .replace("(x, y, n)", "(y)")
        .replace("torch.empty_like(x)", "x.clone()")
        .replace("(x, y, x.numel())", "(y)"),
        "fail:unattributed",
    ),
    "writes an input": (COPY.replace("fake_copy", "fake_copy_and_spoil"), "fail:output_mismatch"),
    "forges messages of its recorder": (
        COPY.replace(
            "    y = torch",
            "    import os\n    for fd in range(3, 64):\n        try:\n"
            f"            os.write(fd, {FORGED!r})\n        except OSError:\n            pass\n"
            "    y = torch",
        ),
        "error:protocol_error",
    ),
}


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_gets_the_verdict_of_one_process(servers: tuple[Server, Server], name: str) -> None:
    source, expected = CHEATS[name]
    answers = []
    for server in servers:
        wanted = {"agent": "a", "model": "m", "track": "practice", "suite": "plain_copy"}
        run = server.call("start_run", wanted)["structuredContent"]["run"]
        answers.append(answer_of(server, "submit", source, run=run))
    for answer in answers:
        assert f"{answer['outcome']}:{answer['error_kind']}" == expected, answer
        assert "12289" not in json.dumps(answer)
    assert in_short(answers[0]) == in_short(answers[1])


@pytest.mark.parametrize(("role", "pool"), [("record", "cpus"), ("launch", "gpus")])
def test_a_lost_worker_of_either_role_costs_no_verdict(
    servers: tuple[Server, Server], role: str, pool: str
) -> None:
    server = servers[0]
    before = losses(server, pool)
    slow = f"import time\ntime.sleep({IMPORT_S})\n# {role}\n{COPY}"
    with ThreadPoolExecutor() as threads:
        wait_until(lambda: busy(server, "cpus") + busy(server, "gpus") == 0)
        answer = threads.submit(answer_of, server, "run_tests", slow)
        wait_until(lambda: busy(server, "cpus") == busy(server, "gpus") == 1)
        os.kill(worker_pid(server, role), signal.SIGKILL)
        assert answer.result()["outcome"] == "pass"
    assert losses(server, pool) == before + 1


def changed(binary: str, role: str, target: str) -> str:
    device = {
        "name": "record" if role == "record" else "fake",
        "description": f"for {target}",
        "can_time": False,
        "best_tier": "none",
        "default_target": target,
        "concurrency": 1,
    }
    change = json.dumps({"hello": {"role": role, "device": device}})
    return shlex.join([sys.executable, str(CHANGED), change, binary, "worker", "--device", "fake"])


def test_a_wrong_pair_is_refused_by_name(binary: str, tmp_path: Path) -> None:
    file = pools_file(
        tmp_path,
        {"name": "cpus", "role": "record", "command": changed(binary, "record", "hip:gfx942")},
        {"name": "gpus", "role": "launch", "command": changed(binary, "launch", "cuda:90")},
    )
    with serving(binary, tmp_path, "--workers", str(file), device="") as server:
        wait_until(lambda: problems(server) != [])
        [problem] = problems(server)
        assert "was refused" in problem and "hip:gfx942" in problem and "cuda:90" in problem


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--role", "launch", "--device", "cpu"], "needs a GPU, and its device is cpu"),
        (["--role", "record", "--device", "cpu"], "uses no device"),
        (["--role", "both"], "unknown role 'both'; valid: all, record, launch"),
    ],
)
def test_a_bad_role_is_named(binary: str, options: list[str], words: str) -> None:
    ended = subprocess.run(
        [binary, "worker", *options], input="", capture_output=True, text=True, timeout=60
    )
    assert ended.returncode != 0
    assert words in ended.stderr
