"""Tells whether an operation of torch still is torch's own. A submission may register code of its own
for it (torch.library), which then runs in its place.

    kernels = TorchKernels()  # before the submission is imported
    if kernels.unchanged(torch.ops.aten.copy_.default): ..."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch

# Modules of torch register Python code for shapes when they are first imported. It computes no
# values.
_WITHOUT_VALUES = ("Meta", "SparseMeta", "SparseCsrMeta")


class TorchKernels:
    def __init__(self, names: Collection[str] | None = None) -> None:
        """`names` are the names of the operations, without overloads. Without it, all operations of
        torch count, of which there are thousands."""
        self._before = {
            name: _registered(name)
            for name in torch._C._dispatch_get_all_op_names()
            if name.startswith(("aten::", "prims::"))
            and (names is None or name.split(".")[0] in names)
        }

    def unchanged(self, func: Any) -> bool:
        """Returns False for an operation that is none of these."""
        name = func.name()
        return name in self._before and _registered(name) == self._before[name]

    def all_unchanged(self) -> bool:
        return all(_registered(name) == before for name, before in self._before.items())


def _registered(name: str) -> int:
    """Returns a digest of what runs for each kind of tensor."""
    lines = torch._C._dispatch_dump(name).splitlines()
    return hash(tuple(line for line in lines if not line.startswith(_WITHOUT_VALUES)))
