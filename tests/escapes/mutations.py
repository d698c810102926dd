"""Runs the escape suite once for each isolation layer of the jail, with that layer left out. At
least one case must then fail; otherwise no case tests the layer.

    python tests/escapes/mutations.py --binary build/mutations/bin/assay \
        --out bench-out/escapes/mutations.json [--layers seccomp,no_dumps] [--jobs 4] [--resume]

For each layer, the script first runs the cases that name the layer as their defence. If all of
these pass, it runs all cases, unless elsewhere.py says why none can fail. Some layers have a cover:
another layer that stops the same attempts. The script then leaves out the layer together with its
cover. More cases must then fail than if only the cover is left out.

With `--jobs`, several layers are left out at the same time, each in servers of its own, which share
neither folders nor System V objects. A layer of ALONE is left out alone, because without it a case
can disturb other servers. With `--seconds` no layer begins after that time, and with `--resume` the
layers that are in the file --out are not run again. The exit status is always 0, because the
result is a table for people (docs/reference/generated/escapes.md)."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "common")]

from case_file import all_cases, read_case  # noqa: E402
from elsewhere import COVERED_BY, WHY_NO_CASE_FAILS, ZYGOTE_LAYERS  # noqa: E402

ROOT = HERE.parent.parent
TOGETHER = sorted((HERE / "together").glob("*.py"))
FILES_BESIDE_CASES = ["test_two_jobs.py", "test_supervisor_death.py"]
LAUNCHER_TESTS = "tests/escapes/test_launch_jail.py"
TIMEOUT_S = 1_800
# Two servers of one user give their candidates the same user ids, and use the same processors and
# the same memory. Without one of these layers, a case can reach the candidates of another server.
ALONE = {
    "pid_namespace",
    "zygote_pid_namespace",
    "user_namespace",
    "slot_user",
    "capabilities",
    "no_dumps",
    "cgroup_cpu",
    "cgroup_memory",
    "cgroup_pids",
    "job_limits",
    "job_network_namespace",
    "network_namespace",
}


def layers_of(binary: str) -> list[str]:
    """Returns the layers that the build can leave out. The error message for an unknown layer lists
    them."""
    done = subprocess.run(
        [binary, "eval", "vector_add", "/dev/null", "--without", "?"],
        capture_output=True,
        text=True,
    )
    _, found, names = done.stderr.strip().partition("valid: ")
    if not found:
        raise SystemExit(f"{binary} leaves nothing out: {done.stderr.strip()}")
    return names.split(", ")


def is_only_slow(problems: list[str]) -> bool:
    """Returns whether the only problem is that a verdict took too long. That happens on a busy
    machine and does not show that a layer is missing."""
    return bool(problems) and all(problem.startswith("the verdict took") for problem in problems)


def pytest_run(
    binary: str, layer: str, tests: list[str], marked: str = "not gpu"
) -> tuple[dict[str, Any], list[str]]:
    """Runs tests, and those that fail once more. Returns the results by case, and the names of the
    tests that failed both times. So a failure that a busy machine has caused does not count."""
    seen, failed = _pytest_once(binary, layer, tests, marked)
    if failed:
        again, failed = _pytest_once(binary, layer, failed, marked)
        seen |= again
    return seen, [name.split("::")[-1] for name in failed]


def _pytest_once(
    binary: str, layer: str, tests: list[str], marked: str
) -> tuple[dict[str, Any], list[str]]:
    """Returns the results by case, and the node ids of the tests that failed."""
    with tempfile.TemporaryDirectory() as scratch:
        results, report = Path(scratch) / "results.json", Path(scratch) / "report.xml"
        environment = {
            **os.environ,
            "ASSAY_BIN": binary,
            "ASSAY_WITHOUT": layer,
            "ASSAY_ESCAPES_RESULTS": str(results),
        }
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            f"--junit-xml={report}",
            "-m",
            marked,
            *tests,
        ]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S
        )
        failed = [
            line.split()[1]
            for line in done.stdout.splitlines()
            if line.startswith(("FAILED ", "ERROR "))
        ]
        if not failed and done.returncode not in (0, 5):
            raise RuntimeError(
                f"pytest ended with status {done.returncode} without {layer}: {done.stdout[-3000:]}{done.stderr[-2000:]}"
            )
        seen = json.loads(results.read_text()) if results.exists() else {}
        slow = {
            f"test_case[{name}]" for name, found in seen.items() if is_only_slow(found["problems"])
        }
        return seen, [name for name in failed if name.split("::")[-1] not in slow]


def red_without_both(binary: str, layer: str, cover: str) -> list[str]:
    """Runs the tests that name the layer or its cover. Returns the tests that fail if both layers
    are left out, but not if only the cover is left out."""
    if layer.startswith("launch_"):
        tests, marked = [LAUNCHER_TESTS], "launcher"
    else:
        tests, marked = tests_naming(layer, cover), "not gpu"
    without = [
        set(pytest_run(binary, layers, tests, marked)[1]) for layers in (cover, f"{cover},{layer}")
    ]
    return sorted(without[1] - without[0])


def tests_naming(*layers: str) -> list[str]:
    """Returns the tests that name one of the layers as their defence."""
    wanted = set(layers)
    tests = [
        f"tests/escapes/test_escapes.py::test_case[{case.name}]"
        for case in all_cases()
        if wanted & set(case.defences) and case.needs != "gpu"
    ]
    tests += [
        f"tests/escapes/test_two_jobs.py::test_together[{path.stem}]"
        for path in TOGETHER
        if wanted & set(read_case(path).defences)
    ]
    if wanted & {"parent_death", "pid_namespace", "zygote_pid_namespace", "job_parent_death"}:
        tests.append("tests/escapes/test_supervisor_death.py")
    if wanted & ZYGOTE_LAYERS:
        tests.append("tests/escapes/test_zygote_state.py")
    return tests


def red_without(binary: str, layer: str, quick: bool) -> dict[str, Any]:
    if layer.startswith("launch_"):  # a layer of the launcher's jail; no candidate enters that jail
        _, failed = pytest_run(binary, layer, [LAUNCHER_TESTS], "launcher")
        return {"ran": "the attempts on the launcher", "red": failed, "problems": {}}
    tests = tests_naming(layer)
    seen, failed = pytest_run(binary, layer, tests) if tests else ({}, [])
    ran = "the cases that name it"
    if not failed and not (quick and tests):
        ran = "the short version" if quick else "every case"
        every = [
            "tests/escapes/test_escapes.py",
            *(f"tests/escapes/{name}" for name in FILES_BESIDE_CASES),
        ]
        seen, failed = pytest_run(binary, layer, every, "short" if quick else "not gpu")
    problems = {name: found["problems"] for name, found in seen.items() if found["problems"]}
    return {"ran": ran, "red": failed, "problems": problems}


def main() -> int:
    parser = argparse.ArgumentParser(
        description="The escape suite with each layer left out in turn."
    )
    parser.add_argument("--binary", default=str(ROOT / "build/mutations/bin/assay"))
    parser.add_argument("--out", type=Path, default=ROOT / "bench-out/escapes/mutations.json")
    parser.add_argument(
        "--layers", default="", help="some of them, separated by commas; default: all"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="if no case that names a layer turns red, do not run the others "
        "(for a layer that no case names: run the short cases)",
    )
    parser.add_argument("--jobs", type=int, default=1, help="layers at the same time")
    parser.add_argument("--resume", action="store_true", help="keep the results that --out has")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no layer after this time")
    arguments = parser.parse_args()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    keeps = arguments.out.exists() and (arguments.layers or arguments.resume)
    matrix: dict[str, Any] = json.loads(arguments.out.read_text()) if keeps else {}
    layers = arguments.layers.split(",") if arguments.layers else layers_of(arguments.binary)
    if arguments.resume:
        layers = [layer for layer in layers if layer not in matrix]
    end, lock = time.monotonic() + arguments.seconds, threading.Lock()

    def leave_out(layer: str) -> None:
        if time.monotonic() > end:
            return
        found = without(arguments.binary, layer, arguments.quick)
        with lock:
            matrix[layer] = found
            arguments.out.write_text(json.dumps(matrix, indent=1, sort_keys=True) + "\n")
            print(f"{layer:24s} {said_of(found)}", flush=True)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(leave_out, [layer for layer in layers if layer not in ALONE]))
    for layer in layers:
        if layer in ALONE:
            leave_out(layer)
    print(f"{len(matrix)} layers have results", flush=True)
    return 0


def without(binary: str, layer: str, quick: bool) -> dict[str, Any]:
    """Leaves out a layer and, if no case notices and it has a cover, both."""
    cover = COVERED_BY.get(layer, "")
    # If it is known that no case can fail when only this layer is left out, only the cases that name
    # the layer run.
    known = bool(cover) or layer in WHY_NO_CASE_FAILS
    found = red_without(binary, layer, quick or known)
    if cover and not found["red"]:
        found |= {"cover": cover, "red_with_cover": red_without_both(binary, layer, cover)}
    return found


def said_of(found: dict[str, Any]) -> str:
    text = ", ".join(found["red"]) or "NOBODY NOTICES"
    if "cover" not in found:
        return text
    both = ", ".join(found["red_with_cover"]) or "nobody"
    return f"{text} without {found['cover']} as well: {both}"


if __name__ == "__main__":
    sys.exit(main())
