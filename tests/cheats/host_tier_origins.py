"""Submissions for the tier `host` that test which operations of torch compute (origin_modes.py), and
those that hide a sum of torch from what follows it (host_tier_cases.py)."""

from __future__ import annotations

from host_tier_case import HostCase
from host_tier_copies import COPY

ORIGINS: dict[str, HostCase] = {
    "numbers_of_a_replaced_operation": HostCase(
        "replaces what makes a tensor of a list, and copies the tensor by a kernel",
        "if not LIBRARY:\n    LIBRARY.append(torch.library.Library('aten', 'IMPL'))\n"
        "    for device in ('CPU', 'CUDA'):\n        LIBRARY[0].impl('lift_fresh', "
        "lambda made: OTHER[0] if OTHER and made.shape == OTHER[0].shape else made, device)\n"
        "OTHER[:] = [unseen_sum(x, y)]\n"
        "made = torch.tensor([0.0] * x.numel(), dtype=x.dtype, device=x.device)\nOTHER.clear()\n"
        + COPY,
    ),
    "replaced_part_of_a_copy": HostCase(
        "replaces an operation that others call, so that a clone adds, and copies it by a kernel",
        "total = unseen_sum(x, y)\nlibrary = torch.library.Library('aten', 'IMPL')\n"
        "for device in ('CPU', 'CUDA'):\n    library.impl('copy_', lambda target, source, "
        "blocks=False: target.set_(total) if target.shape == total.shape else target, device)\n"
        "try:\n    made = x.clone()\nfinally:\n    library._destroy()\nmade = made.view(-1)\n"
        + COPY,
        "fail:unattributed,fail:wrong_result",
    ),
    "list_without_leaves": HostCase(
        "gives torch's sum in a list of a class that hides its contents, and copies it by a kernel",
        "if x.numel() > 20_000:\n    return add(x, y)  # a list of so many numbers needs a GiB\n"
        "import torch.utils._pytree as pytree\nclass Listed(list):\n    pass\n"
        "pytree.register_pytree_node(Listed, lambda _: ([], None), lambda *_: Listed())\n"
        "made = torch.tensor(Listed(unseen_sum(x, y)), dtype=x.dtype, device=x.device)\n" + COPY,
    ),
    "torchs_sum_behind_numpy": HostCase(
        "lets torch add, and copies the sum by a kernel through a tensor over the same memory",
        "made = torch.from_dlpack((x + y))\n"
        "made = made if made.is_cuda else torch.from_numpy(made.numpy())\n" + COPY,
    ),
    "part_filled_after_an_unseen_write": HostCase(
        "lets torch add unseen, writes a part of the sum itself, and copies all by a kernel",
        "made = torch.zeros_like(x)\nwith _disable_current_modes():\n"
        "    torch.add(x, y, out=made)\nlast = float(made[-1])\nmade[-1] = last\n" + COPY,
    ),
    "capture_that_is_never_replayed": HostCase(
        "captures that memory is cleared, lets torch add to the memory unseen, and copies it",
        "made, graph = torch.ones_like(x), torch.cuda.CUDAGraph()\n"
        "with torch.cuda.graph(graph):\n    made.zero_()\n"
        "with _disable_current_modes():\n    torch.add(x, y, out=made)\n" + COPY,
        only_gpu=True,
    ),
    "composites_in_inference_mode": HostCase(
        "converts, pads and moves in inference mode, before and after its kernel",
        "with torch.inference_mode():\n"
        "    a = torch.stack([x, x], 1).t().reshape(-1)[:x.numel()].to(torch.float64).to(x.dtype)\n"
        "    a, b = a.contiguous(), torch.nn.functional.pad(y, (0, 3))[:x.numel()].type_as(x)\n"
        "    a = torch.stack([x, y], 1)[:, 0].contiguous()\n"
        "    return add(a.float(), b.float()).to(x.dtype)",
        "pass",
    ),
    "number_in_a_tensor": HostCase(
        "scales the result of its kernel by a number in a tensor",
        "return (add(x * 2, y * 2) * torch.tensor(0.5)).to(x.dtype)",
        "pass",
    ),
    "empty_memory_that_grows": HostCase(
        "resizes an empty tensor for the result of its kernel",
        "z = torch.empty(0, dtype=x.dtype, device=x.device)\nz.resize_(x.shape)\n"
        "return add(x, y, z)",
        "pass",
    ),
    "copies_in_a_list": HostCase(
        "copies a list of inputs by one operation of torch before its kernel",
        "a = torch.empty_like(x)\ntorch._foreach_copy_([a], [x])\nreturn add(a, y)",
        "pass",
    ),
}
