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
    def __init__(
        self, names: Collection[str] | None = None, overloads: Collection[str] = ()
    ) -> None:
        """`names` are the names of the operations, without overloads, and `overloads` are names of
        single overloads. Without both, all operations of torch count, of which there are
        thousands."""
        every = names is None and not overloads
        self._before = {
            name: _registered(torch._C._dispatch_dump(name))
            for name in torch._C._dispatch_get_all_op_names()
            if name.startswith(("aten::", "prims::"))
            and (every or name in overloads or name.split(".")[0] in (names or ()))
        }
        # What torch last said about an unchanged operation. The text is compared with it first,
        # because most of the time goes into the comparison of the lines.
        self._seen: dict[str, str] = {}

    def unchanged(self, func: Any) -> bool:
        """Returns False for an operation that is none of these."""
        name = func.name()
        return name in self._before and self._is_as_before(name)

    def all_unchanged(self) -> bool:
        return all(map(self._is_as_before, self._before))

    def _is_as_before(self, name: str) -> bool:
        now = torch._C._dispatch_dump(name)
        if now == self._seen.get(name):
            return True
        if _registered(now) != self._before[name]:
            return False
        self._seen[name] = now
        return True


def _registered(dump: str) -> int:
    """Returns a digest of what runs for each kind of tensor."""
    lines = dump.splitlines()
    return hash(tuple(line for line in lines if not line.startswith(_WITHOUT_VALUES)))
