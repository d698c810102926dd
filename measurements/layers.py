"""Measures the cost of each isolation layer of the jails. There are three durations: to park a
candidate, to start a launcher, and to get a warm verdict. Each is measured with all layers, with no
layer, and with each layer left out in turn.

    cmake --preset mutations
    ninja -C build/mutations assay assay-jail assay-launcher assay-park _native \
        assay_fake_cuda_guard
    python measurements/layers.py --out measurements/results/layers-cpu.json

A variant is a set of layers that are left out. The variants are divided into batches. The processes
of all variants of a batch exist at the same time. A batch is measured in rounds: in each round, its
variants are measured one after the other, and each round begins with a different variant. Every
batch contains the variant with all layers. For each other variant, `saves_ms` is the median, over
the rounds, of the time with all layers minus the time of that variant. A verdict is a `run_tests`
of vector_add on the CPU with a parked candidate. A launcher uses the fake driver, so that nearly
all of its start is the creation of its jail."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from environment import environment
from stdio_client import StdioClient, serve_command

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/escapes"), str(ROOT / "sandbox")]
from launcher import Launcher  # noqa: E402

ORACLE = (ROOT / "operators/standard/vector_add/oracle.py").read_text()
ALL, NONE = "all layers", "no layer"
# The number of variants in a batch, besides ALL and NONE. Each variant is a server with a zygote
# and a judge, which need about 400 MiB.
BATCH = 8
PAUSE_S = 0.1  # a pause before each sample, in which the server replaces ended processes

# These layers are built once for all candidates. They affect a candidate's start only indirectly.
OF_THE_ZYGOTE = (
    "user_namespace",
    "network_namespace",
    "ipc_namespace",
    "uts_namespace",
    "mount_namespace",
    "root_filesystem",
    "proc",
    "descriptors",
    "session",
    "parent_death",
)
# These layers are left out only in the variant without any layer. If only the zygote's pid
# namespace is left out, the zygote cannot return to the host's pid namespace after a fork. So it
# would fork only one candidate.
NOT_ALONE = ("zygote_pid_namespace",)

Sample = Callable[[], float]  # milliseconds
Samples = dict[str, list[float]]


def layers_of(binary: Path) -> list[str]:
    """Returns the layers that the build can leave out. Finds them in the error message for the
    unknown layer `?`."""
    command = [str(binary / "assay"), "eval", "vector_add", "/dev/null", "--without", "?"]
    names = (
        subprocess.run(command, capture_output=True, text=True)
        .stderr.strip()
        .partition("valid: ")[2]
    )
    if not names:
        raise SystemExit(f"{binary} leaves no layer out; build the preset `mutations`")
    return names.split(", ")


def parking(binary: Path, python: str, folder: Path, without: str, stack: ExitStack) -> Sample:
    command = [
        str(binary / "assay-park"),
        python,
        str(ROOT / "sandbox/harness"),
        str(binary / "assay-jail"),
        str(folder),
    ]
    process = subprocess.Popen(
        [*command, *([without] if without else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    stdin, stdout = process.stdin, process.stdout
    stack.callback(lambda: (stdin.close(), process.wait(30)))
    started = False

    def park() -> float:
        nonlocal started
        if not started and stdout.readline() != "ready\n":
            raise SystemExit(f"no zygote without {without}")
        started = True
        stdin.write("\n")
        stdin.flush()
        return int(stdout.readline()) / 1e6

    return park


def verdicts(binary: Path, python: str, folder: Path, without: str, stack: ExitStack) -> Sample:
    left_out = ("--without", without) if without else ()
    client = StdioClient(
        serve_command(binary / "assay", "cpu", folder / "assay.db", *left_out),
        {**os.environ, "ASSAY_STATE_DIR": str(folder), "ASSAY_PYTHON": python},
    )
    stack.callback(client.close)

    def verdict() -> float:
        code = f"{ORACLE}\n# {os.urandom(8).hex()}\n"
        begin = time.perf_counter()
        answer = client.call(
            "run_tests", {"operator": "vector_add", "code": code, "response_format": "detailed"}
        )["structuredContent"]
        took = (time.perf_counter() - begin) * 1e3
        # Only the first call can return before the verdict is ready, while torch is still being
        # imported.
        while answer.get("status") in ("queued", "running"):
            answer = client.call(
                "job", {"job": answer["job"], "wait_s": 20, "response_format": "detailed"}
            )["structuredContent"]
        missing = answer.get("provenance", {}).get("missing_layers", [])
        # The verdict must list the layer that was left out. If several layers were left out, it is
        # enough that the verdict lists one of them: without a mount namespace, for example, the
        # verdict does not list the missing mounts.
        told = without in ("", *missing) or ("," in without and missing)
        if answer.get("outcome") != "pass" or not told:
            raise SystemExit(f"without {without}: {json.dumps(answer)[:600]}")
        return took

    return verdict


def launching(binary: Path, python: str, folder: Path, without: str, stack: ExitStack) -> Sample:
    def launcher() -> float:
        begin = time.perf_counter()
        with Launcher(binary, without=without) as started:
            started.ready()
            return (time.perf_counter() - begin) * 1e3

    return launcher


Kind = Callable[[Path, str, Path, str, ExitStack], Sample]


def measure(kind: Kind, layers: list[str], options: argparse.Namespace) -> Iterator[Samples]:
    """Yields the samples of each variant, batch by batch, in the order of the rounds."""
    single = [layer for layer in layers if not options.layers or layer in options.layers.split(",")]
    for first in range(0, len(single), BATCH):
        variants = {
            ALL: "",
            NONE: ",".join(layers),
            **{layer: layer for layer in single[first : first + BATCH]},
        }
        with ExitStack() as stack:
            folders = {
                name: Path(stack.enter_context(tempfile.TemporaryDirectory())) for name in variants
            }
            samples = {
                name: kind(options.binary, options.python, folders[name], without, stack)
                for name, without in variants.items()
            }
            for sample in samples.values():
                sample()  # the first sample starts the processes
            batch: Samples = {name: [] for name in variants}
            names = list(variants)
            for turn in range(options.rounds):
                for at in range(len(names)):
                    time.sleep(PAUSE_S)
                    name = names[(turn + at) % len(names)]
                    batch[name].append(round(samples[name](), 3))
        print(f"{kind.__name__}: {', '.join(list(variants)[2:])}", flush=True)
        yield batch


def summary(batches: list[Samples]) -> dict[str, Any]:
    def median_of(name: str) -> float:
        return round(statistics.median(value for batch in batches for value in batch[name]), 2)

    saves = {}
    for batch in batches:
        for name in batch.keys() - {ALL, NONE}:
            saves[name] = round(
                statistics.median(a - b for a, b in zip(batch[ALL], batch[name], strict=True)), 2
            )
    none = round(
        statistics.median(
            a - b for batch in batches for a, b in zip(batch[ALL], batch[NONE], strict=True)
        ),
        2,
    )
    ordered = dict(sorted(saves.items(), key=lambda pair: -pair[1]))
    return {
        "median_ms": {ALL: median_of(ALL), NONE: median_of(NONE)},
        "saves_ms": {NONE: none, **ordered},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--binary", type=Path, default=ROOT / "build/mutations/bin", help="folder of the programs"
    )
    parser.add_argument(
        "--python", default=os.environ.get("ASSAY_PYTHON", str(ROOT / ".venv/bin/python"))
    )
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument(
        "--kinds",
        default="parking,launching,verdicts",
        help="measurements to make, separated by commas",
    )
    parser.add_argument(
        "--layers",
        default="",
        help="layers to leave out singly, separated by commas; default: each",
    )
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    names = layers_of(options.binary)
    launch = [name for name in names if name.startswith("launch_")]
    job = sorted(
        (name for name in names if name not in launch and name not in NOT_ALONE),
        key=lambda name: name in OF_THE_ZYGOTE,
    )
    result: dict[str, Any] = {
        "what": __doc__,
        "summary": {},
        "environment": environment(),
        "samples_ms": {},
    }
    every: list[tuple[Kind, list[str]]] = [(parking, job), (launching, launch), (verdicts, job)]
    kinds = [(kind, layers) for kind, layers in every if kind.__name__ in options.kinds.split(",")]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for kind, layers in kinds:
        batches = result["samples_ms"].setdefault(kind.__name__, [])
        # Writes the result after each batch, because all batches together take long.
        for batch in measure(kind, layers, options):
            batches.append(batch)
            result["summary"][kind.__name__] = summary(batches)
            result["load_after"] = os.getloadavg()[0]
            options.out.write_text(json.dumps(result, separators=(",", ":")) + "\n")
    print(json.dumps(result["summary"], indent=1))


if __name__ == "__main__":
    main()
