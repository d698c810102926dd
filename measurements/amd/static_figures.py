"""Compiles the oracles for AMD's targets, compares the metadata of each code object with the launch
plan, and writes the table of registers, LDS and occupancy.

    ASSAY_NATIVE_DIR=build/release/harness python measurements/amd/static_figures.py \\
        measurements/results/amd-static.json [--target hip:gfx942 ...] [OPERATOR ...]

Each oracle is recorded in its own process, because recording replaces Triton's driver. A later call
with the same file adds what is not in it. Nothing runs on a GPU. The figures are those of the public
case that is named `large`, or of the last public case. `differences()` is the comparison that
tests/operators/test_amd_code_objects.py makes too."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "sandbox"))
TARGETS = ("hip:gfx90a", "hip:gfx942", "hip:gfx950")
LANES = 64
SEED = 7
FOLDERS = ("standard", "ood")


@dataclass(frozen=True)
class Unit:
    """The limits of a compute unit, from AMD's CDNA2, CDNA3 and CDNA4 documents."""

    lds_bytes: int
    simds: int = 4
    waves_per_simd: int = 8
    registers_per_simd: int = 512  # per lane
    register_granularity: int = 8


UNITS = {
    "hip:gfx90a": Unit(64 << 10),
    "hip:gfx942": Unit(64 << 10),
    "hip:gfx950": Unit(160 << 10),
}


def waves_per_unit(unit: Unit, threads: int, registers: int, lds_bytes: int) -> tuple[int, str]:
    """Returns how many waves of a kernel run at a time on one compute unit, and what limits the
    number."""
    waves = -(-threads // LANES)
    granule = unit.register_granularity
    rounded = max(granule, -(-registers // granule) * granule)
    by_registers = unit.simds * min(unit.waves_per_simd, unit.registers_per_simd // rounded)
    most = unit.simds * unit.waves_per_simd
    bounds = {
        "waves": most // waves,
        "registers": by_registers // waves,
        "LDS": unit.lds_bytes // lds_bytes if lds_bytes else most,
    }
    limiter = min(bounds, key=lambda name: bounds[name])
    return bounds[limiter] * waves, limiter


def differences(target: str, binary: Any, operation: Any) -> list[str]:
    """Returns where the metadata of a plan's code object differs from the plan's launch of it."""
    from harness.recording.code_object import packed_offsets, read_code_object
    from harness.recording.plan import Scalar

    found = []
    code = read_code_object(binary.image)
    kernel = code.kernel(binary.kernel)
    if code.target != target:
        found.append(f"the target is {code.target}")
    sizes = [param.size if isinstance(param, Scalar) else 8 for param in operation.params]
    declared = [argument.size for argument in kernel.arguments]
    if sizes != declared:
        found.append(f"the sizes of the arguments are {declared}, the plan has {sizes}")
    offsets = [argument.offset for argument in kernel.arguments]
    if packed_offsets(sizes) != offsets:
        found.append(f"the offsets are {offsets}, the launcher packs at {packed_offsets(sizes)}")
    end = max((argument.offset + argument.size for argument in kernel.arguments), default=0)
    if kernel.argument_bytes < end:
        found.append(f"the arguments take {end} bytes of {kernel.argument_bytes}")
    if kernel.wave_size != LANES:
        found.append(f"a wave has {kernel.wave_size} lanes")
    x, y, z = operation.block
    if x * y * z > kernel.max_threads:
        found.append(f"a block has {x * y * z} threads, the kernel allows {kernel.max_threads}")
    lds = kernel.lds_bytes + binary.shared_bytes
    if lds > UNITS[target].lds_bytes:
        found.append(f"a block needs {lds} bytes of LDS")
    return found


def load_entry(source: Path, entry: str) -> Any:
    import importlib.util

    spec = importlib.util.spec_from_file_location("submission", source)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["submission"] = module
    spec.loader.exec_module(module)
    return getattr(module, entry)


def public_case(spec: dict[str, Any], name: str = "") -> dict[str, Any]:
    public = [case for case in spec["cases"] if case["visibility"] == "public"]
    wanted = name or "large"
    return next((case for case in public if case["id"] == wanted), public[-1])


def recorded_plan(folder: Path, target: str, case: str = "") -> Any:
    """Returns the plan of an operator's oracle. It replaces Triton's driver in this process."""
    import torch
    from harness.operator import Operator
    from harness.recording.record import RecordRunner

    operator = Operator.load(folder)
    with tempfile.TemporaryDirectory(prefix="triton-cache-") as cache:
        runner = RecordRunner(target, cache, alternatives=False)
        recorder = runner.recorder
        with runner.context():
            entry = load_entry(folder / "oracle.py", operator.spec["entry"])
        structural = {one.name for one in operator.arguments if one.role == "structural"}
        wire = operator.case(public_case(operator.spec, case), "cpu")
        shapes = operator.shapes(wire) if not structural else None
        arguments = shapes if shapes is not None else operator.inputs(wire, SEED)
        recorder.begin_case()
        fakes = {
            name: recorder.argument(
                name,
                value.dtype,
                value.shape,
                value.stride(),
                value if name in structural else None,
            )
            if isinstance(value, torch.Tensor)
            else value
            for name, value in arguments.items()
        }
        with runner.context():
            returned = entry(*fakes.values())
        values = iter(returned if isinstance(returned, tuple | list) else [returned])
        outputs = [fakes[one.source] if one.source else next(values) for one in operator.outputs]
        recorder.finish(outputs)
        return recorder.plan


def kernels_of(target: str, plan: Any) -> Iterator[dict[str, Any]]:
    from harness.recording.code_object import read_code_object
    from harness.recording.plan import Kernel

    seen = set()
    for operation in plan.simple_ops():
        if not isinstance(operation, Kernel) or operation.binary in seen:
            continue
        seen.add(operation.binary)
        binary = plan.binaries[operation.binary]
        kernel = read_code_object(binary.image).kernel(binary.kernel)
        x, y, z = operation.block
        lds = kernel.lds_bytes + binary.shared_bytes
        waves, limiter = waves_per_unit(UNITS[target], x * y * z, kernel.vector_registers, lds)
        yield {
            "kernel": binary.kernel,
            "threads": x * y * z,
            "vector_registers": kernel.vector_registers,
            "accumulation_registers": kernel.accumulation_registers,
            "scalar_registers": kernel.scalar_registers,
            "lds_bytes": lds,
            "scratch_bytes": kernel.scratch_bytes,
            "vector_spills": kernel.vector_spills,
            "waves_per_unit": waves,
            "limiter": limiter,
            "differences": differences(target, binary, operation),
        }


def in_child(folder: Path, target: str) -> dict[str, Any]:
    """Records in a forked process, and returns the figures or the error."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            plan = recorded_plan(folder, target)
            answer: dict[str, Any] = {"kernels": list(kernels_of(target, plan))}
        except Exception as error:
            print(traceback.format_exc(limit=-3), file=sys.stderr)
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        with os.fdopen(write, "w") as stream:
            json.dump(answer, stream)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"error": "the process ended without an answer"}


def operators(names: list[str]) -> list[Path]:
    found = [
        path.parent for one in FOLDERS for path in (ROOT / "operators" / one).glob("*/oracle.py")
    ]
    unknown = sorted(set(names) - {path.name for path in found})
    if unknown:
        raise SystemExit(f"there is no operator {', '.join(unknown)} in {', '.join(FOLDERS)}")
    return sorted(path for path in found if not names or path.name in names)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("result", type=Path)
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--target", action="append", choices=TARGETS)
    options = parser.parse_intermixed_args()
    found: dict[str, dict[str, Any]] = {}
    if options.result.exists():
        found = json.loads(options.result.read_text())["operators"]
    began = time.monotonic()
    import harness.recording.record  # noqa: F401  (the children inherit the imports)

    for target in options.target or TARGETS:
        for folder in operators(options.operators):
            if target in found.setdefault(folder.name, {}):
                continue
            found[folder.name][target] = in_child(folder, target)
            result = {"measured_on": "compiled without a GPU; nothing was run", "operators": found}
            options.result.write_text(json.dumps(result, indent=1) + "\n")
            print(
                target, folder.name, round(time.monotonic() - began, 1), file=sys.stderr, flush=True
            )


if __name__ == "__main__":
    main()
