"""Records submissions without a GPU and captures them as CUDA graphs on a GPU. Checks that the plan
and the graph contain the same kernels."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
for folder in (HERE, ROOT / "tests/cheats", ROOT / "tests/common", ROOT / "tests/sandbox/harness"):
    sys.path.insert(0, str(folder))

from cheat_file import honest_ones  # noqa: E402
from graph_agreement import differences  # noqa: E402
from plan_reader import read_plan  # noqa: E402

OPERATORS = {
    path.parent.name: path.parent for path in sorted((ROOT / "operators").glob("*/*/spec.toml"))
}
HONEST = {case.name: case for case in honest_ones() if not case.refused}
MODES = ("record", "capture")
WORKERS = max(1, min(8, (os.cpu_count() or 1) // 2))  # processes for each mode
SECONDS = 600  # the longest wait for a result; its process may compute other results first
Found = dict[str, dict[str, object]]


class Sides:
    """Computes the plan and the graph of every selected test in other processes, before the tests
    need them."""

    def __init__(self, tasks: list[dict[str, str]], folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        for mode in MODES:
            (folder / mode).mkdir()
            for number in range(min(WORKERS, len(tasks))):
                listed = folder / f"{mode}.{number}.json"
                listed.write_text(json.dumps(tasks[number::WORKERS]))
                arguments = [
                    os.environ.get("ASSAY_PYTHON", sys.executable),
                    str(HERE / "plan_sides.py"),
                    mode,
                    str(listed),
                    str(folder / mode),
                ]
                no_gpu = {"CUDA_VISIBLE_DEVICES": ""} if mode == "record" else {}
                log = (folder / f"{mode}.{number}.log").open("wb")
                command = [*arguments, *([target()] if mode == "record" else [])]
                self.processes.append(
                    subprocess.Popen(command, env={**os.environ, **no_gpu}, stdout=log, stderr=log)
                )

    def of(self, mode: str, name: str) -> Found:
        found, error = self.folder / mode / f"{name}.json", self.folder / mode / f"{name}.error"
        end = time.monotonic() + SECONDS
        while not found.exists():
            assert not error.exists(), f"{mode}: {error.read_text()}"
            ended = (
                all(process.poll() is not None for process in self.processes)
                and not found.exists()
                and not error.exists()
            )
            assert not ended, "\n".join(
                log.read_text(errors="replace")[-2000:] for log in self.folder.glob(f"{mode}.*.log")
            )
            assert time.monotonic() < end, f"{mode}: nothing after {SECONDS} s"
            time.sleep(0.05)
        return json.loads(found.read_text())  # type: ignore[no-any-return]

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()


def task_of(item: pytest.Item, folder: Path) -> dict[str, str] | None:
    """Returns the task of a selected test of this file. Returns None for other tests."""
    if not isinstance(item, pytest.Function) or Path(item.fspath) != Path(__file__):
        return None
    name = str(item.callspec.params["name"])
    if item.originalname == "test_oracles":
        operator = OPERATORS[name]
        return (
            None
            if needs_tlx(operator / "oracle.py")
            else {"name": name, "operator": str(operator), "source": str(operator / "oracle.py")}
        )
    source = folder / f"{name}.py"
    source.write_text(HONEST[name].source_for_any_process())
    return {
        "name": f"honest.{name}",
        "operator": str(OPERATORS[HONEST[name].operator]),
        "source": str(source),
    }


@pytest.fixture(scope="module")
def sides(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sides]:
    folder = tmp_path_factory.mktemp("sides")
    both = Sides(
        [task for item in request.session.items if (task := task_of(item, folder))], folder
    )
    yield both
    both.close()


def needs_tlx(source: Path) -> bool:
    """Returns whether a source needs TLX and TLX is not installed. TLX is a dialect in a fork of
    Triton. measurements/tlx_plans.py runs plans of such sources on a GPU."""
    return (
        "extra.tlx" in source.read_text()
        and importlib.util.find_spec("triton.language.extra.tlx") is None
    )


def target() -> str:
    query = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader", "--id=0"]
    return "cuda:" + subprocess.run(
        query, check=True, capture_output=True, text=True
    ).stdout.strip().replace(".", "")


def compare(sides: Sides, name: str, may_refuse: bool) -> None:
    recorded, captured = (sides.of(mode, name) for mode in MODES)
    assert recorded and recorded.keys() == captured.keys()
    refused = {case: found["error"] for case, found in captured.items() if "error" in found}
    problems = {
        case: differences(read_plan(bytes.fromhex(str(recorded[case]["plan"]))), found)
        for case, found in captured.items()
        if case not in refused
    }
    assert not any(problems.values()), json.dumps(problems, indent=1)
    assert may_refuse or not refused, refused
    if refused:
        pytest.skip(f"a CUDA graph cannot capture it: {refused}")


@pytest.mark.gpu
@pytest.mark.parametrize("name", OPERATORS)
def test_oracles(name: str, sides: Sides) -> None:
    if needs_tlx(OPERATORS[name] / "oracle.py"):
        pytest.skip("this Triton has no TLX")
    compare(sides, name, may_refuse=False)


@pytest.mark.gpu
@pytest.mark.parametrize("name", HONEST)
def test_honest_submissions(name: str, sides: Sides) -> None:
    compare(sides, f"honest.{name}", may_refuse=True)
