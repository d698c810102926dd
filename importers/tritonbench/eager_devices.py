"""Finds the results that a reference leaves on the CPU although its arguments are on a GPU. A function
such as torch.logspace() makes its result on the CPU if the call names no device.

    form.on_cpu = left_on_the_cpu(form, module)  # {"[0]"}: the paths of results, as in Call.returned

No GPU is needed: the call runs on fake tensors (FakeTensorMode), which have a device, a shape and a
dtype, and no values. The file is untrusted, so this module is used only inside the jail."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import torch
from eager_calls import tensors_in
from eager_form import Form
from torch._subclasses.fake_tensor import FakeTensorMode

GPU = "cuda"


def left_on_the_cpu(form: Form, module: ModuleType) -> set[str]:
    """Returns the paths of these results. Returns an empty set if the call needs values, because then
    it cannot run on fake tensors."""
    names: dict[str, Any] = dict(vars(module))
    names["torch"] = torch
    call = compile(form.first.text, "call", "eval", dont_inherit=True)
    try:
        with FakeTensorMode(), torch.no_grad():
            given = {
                leaf.name: torch.empty(leaf.value.shape, dtype=leaf.value.dtype, device=GPU)
                if isinstance(leaf.value, torch.Tensor)
                else leaf.value
                for leaf in form.first.leaves
            }
            result = eval(call, names, given)
            return {path for path, value in tensors_in(result, "") if value.device.type == "cpu"}
    except Exception:
        return set()
