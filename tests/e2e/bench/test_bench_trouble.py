"""Runs `assay bench` while its surroundings fail: the endpoint or the price table is broken, the
disk is full, or another bench uses the store or the journal. Each time the bench must say what is
wrong, lose no result, and pay for no reply twice."""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from llm_endpoint import KEY, Endpoint, env_of, error

Run = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).resolve().parents[3]
PATIENCE_S = 120.0  # the longest wait for an event that must come
OPERATORS = ["vector_add", "gelu_tanh", "softmax_last_dim", "rope_neox"]


def arguments_of(tmp_path: Path, *more: str) -> list[str]:
    where = [
        "--store",
        str(tmp_path / "s.db"),
        "--out",
        str(tmp_path / "out"),
        "--operators",
        ",".join(OPERATORS),
    ]
    return ["bench", "--model", "openai-compatible:m", "--device", "fake", *where, *more]


def ends_as_if_nothing_had_been(assay: Run, model: Endpoint, tmp_path: Path) -> None:
    """Resumes the bench. Checks that the bench finishes, and that in total there was one request
    and one submission for each operator."""
    done = assay(*arguments_of(tmp_path, "--resume"), **env_of(model))
    assert done.returncode == 0, done.stderr
    assert "4 of 4" in done.stdout and "400 in, 40 out" in done.stdout
    assert sorted(model.asked) == sorted(OPERATORS)
    lines = [json.loads(line) for line in (tmp_path / "out/journal.jsonl").read_text().splitlines()]
    assert sorted(line["operator"] for line in lines if line["kind"] == "finished") == sorted(
        OPERATORS
    )
    assert all(line["outcome"] == "pass" for line in lines if line["kind"] == "finished")


def logs_below(folder: Path) -> str:
    """Returns the ends of all log files in a state folder, for the message of a failed test."""
    parts = [
        f"{path}:\n{path.read_text(errors='replace')[-2000:]}" for path in folder.rglob("*log")
    ]
    return "\n".join(parts)


def test_an_endpoint_that_is_down(assay: Run, model: Endpoint, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # The socket does not listen, so connections are refused.
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        stopped = assay(*arguments_of(tmp_path, "--jobs", "4"), ASSAY_LLM_BASE_URL=url)
    assert stopped.returncode == 2, stopped.stderr
    assert f"no answer from {url}" in stopped.stderr and "--resume continues" in stopped.stderr
    ends_as_if_nothing_had_been(assay, model, tmp_path)


def test_a_refused_key_is_not_tried_again(assay: Run, model: Endpoint, tmp_path: Path) -> None:
    model.always = error(401, "no such key " + KEY)
    stopped = assay(*arguments_of(tmp_path), **env_of(model))
    assert stopped.returncode == 2 and model.requests == 1, stopped.stderr
    assert (
        "stopped: openai-compatible: HTTP 401" in stopped.stderr
        and "4 of 4 attempts are not finished" in stopped.stderr
    )
    model.always = None
    ends_as_if_nothing_had_been(assay, model, tmp_path)


@pytest.mark.parametrize(
    ("prices", "words"),
    [
        ("[models\n", ("prices.toml", "line 1")),
        (
            '[models]\n"openai-compatible:m" = { input = -1, output = 2 }\n',
            ("prices.toml", "openai-compatible:m", "not negative"),
        ),
    ],
)
def test_a_broken_price_table(
    assay: Run, model: Endpoint, tmp_path: Path, prices: str, words: tuple[str, ...]
) -> None:
    tree = tmp_path / "tree"
    (tree / "reference_agents/llm").mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name not in ("reference_agents", ".git"):
            (tree / entry.name).symlink_to(entry)
    (tree / "reference_agents/llm/prices.toml").write_text(prices)
    refused = assay(*arguments_of(tmp_path), ASSAY_ROOT=str(tree), **env_of(model))
    assert refused.returncode == 78, refused.stderr
    for word in words:
        assert word in refused.stderr
    assert not model.requests and not (tmp_path / "out").exists()


def test_a_store_that_cannot_grow(binary: str, assay: Run, model: Endpoint, tmp_path: Path) -> None:
    """Limits the size of files. For the store this has the same effect as a full disk."""

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (230_000, resource.RLIM_INFINITY))

    environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state"), **env_of(model)}
    stopped = subprocess.run(
        [binary, *arguments_of(tmp_path)],
        env=environment,
        preexec_fn=small_files,
        capture_output=True,
        text=True,
        timeout=120,
    )
    # The server writes its log to the same stderr.
    told = f"{stopped.returncode}\n{stopped.stderr}\n{logs_below(tmp_path / 'state')}"
    assert stopped.returncode == 2, told
    assert "disk I/O error" in stopped.stderr and "--resume continues" in stopped.stderr, told
    ends_as_if_nothing_had_been(assay, model, tmp_path)


@contextmanager
def full_disk(folder: Path, size: str) -> Iterator[list[str]]:
    """Yields words that a test puts before a command. The command then sees `folder` as a separate
    file system of size `size`. After the `with` block, `folder` contains the files that the command
    wrote."""
    folder.mkdir()
    kept = folder.with_name("kept")
    mount = f"mount -t tmpfs -o size={size} none {shlex.quote(str(folder))}"
    probe = (
        subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True, text=True)
        if shutil.which("unshare")
        else None
    )
    if probe is None or probe.returncode != 0:
        pytest.skip(
            "mounting a tmpfs is not permitted here: "
            + ("no unshare" if probe is None else probe.stderr.strip())
        )
    keep = f"cp -a {shlex.quote(str(folder))} {shlex.quote(str(kept))}"
    yield ["unshare", "-m", "sh", "-c", f'{mount} && "$@"; status=$?; {keep}; exit $status', "sh"]
    folder.rmdir()
    kept.rename(folder)


@pytest.mark.parametrize("size", ["40k", "120k"])
def test_a_full_disk_for_transcripts(
    binary: str, assay: Run, model: Endpoint, tmp_path: Path, size: str
) -> None:
    """Checks that no paid reply is lost: the bench reserves disk space for a reply before it sends
    the request."""
    environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state"), **env_of(model)}
    with full_disk(tmp_path / "out", size) as inside:
        stopped = subprocess.run(
            [*inside, binary, *arguments_of(tmp_path, "--jobs", "2")],
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
    assert stopped.returncode == 2, stopped.stderr
    assert "No space left on device" in stopped.stderr and "--resume continues" in stopped.stderr
    assert len(model.asked) < 4
    for name in model.asked:
        assert '"kind":"reply"' in (tmp_path / f"out/transcripts/{name}.1.jsonl").read_text()
    ends_as_if_nothing_had_been(assay, model, tmp_path)


def test_a_store_that_another_bench_has(
    binary: str, assay: Run, model: Endpoint, tmp_path: Path
) -> None:
    model.hold(at_once=0)
    environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state"), **env_of(model)}
    with subprocess.Popen(
        [binary, *arguments_of(tmp_path)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as first:
        deadline = time.monotonic() + PATIENCE_S
        while not model.asked and time.monotonic() < deadline:
            time.sleep(0.01)
        assert model.asked
        other = arguments_of(tmp_path)
        other[other.index("--out") + 1] = str(tmp_path / "elsewhere")
        same_store = assay(*other, **env_of(model))
        same_journal = assay(*arguments_of(tmp_path, "--resume"), **env_of(model))
        asked = len(model.asked)
        model.go_on()
        assert first.wait(PATIENCE_S) == 0
    assert (
        same_store.returncode == 69
        and "is in use by another Assay" in same_store.stderr
        and "--store" in same_store.stderr
    )
    assert (
        same_journal.returncode == 69
        and "in use by another bench" in same_journal.stderr
        and "--out" in same_journal.stderr
    )
    # Neither of the two refused benches sent a request.
    assert asked <= 4 and sorted(model.asked) == sorted(OPERATORS)


def test_no_program_that_a_bench_starts_has_the_key(
    binary: str, model: Endpoint, tmp_path: Path
) -> None:
    model.hold(at_once=0)
    environment = {**os.environ, "ASSAY_STATE_DIR": str(tmp_path / "state"), **env_of(model)}
    with subprocess.Popen(
        [binary, *arguments_of(tmp_path)], env=environment, stdout=subprocess.DEVNULL
    ) as bench:
        deadline = time.monotonic() + PATIENCE_S
        while not model.asked and time.monotonic() < deadline:
            time.sleep(0.01)
        children = Path(f"/proc/{bench.pid}/task/{bench.pid}/children").read_text().split()
        seen = [Path(f"/proc/{child}/environ").read_bytes() for child in children]
        model.go_on()
        assert bench.wait(PATIENCE_S) == 0
    assert seen and all(b"ASSAY_STATE_DIR" in block and KEY.encode() not in block for block in seen)
