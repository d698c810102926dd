"""Writes the operators of a server as task folders for Harbor, which verifiers, NeMo-Gym and SkyRL
read too. The agent writes /app/kernel.py, and the verifier sends the file to the server.

    assay export harbor tasks --operators vector_add,relu          # operators of this machine
    python -m assay.adapters.harbor_tasks --url http://127.0.0.1:8080 --out tasks vector_add relu

The verifier reads ASSAY_URL, ASSAY_TOKEN, ASSAY_REWARD and ASSAY_MODE. It writes reward.json with the
reward and further numbers. If the result says nothing about the kernel, it writes no reward and
ends with an error, so Harbor reports an error and not the reward 0."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.client import Client

CANNOT_WRITE = 73  # the exit status of `assay`, which docs/reference/cli.md lists
SCHEMA_VERSION = "1.1"
DOCKERFILE = """FROM python:3.11-slim
WORKDIR /app
"""
TEST_SH = """#!/bin/sh
exec python3 /tests/evaluate.py
"""
# Runs in the verifier's container, so it uses only the standard library.
EVALUATE = '''"""Sends /app/kernel.py to an Assay server and writes the reward."""

import json
import os
import pathlib
import sys
import urllib.request

task = json.loads(pathlib.Path("/tests/task.json").read_text())
root = pathlib.Path(os.environ.get("HARBOR_ROOT", "/"))
kernel = root / "app/kernel.py"
source = kernel.read_text(errors="replace") if kernel.is_file() else "# no file kernel.py\\n"
policy = os.environ.get("ASSAY_REWARD", "kevin")
body = {
    "evaluations": [
        {
            "operator": task["operator"],
            "source": source or "# kernel.py is empty\\n",
            "mode": os.environ.get("ASSAY_MODE", "test"),
        }
    ],
    "wait_ms": 60000,
    "rewards": [policy],
}
headers = {"Content-Type": "application/json"}
if os.environ.get("ASSAY_TOKEN"):
    headers["Authorization"] = "Bearer " + os.environ["ASSAY_TOKEN"]
while True:  # the same evaluation has the same id, so nothing is judged twice
    request = urllib.request.Request(
        os.environ["ASSAY_URL"] + "/v1/evaluate", json.dumps(body).encode(), headers
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        result = json.load(answer)["evaluations"][0]
    if result["state"] not in ("queued", "running"):
        break
print(result.get("feedback") or result)
reward = result.get("rewards", {}).get(policy)
if reward is None:
    sys.exit("no reward: the result says nothing about the kernel")
numbers = {"reward": reward, "correct": int(result["correct"]), "suspect": int(result["suspect"])}
numbers.update({key: result[key] for key in ("perf", "sol") if result[key] is not None})
out = root / "logs/verifier"
out.mkdir(parents=True, exist_ok=True)
(out / "reward.json").write_text(json.dumps(numbers))
'''


def task_toml(operator: dict[str, Any]) -> str:
    """Returns task.toml. JSON strings are valid TOML strings."""
    return f"""schema_version = "{SCHEMA_VERSION}"

[task]
name = {json.dumps("assay/" + operator["operator"])}
description = {json.dumps(operator["summary"])}
keywords = {json.dumps([operator["split"], operator["family"], operator["dialect"]])}

[metadata]
difficulty = {operator["difficulty"]}

[verifier]
timeout_sec = 600.0
env = {{ ASSAY_URL = "${{ASSAY_URL}}", ASSAY_TOKEN = "${{ASSAY_TOKEN:-}}" }}

[agent]
timeout_sec = 1800.0

[environment]
build_timeout_sec = 600.0
"""


def write_task(folder: Path, operator: dict[str, Any]) -> None:
    instruction = (
        operator["prompt"] + "\n\nWrite the whole source into the file /app/kernel.py. "
        "It is judged after you have finished.\n"
    )
    files = {
        "task.toml": task_toml(operator),
        "instruction.md": instruction,
        "environment/Dockerfile": DOCKERFILE,
        "tests/test.sh": TEST_SH,
        "tests/evaluate.py": EVALUATE,
        "tests/task.json": json.dumps({"operator": operator["operator"]}) + "\n",
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "tests/test.sh").chmod(0o755)


def write_tasks(client: Client, out: Path, names: Sequence[str] = ()) -> list[Path]:
    """Writes one folder for each operator of a server. Returns the folders."""
    return write_operators(out, client.operators(names, prompts=True))


def write_operators(out: Path, operators: Iterable[dict[str, Any]]) -> list[Path]:
    folders = []
    for operator in operators:
        folder = out / str(operator["operator"])
        write_task(folder, operator)
        folders.append(folder)
    return folders


def export(operators: Path, out: Path) -> int:
    """Writes the folders for a file with one operator a line, as `assay export harbor` makes it.
    `out` is complete as soon as it exists. Returns the number of folders."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OSError("it exists and is not empty; name a new folder")
    staging = out.with_name(f".{out.name}.staging-{os.getpid()}")
    try:
        staging.mkdir(parents=True)
        lines = operators.read_text(encoding="utf-8").splitlines()
        folders = write_operators(staging, (json.loads(line) for line in lines))
        if out.exists():
            out.rmdir()
        staging.replace(out)
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(staging)
    return len(folders)


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes task folders for Harbor.")
    parser.add_argument("--url", default=os.environ.get("ASSAY_URL", "http://127.0.0.1:8080"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--input", type=Path, help="a file of operators instead of a server's")
    parser.add_argument("operators", nargs="*", help="default: all operators of the server")
    arguments = parser.parse_args()
    if arguments.input:
        try:
            count = export(arguments.input, arguments.out)
        except OSError as error:
            print(f"assay export harbor: {arguments.out}: {error}", file=sys.stderr)
            return CANNOT_WRITE
    else:
        from assay.client import Client

        with Client(arguments.url, os.environ.get("ASSAY_TOKEN")) as client:
            count = len(write_tasks(client, arguments.out, arguments.operators))
    print(f"{count} tasks in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
