"""Runs one worker on a Ray cluster for a server, which starts this command for each worker:

    python -m assay.ray worker --num-gpus 1 -- assay worker --device cuda:0

The frames of the server and of the worker pass through stdin and stdout."""

from __future__ import annotations

import argparse
import os
import sys


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m assay.ray", description=__doc__)
    commands = made.add_subparsers(dest="command", required=True)
    worker = commands.add_parser("worker", help="run one worker in an actor, for a server")
    worker.add_argument("--address", default="auto", help="of the Ray cluster (default: auto)")
    worker.add_argument("--num-gpus", type=float, default=0, help="GPUs of the actor (default: 0)")
    worker.add_argument("--num-cpus", type=float, default=1, help="processors (default: 1)")
    worker.add_argument("--accelerator-type", help="such as H100: a node with this accelerator")
    worker.add_argument(
        "--resource",
        action="append",
        default=[],
        metavar="NAME=AMOUNT",
        help="a custom resource of the node; may be repeated",
    )
    worker.add_argument(
        "worker", nargs="+", help="the command on the node, after --: assay worker --device cuda:0"
    )
    return made


def resources_of(words: list[str]) -> dict[str, float]:
    resources = {}
    for word in words:
        name, _, amount = word.partition("=")
        try:
            resources[name] = float(amount)
        except ValueError:
            raise SystemExit(f"--resource {word}: write NAME=AMOUNT, such as fast_disk=1") from None
    return resources


def main() -> int:
    options = parser().parse_args()
    # Ray and its libraries print to stdout, which must have only frames.
    frames = os.dup(1)
    os.dup2(2, 1)
    from assay.ray.actors import Placement
    from assay.ray.bridge import Bridge

    placement = Placement(
        options.num_gpus,
        options.num_cpus,
        options.accelerator_type,
        resources_of(options.resource),
    )
    return Bridge(options.address, placement, options.worker, frames).run()


if __name__ == "__main__":
    sys.exit(main())
