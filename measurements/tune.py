"""Measures variants of oracles together with the oracles themselves, to find the fastest correct
version on this GPU.

    python measurements/tune.py variants/ --device cuda:0 --workers 12 --out bench-out/tune.json

A variant is a file OPERATOR.NAME.py that contains the whole source of an oracle. The script calls
each variant on the case `large` and on one public case with awkward sizes, and compares the outputs
with the reference by the operator's rules. It times variants and the repository's oracle in turns
on `large`, by CUDA events with a cold L2. There is no sandbox, so use the script only for trusted
sources. `--workers` processes run at the same time, one for each operator. While a process
measures, no other process uses the GPU. The report gives each variant's time divided by the
oracle's time; a number below 1 means that the variant is faster."""

from __future__ import annotations

import argparse
import importlib.util
import json
import signal
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from environment import environment
from pytorch_times import LARGE, ROOT, SEED, each_in_a_process, exclusive, samples_ns, shared

ROUNDS = 3
AHEAD_CYCLES = 1_000_000  # about 0.5 ms of idle GPU, in which the host queues a variant's launches
CHECK_LIMIT_S = 60  # the time limit for the check of one variant, including compilation
ORACLE = "oracle"


def entry_of(source: Path, name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"tuned_{abs(hash(source))}", source)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def copied(arguments: dict[str, Any]) -> dict[str, Any]:
    import torch

    return {
        name: value.clone() if isinstance(value, torch.Tensor) else value
        for name, value in arguments.items()
    }


def error_of(operator: Any, case: Any, arguments: dict[str, Any], entry: Any) -> str:
    """Returns the reason why the output of `entry` on the case is wrong, or "" if it is right."""
    from harness.judging.compare import compare
    from harness.judging.rules import rules_for

    given = copied(arguments)
    returned = entry(**given)
    values = iter(returned if isinstance(returned, tuple | list) else [returned])
    outputs = [
        given[output.source] if output.source else next(values) for output in operator.outputs
    ]
    result = compare(rules_for(operator, case), operator.expected(case, arguments), outputs, None)
    return "" if result.ok else f"{case.id}: {result.reason}"


def measure(folder: Path, sources: dict[str, Path], device: str, lock: Any) -> dict[str, Any]:
    """Returns one operator's samples by variant, and the error of each variant without samples."""
    import torch
    from harness.operator import Operator

    torch.cuda.set_device(device)
    operator = Operator.load(folder)
    public = [case for case in operator.spec["cases"] if case["visibility"] == "public"]
    cases = [
        operator.case(wire, device)
        for wire in public
        if wire["id"] == LARGE or "awkward" in wire["id"]
    ]
    entries: dict[str, Any] = {}
    wrong: dict[str, str] = {}
    with shared(lock):
        arguments = {case.id: operator.inputs(case, SEED) for case in cases}
        for name, source in sources.items():
            # The alarm ends this process, because a kernel that hangs stops only when its process
            # ends.
            signal.alarm(CHECK_LIMIT_S)
            try:
                entry = entry_of(source, operator.spec["entry"])
                errors = [error_of(operator, case, arguments[case.id], entry) for case in cases]
                if any(errors):
                    wrong[name] = "; ".join(filter(None, errors))[:500]
                else:
                    entries[name] = entry
            except Exception as error:
                wrong[name] = f"{type(error).__name__}: {error}"[:500]
        signal.alarm(0)
        torch.cuda.empty_cache()
    given = copied(arguments[LARGE])
    samples: dict[str, list[float]] = {name: [] for name in entries}
    with exclusive(lock):
        for _ in range(ROUNDS):
            for name, entry in entries.items():
                samples[name] += samples_ns(lambda entry=entry: entry(**given), AHEAD_CYCLES)
    return {"operator": operator.name, "samples_ns": samples, "wrong": wrong}


def work(folder: Path, names: list[str], device: str, lock_path: str) -> int:
    """Runs as a worker process. Prints one line of JSON for each operator."""
    folders = {path.parent.name: path.parent for path in (ROOT / "operators").glob("*/*/spec.toml")}
    with Path(lock_path).open("w") as lock:
        for name in names:
            versions = {
                path.name.removeprefix(f"{name}.").removesuffix(".py"): path
                for path in sorted(folder.glob(f"{name}.*.py"))
            }
            try:
                entry = measure(
                    folders[name], {ORACLE: folders[name] / "oracle.py", **versions}, device, lock
                )
            except Exception as error:
                entry = {
                    "operator": name,
                    "samples_ns": {},
                    "wrong": {"": f"{type(error).__name__}: {error}"[:500]},
                }
            print(json.dumps(entry), flush=True)
    return 0


def show(entry: dict[str, Any]) -> None:
    medians = {name: statistics.median(samples) for name, samples in entry["samples_ns"].items()}
    base = medians.get(ORACLE)
    print(
        f"{entry['operator']}: oracle {base / 1e3:.1f} us"
        if base
        else f"{entry['operator']}: no time of the oracle"
    )
    for name, median in sorted(medians.items(), key=lambda one: one[1]):
        if name != ORACLE:
            print(
                f"    {name:24} {median / 1e3:10.1f} us"
                + (f"  {median / base:.3f}" if base else "")
            )
    for name, why in entry["wrong"].items():
        print(f"    {name:24} WRONG {why[:200]}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--operators", nargs="*", default=[])
    parser.add_argument(
        "--seconds",
        type=float,
        default=3600.0,
        help="limit for the whole run; unfinished operators are stopped then",
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.operators or sorted(
        {path.name.partition(".")[0] for path in options.folder.glob("*.*.py")}
    )
    if options.work:
        return work(options.folder, names, options.device, options.work)
    with tempfile.NamedTemporaryFile() as lock:
        command = [
            sys.executable,
            __file__,
            str(options.folder),
            "--device",
            options.device,
            "--work",
            lock.name,
            "--operators",
        ]
        lines = each_in_a_process(command, names, options.workers, options.seconds)
    entries = sorted(map(json.loads, lines), key=lambda entry: entry["operator"])
    for entry in entries:
        show(entry)
    missing = sorted(set(names) - {entry["operator"] for entry in entries})
    if missing:
        print(f"no result of {', '.join(missing)}")
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(
            json.dumps({"what": __doc__, "environment": environment(), "operators": entries}) + "\n"
        )
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
