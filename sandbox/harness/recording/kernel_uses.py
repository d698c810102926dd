"""Collects the kernels of a recording: their binaries in the plan, and a report for each kernel.

    uses = KernelUses("cuda:90")
    uses.begin()
    index = uses.binary(draft.plan, kernel)
    uses.count(kernel, grid)
    reports = uses.reports()

The resources (registers, shared memory, ...) are read once from each binary, however many cases
launch the kernel. Not thread-safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.recording import plan as plans
from harness.recording.code_object import read_code_object
from harness.recording.launches import KernelImage
from harness.recording.resources import Resources, read_resources


@dataclass
class _Use:
    kernel: KernelImage
    grid: tuple[int, int, int]  # the grid of the largest launch
    launches: int


class KernelUses:
    """The kernels of one plan (see the module's docstring)."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._figures: dict[int, tuple[KernelImage, Resources]] = {}
        self.begin()

    def begin(self) -> None:
        """Starts a new plan."""
        self._binaries: dict[int, int] = {}
        self._uses: dict[int, _Use] = {}

    def binary(self, plan: plans.Plan, kernel: KernelImage) -> int:
        """Returns the kernel's index in the plan. The first call for a kernel adds it to the
        plan. Raises UnsupportedHere if the kernel calls the host on an AMD GPU."""
        if id(kernel) not in self._binaries:
            if self._target.startswith("hip:"):
                read_code_object(kernel.image).check_calls()
            plan.binaries.append(plans.Binary(kernel.name, kernel.shared_bytes, kernel.image))
            self._binaries[id(kernel)] = len(plan.binaries) - 1
        return self._binaries[id(kernel)]

    def count(self, kernel: KernelImage, grid: tuple[int, int, int]) -> None:
        use = self._uses.setdefault(id(kernel), _Use(kernel, grid, 0))
        use.launches += 1
        use.grid = max(use.grid, grid, key=lambda one: one[0] * one[1] * one[2])

    def kernels(self) -> list[KernelImage]:
        """Returns the kernels in the order of their first launch."""
        return [use.kernel for use in self._uses.values()]

    def reports(self) -> list[dict[str, Any]]:
        return [self._report(use) for use in self._uses.values()]

    def _report(self, use: _Use) -> dict[str, Any]:
        kernel = use.kernel
        if id(kernel) not in self._figures:
            self._figures[id(kernel)] = (
                kernel,
                read_resources(self._target, kernel.image, kernel.text("amdgcn")),
            )
        figures = self._figures[id(kernel)][1]
        return {
            "name": kernel.name,
            "target": self._target,
            "num_warps": kernel.num_warps,
            "num_stages": kernel.num_stages,
            "registers": figures.registers,
            "spill_bytes": figures.spill_bytes,
            "shared_bytes": kernel.shared_bytes,
            "binary_bytes": len(kernel.image),
            "grid": list(use.grid),
            "launches": use.launches,
        }
