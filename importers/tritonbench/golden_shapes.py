"""Lets the trace of a golden file continue after operations of torch that no launch plan can
contain, to find the shapes of a call's outputs. The plan of such a call is worthless. The file's
tier is `host`, and the outputs come from a GPU later.

    runner.use_arithmetic(ShapedArithmetic(runner.recorder))

A comparison whose result host code needs (torch.equal) is taken as false."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

import torch  # noqa: E402
from harness.recording.arithmetic import Arithmetic  # noqa: E402
from harness.recording.recorder import Recorder  # noqa: E402
from torch._subclasses.fake_tensor import (  # noqa: E402
    DataDependentOutputException,
    DynamicOutputShapeException,
)
from torch.utils._pytree import tree_flatten  # noqa: E402

_TAKEN_AS_FALSE = ("aten::equal",)


class ShapedArithmetic(Arithmetic):
    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self._of = recorder

    def perform(self, func: Any, args: Any, kwargs: Any) -> Any:
        performed = super().perform(func, args, kwargs)
        if performed is not None:
            return performed
        name = func._schema.name
        if name in _TAKEN_AS_FALSE:
            self._of.note(f"{name} is taken as false")
            return False
        try:
            out = func(*args, **kwargs)
        except (DataDependentOutputException, DynamicOutputShapeException):
            return None  # the result depends on values
        given = {id(x) for x in tree_flatten((args, kwargs))[0] if isinstance(x, torch.Tensor)}
        for tensor in tree_flatten(out)[0]:
            if isinstance(tensor, torch.Tensor) and id(tensor) not in given:
                self._of.storages.add(tensor, None)
        self._of.note(f"{name} has only its shape here")
        return out
