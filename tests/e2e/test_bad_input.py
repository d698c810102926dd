"""Gives bad input on the command line. Checks that the message names the valid values, that each
kind of error has the correct exit status, that there is no traceback, and that no data is lost."""

from __future__ import annotations

import os
import resource
import shutil
import socket
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
Run = Callable[..., subprocess.CompletedProcess[str]]


def expect(done: subprocess.CompletedProcess[str], status: int, *words: str) -> None:
    assert done.returncode == status, (done.returncode, done.stderr)
    for word in words:
        assert word in done.stderr, done.stderr
    for trace in ("Traceback", "terminate called", "what():"):
        assert trace not in done.stderr


def test_unknown_names(assay: Run, tmp_path: Path) -> None:
    source = tmp_path / "x.py"
    source.write_text("def vector_add(x, y):\n    return x\n")
    expect(assay("eval", "vectoradd", str(source)), 67, "vectoradd", "vector_add")
    expect(
        assay("eval", "vector_add", str(source), "--device", "tpu"),
        67,
        "tpu",
        "cpu",
        "cuda:N",
        "fake",
    )
    expect(
        assay("bench", "--agent", "one_shot", "--model", "nobody:x", "--device", "fake"),
        67,
        "nobody",
        "anthropic",
        "openai",
        "scripted",
    )
    expect(
        assay("bench", "--agent", "two_shot", "--model", "scripted:demo", "--device", "fake"),
        67,
        "two_shot",
        "one_shot",
    )
    expect(assay("eval", "vector_add", str(source), "--mode", "guess"), 64, "guess", "grade")
    expect(assay("frobnicate"), 64)


@pytest.mark.skipif(
    os.path.exists("/dev/nvidia0"), reason="this machine has a GPU, so cuda:0 is valid here"
)
def test_device_that_is_not_there(assay: Run, tmp_path: Path) -> None:
    source = tmp_path / "x.py"
    source.write_text("def vector_add(x, y):\n    return x\n")
    expect(assay("eval", "vector_add", str(source), "--device", "cuda:0"), 69, "cuda:0")


def test_bad_files(assay: Run, tmp_path: Path) -> None:
    expect(
        assay("eval", "vector_add", str(tmp_path / "none.py"), "--device", "fake"), 66, "none.py"
    )
    expect(assay("eval", "vector_add", str(tmp_path), "--device", "fake"), 66)
    for name, content, word in (
        ("empty.py", b"", "empty"),
        ("binary.py", b"\x7fELF\0\0", "binary"),
        ("large.py", b"#" * 10_000_000, "1048576"),
    ):
        (tmp_path / name).write_bytes(content)
        expect(
            assay("eval", "vector_add", str(tmp_path / name), "--device", "fake"), 65, name, word
        )


def test_missing_key(assay: Run) -> None:
    done = assay(
        "bench",
        "--agent",
        "one_shot",
        "--model",
        "anthropic:any",
        "--device",
        "fake",
        ANTHROPIC_API_KEY="",
    )
    expect(done, 77, "ANTHROPIC_API_KEY")


def test_port_in_use(assay: Run, tmp_path: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        expect(
            assay(
                "serve",
                "--http",
                f"127.0.0.1:{port}",
                "--device",
                "fake",
                "--store",
                str(tmp_path / "s.db"),
            ),
            71,
            str(port),
        )


@pytest.mark.parametrize("address", ["127.0.0.1", "nowhere:x", ":1", "127.0.0.1:70000"])
def test_malformed_address(assay: Run, address: str) -> None:
    expect(assay("serve", "--http", address, "--device", "fake"), 64, "HOST:PORT")


def test_public_address_is_refused(assay: Run) -> None:
    expect(assay("serve", "--http", "0.0.0.0:0", "--device", "fake"), 76, "--token-file")


def test_store_from_a_newer_schema(assay: Run, tmp_path: Path) -> None:
    path = tmp_path / "newer.db"
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 999")
        database.execute("CREATE TABLE kept (x)")
    before = path.read_bytes()
    expect(assay("report", "--store", str(path)), 73, "999")
    assert path.read_bytes() == before


def test_store_that_cannot_be_written(assay: Run, tmp_path: Path) -> None:
    expect(
        assay("serve", "--stdio", "--device", "fake", "--store", "/proc/assay.db"),
        73,
        "/proc/assay.db",
    )
    (tmp_path / "not-a-database.db").write_bytes(
        b"hello, this is text and no database at all" * 100
    )
    expect(
        assay(
            "serve", "--stdio", "--device", "fake", "--store", str(tmp_path / "not-a-database.db")
        ),
        73,
        "not-a-database.db",
    )


REQUIRED = (
    "name",
    "split",
    "family",
    "dialect",
    "difficulty",
    "summary",
    "description",
    "entry",
    "signature",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Returns a copy of the source tree with only one operator."""
    root = tmp_path / "tree"
    shutil.copytree(ROOT / "operators/standard/vector_add", root / "operators/standard/vector_add")
    (root / "sandbox").mkdir()
    (root / "sandbox/harness").symlink_to(ROOT / "sandbox/harness")
    return root


@pytest.mark.parametrize("key", REQUIRED)
@pytest.mark.parametrize("how", ["missing", "misspelt"])
def test_spec_with_a_wrong_key(assay: Run, tree: Path, key: str, how: str) -> None:
    spec = tree / "operators/standard/vector_add/spec.toml"
    lines = spec.read_text().splitlines()
    index = next(i for i, line in enumerate(lines) if line.split("=")[0].strip() == key)
    if how == "misspelt":
        lines[index] = lines[index].replace(key, key + "x", 1)
    elif lines[index].count('"""') == 1:
        end = next(i for i in range(index + 1, len(lines)) if '"""' in lines[i])
        del lines[index : end + 1]
    else:
        del lines[index]
    spec.write_text("\n".join(lines))
    expect(assay("operators", "list", ASSAY_ROOT=str(tree)), 78, "spec.toml", key)


def test_too_few_open_files(binary: str, tmp_path: Path) -> None:
    def limit(hard: int) -> Callable[[], None]:
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (min(32, hard), hard))

    command = [binary, "serve", "--stdio", "--device", "fake", "--store", str(tmp_path / "a.db")]
    few = subprocess.run(
        command, input="", capture_output=True, text=True, timeout=60, preexec_fn=limit(64)
    )
    expect(few, 69, "open files", "the limit is 64", "ulimit -Hn", "LimitNOFILE=")
    # The server raises its soft limit by itself.
    enough = subprocess.run(
        command, input="", capture_output=True, text=True, timeout=60, preexec_fn=limit(4_096)
    )
    expect(enough, 0)
