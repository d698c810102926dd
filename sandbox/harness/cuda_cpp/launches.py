"""Computes the launches of one case. The module evaluates conditions, unrolls repeated launches,
and checks every extent against the device's limits.

    for launch in resolve(manifest, names):  # in order; at most as many as a plan holds
        print(launch.kernel)

Arguments are converted later (arguments.py), because they need the parameters of the compiled
kernel."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.cuda_cpp.case_names import ROUND, CaseNames, Dims, Names, wrong
from harness.cuda_cpp.expressions import TensorFacts
from harness.cuda_cpp.manifest import Expression, LaunchEntry, Manifest, fill_holes, holes
from harness.entry.fake_cuda import device_facts
from harness.recording import plan as plans
from harness.recording.storage import uniform
from harness.wire.tensors import dtype_from

MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_BLOCKS_PER_CLUSTER = 16
FIRST_WITH_CLUSTERS = 9  # major version of the first target that supports clusters
CPP_TYPES = {
    "float64": "double",
    "float32": "float",
    "float16": "__half",
    "bfloat16": "__nv_bfloat16",
    "float8_e4m3fn": "__nv_fp8_e4m3",
    "float8_e5m2": "__nv_fp8_e5m2",
    "int64": "long long",
    "int32": "int",
    "int16": "short",
    "int8": "signed char",
    "uint8": "unsigned char",
    "uint32": "unsigned int",
    "bool": "bool",
}


# The names that differ for AMD's GPUs. Their float8 types are not those of torch.float8_e4m3fn on
# every GPU, so there are none.
HIP_TYPES = {"bfloat16": "__hip_bfloat16", "float8_e4m3fn": "", "float8_e5m2": ""}


@dataclass(frozen=True)
class ResolvedLaunch:
    entry: LaunchEntry
    kernel: str  # the kernel's C++ name, for example "softmax<256, float>"
    grid: Dims
    block: Dims
    cluster: Dims
    shared_bytes: int
    # The names that the launch's arguments may use, with their values.
    names: Names = field(hash=False, compare=False)


def fills(manifest: Manifest, names: CaseNames) -> list[plans.Fill]:
    """Returns the fills that precede the first launch."""
    found = []
    for name, expression in manifest.fills.items():
        if name not in names.fillable:
            raise wrong(
                "value_error",
                f"only outputs and scratch can be filled; valid: {', '.join(names.fillable) or 'none'}",
                expression,
            )
        buffer = names.buffers[name]
        element = uniform(dtype_from(buffer.facts.dtype), names.number(expression))
        if buffer.nbytes:
            found.append(
                plans.Fill(buffer.index, 0, buffer.facts.numel, element.width, element.pattern)
            )
    return found


def resolve(manifest: Manifest, names: CaseNames) -> Iterator[ResolvedLaunch]:
    """Yields the launches in order. Leaves out launches whose condition is false, and launches that
    have no blocks."""
    room = plans.MAX_OPERATIONS - len(manifest.fills)
    for entry in manifest.launches:
        if not names.number(entry.when):
            continue
        rounds = names.extent(entry.repeat)
        if rounds > room:
            raise wrong(
                "value_error",
                f"{rounds} launches; one call has at most {plans.MAX_OPERATIONS} launches and fills",
                entry.repeat,
            )
        room -= rounds
        for number in range(rounds):
            launch = _launch(entry, names, {**names.values, ROUND: number})
            if 0 not in launch.grid:
                yield launch


def _launch(entry: LaunchEntry, case: CaseNames, names: Names) -> ResolvedLaunch:
    grid = case.dims(entry.grid, names, MAX_GRID, 0)
    block = case.dims(entry.block, names, MAX_BLOCK, 1)
    if math.prod(block) > MAX_THREADS_PER_BLOCK:
        raise wrong(
            "value_error",
            f"{list(block)} has {math.prod(block)} threads; the limit is {MAX_THREADS_PER_BLOCK}",
            entry.block[0],
        )
    cluster = case.dims(entry.cluster, names, (MAX_BLOCKS_PER_CLUSTER,) * 3, 1)
    if cluster != (1, 1, 1):
        _check_cluster(entry.cluster[0], case.target, grid, cluster)
    return ResolvedLaunch(
        entry,
        _kernel(entry, case, names),
        grid,
        block,
        cluster,
        case.extent(entry.shared, names),
        names,
    )


def _check_cluster(at: Expression, target: str, grid: Dims, cluster: Dims) -> None:
    if target.startswith("hip:"):
        raise wrong("value_error", f"{target} has no clusters: AMD GPUs have none", at)
    if device_facts(target).major < FIRST_WITH_CLUSTERS:
        raise wrong(
            "value_error", f"{target} has no clusters; cuda:90 and newer targets have them", at
        )
    if math.prod(cluster) > MAX_BLOCKS_PER_CLUSTER:
        raise wrong(
            "value_error",
            f"{list(cluster)} has {math.prod(cluster)} blocks; the limit is {MAX_BLOCKS_PER_CLUSTER}",
            at,
        )
    if any(extent % size for extent, size in zip(grid, cluster, strict=True)):
        raise wrong(
            "value_error",
            f"the grid {list(grid)} is not a multiple of the cluster {list(cluster)}",
            at,
        )


def _cpp_type(entry: LaunchEntry, target: str, dtype: str) -> str:
    name = CPP_TYPES[dtype]
    if target.startswith("hip:"):
        name = HIP_TYPES.get(dtype, name)
    if not name:
        raise wrong(
            "type_error",
            f"{dtype} has no C++ type for AMD's GPUs; write the kernel's type, and pass its bytes",
            Expression(entry.kernel, f"{entry.where}: kernel", entry.line),
        )
    return name


def _kernel(entry: LaunchEntry, case: CaseNames, names: Names) -> str:
    values = []
    for hole in holes(entry.kernel):
        name, _, fact = hole.strip().partition(".")
        tensor = names.get(name)
        if fact == "dtype" and isinstance(tensor, TensorFacts):
            values.append(_cpp_type(entry, case.target, tensor.dtype))
            continue
        at = Expression(hole, f"{entry.where}: kernel", entry.line)
        value = case.number(at, names)
        if isinstance(value, float):
            raise wrong(
                "type_error",
                f"{{{hole}}} is {value}; a template takes integers, and types as in {{x.dtype}}",
                at,
            )
        values.append(str(value).lower() if isinstance(value, bool) else str(value))
    return fill_holes(entry.kernel, values)
