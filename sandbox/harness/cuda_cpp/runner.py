"""Record mode for CUDA C++ and HIP C++. A manifest takes the place of host code, and NVRTC or hipRTC
takes the place of Triton. The target decides which. The resulting launch plans have the same form as
those of Triton submissions.

    runner = CudaCppRunner("cuda:90")
    runner.load(source)  # reads the manifest; nothing is compiled yet
    reply, payload = runner.run_case(case)  # header and payload of a `case` frame

If several cases need the same kernels with the same defines, the runner compiles them only once."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from harness.cuda_cpp.amd_listing import ListingError, listings
from harness.cuda_cpp.arguments import parameters_of
from harness.cuda_cpp.case_names import CaseNames
from harness.cuda_cpp.hiprtc import HipProgram, HipRtc
from harness.cuda_cpp.launches import MAX_THREADS_PER_BLOCK, ResolvedLaunch, fills, resolve
from harness.cuda_cpp.manifest import Manifest
from harness.cuda_cpp.manifest_reader import read_manifest
from harness.cuda_cpp.nvrtc import Nvrtc, Program
from harness.entry.cases import CaseInput
from harness.entry.errors import CudaCompilationError, ManifestError, NotRecordable
from harness.entry.fake_cuda import device_facts
from harness.recording import plan as plans

NAME_MAP = "__nv_name_map"  # NVRTC's log lists the requested kernel names under this name
_Key = tuple[tuple[str, ...], tuple[str, ...]]  # (kernels, defines)


@dataclass
class _Use:
    """The facts about one kernel of the current case that the report needs."""

    symbol: str
    launch: ResolvedLaunch  # the launch with the most blocks
    launches: int = 1


class CudaCppRunner:
    """Records the cases of one submission (see the module's docstring)."""

    stage = "record"

    def __init__(self, target: str) -> None:
        self._target = target
        self._is_amd = target.startswith("hip:")
        self._compiler: Nvrtc | HipRtc = HipRtc.load() if self._is_amd else Nvrtc.load()
        self._source = ""
        self._manifest: Manifest | None = None
        self._programs: dict[_Key, Program | HipProgram] = {}

    def load(self, source: str) -> None:
        """Reads the manifest. Raises ManifestError, or MissingEntry if there is none."""
        self._source, self._manifest = source, read_manifest(source)

    def run_case(self, case: CaseInput) -> tuple[dict[str, Any], bytes]:
        manifest = self._manifest
        if manifest is None:
            raise RuntimeError("load() comes before run_case()")
        plan = plans.Plan(self._target)
        names = CaseNames(manifest, case, plan, self._target)
        plan.ops += fills(manifest, names)
        launches = list(resolve(manifest, names))
        if self._is_amd:
            for launch in launches:
                _check_amd(launch)
        program = self._compiled(manifest, names, launches)
        if isinstance(program, HipProgram):
            program.code.check_calls()
        uses: dict[tuple[str, int], _Use] = {}
        binaries: dict[tuple[str, int], int] = {}
        for launch in launches:
            symbol = program.lowered[launch.kernel]
            key = symbol, launch.shared_bytes
            if key not in binaries:
                self._check_shared(launch, program.static_shared_bytes(symbol))
                plan.binaries.append(plans.Binary(symbol, launch.shared_bytes, program.image))
                binaries[key] = len(plan.binaries) - 1
            if isinstance(program, HipProgram):
                _check_threads(launch, program.max_threads(symbol))
            params = parameters_of(launch, program.parameters(symbol), names)
            plan.ops.append(
                plans.Kernel(
                    binaries[key], launch.grid, launch.block, launch.cluster, _flags(launch), params
                )
            )
            _count(uses, key, symbol, launch)
        for output in names.outputs:
            plan.outputs.append(
                plans.Output(
                    output.index,
                    0,
                    output.facts.dtype,
                    list(output.facts.shape),
                    list(output.facts.strides),
                )
            )
        try:
            encoded = plan.encode()
        except plans.PlanTooLarge as error:
            raise NotRecordable(str(error)) from error
        return {
            "type": "case",
            "id": case.id,
            "kernels": [self._report(program, use) for use in uses.values()],
            "notes": [],
        }, encoded

    def artifacts(self) -> Iterator[tuple[str, str, bytes]]:
        """Yields (kind, name, text) for the PTX of every compiled program, or for the assembly of every
        kernel of AMD's. Yields no assembly without the library that disassembles."""
        for (kernels, _), program in self._programs.items():
            if isinstance(program, HipProgram):
                try:
                    for symbol, text in listings(program.image, self._target):
                        if symbol in program.lowered.values():
                            yield "amdgcn", symbol, text.encode()
                except ListingError as error:
                    print(f"no assembly: {error}", file=sys.stderr)
            else:
                yield "ptx", ", ".join(kernels)[:200], program.ptx.encode()

    def _compiled(
        self, manifest: Manifest, names: CaseNames, launches: list[ResolvedLaunch]
    ) -> Program | HipProgram:
        kernels = tuple(sorted({launch.kernel for launch in launches}))
        defines = tuple(
            f"--define-macro={name}={_literal(names.number(value))}"
            for name, value in manifest.defines.items()
        )
        key = kernels, defines
        if key not in self._programs:
            try:
                self._programs[key] = self._compiler.compile(
                    self._source, self._target, kernels, [*manifest.options, *defines]
                )
            except CudaCompilationError as error:
                raise _explained(error, launches) from None
        return self._programs[key]

    def _check_shared(self, launch: ResolvedLaunch, static_bytes: int) -> None:
        limit, total = (
            int(device_facts(self._target).shared_memory_per_block_optin),
            launch.shared_bytes + static_bytes,
        )
        if total > limit:
            raise ManifestError(
                "value_error",
                f"{launch.entry.where}: {total} bytes of shared memory per block, {static_bytes} of them static; the limit is {limit}",
                launch.entry.shared.line,
            )

    def _report(self, program: Program | HipProgram, use: _Use) -> dict[str, Any]:
        figures = program.resources(use.symbol)
        lanes = int(device_facts(self._target).warp_size)
        x, y, z = use.launch.block
        return {
            "name": use.launch.kernel,
            "symbol": use.symbol,
            "target": self._target,
            "num_warps": -(-min(x * y * z, MAX_THREADS_PER_BLOCK) // lanes),
            "num_stages": 0,
            "registers": figures.registers,
            "spill_bytes": figures.spill_bytes,
            "shared_bytes": use.launch.shared_bytes + program.static_shared_bytes(use.symbol),
            "binary_bytes": len(program.image),
            "grid": list(use.launch.grid),
            "launches": use.launches,
        }


def _check_amd(launch: ResolvedLaunch) -> None:
    """Refuses by name what AMD's GPUs lack."""
    entry = launch.entry
    lacks = {
        "clusters": launch.cluster != (1, 1, 1),
        "dependent launches": entry.dependent_launch,
        "tensor maps": any(argument.tensor_map is not None for argument in entry.arguments),
    }
    for what, used in lacks.items():
        if used:
            raise ManifestError(
                "value_error", f"{entry.where}: AMD GPUs have no {what}", entry.line
            )


def _check_threads(launch: ResolvedLaunch, most: int) -> None:
    x, y, z = launch.block
    if x * y * z > most:
        raise ManifestError(
            "value_error",
            f"{launch.entry.where}: a block has {x * y * z} threads; the kernel was compiled for at most {most} (__launch_bounds__)",
            launch.entry.block[0].line,
        )


def _flags(launch: ResolvedLaunch) -> int:
    entry = launch.entry
    return (plans.COOPERATIVE if entry.cooperative else 0) | (
        plans.DEPENDENT_LAUNCH if entry.dependent_launch else 0
    )


def _count(
    uses: dict[tuple[str, int], _Use], key: tuple[str, int], symbol: str, launch: ResolvedLaunch
) -> None:
    use = uses.get(key)
    if use is None:
        uses[key] = _Use(symbol, launch)
        return
    use.launches += 1
    use.launch = max(use.launch, launch, key=lambda one: one.grid[0] * one.grid[1] * one.grid[2])


def _literal(value: float) -> str:
    return str(int(value)) if isinstance(value, bool) else repr(value)


def _explained(error: CudaCompilationError, launches: list[ResolvedLaunch]) -> CudaCompilationError:
    """Returns the error with the line that helps its author. If the source lacks a kernel, NVRTC
    reports a position outside of the source. The returned error then has the manifest's line for
    that kernel. Any other error is returned unchanged."""
    first = re.search(r"^(\S+)\(\d+\): .*error", str(error), re.MULTILINE)
    if error.line is not None or first is None or first.group(1) != NAME_MAP:
        return error
    named = [
        launch
        for launch in launches
        if launch.kernel.partition("<")[0].rpartition("::")[2] in str(error)
    ]
    return CudaCompilationError(str(error), named[0].entry.line if named else None)
