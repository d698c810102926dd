"""Submissions for the tier `host` in which something else than their kernels computes, and a kernel
only passes the result on, or gets the blame for it (host_tier_cases.py)."""

from __future__ import annotations

from host_tier_case import HostCase

COPY = "z = torch.empty_like(x)\n_copy[grid(x)](made, z, x.numel(), BLOCK=WIDTH)\nreturn z"

COPIES: dict[str, HostCase] = {
    "copied_by_a_kernel": HostCase(
        "lets torch add, and copies the sum by a kernel", "made = x + y\n" + COPY
    ),
    "nothing_added_by_a_kernel": HostCase(
        "lets torch add, and adds zeros by a kernel", "return add(x + y, torch.zeros_like(x))"
    ),
    "halves_added_by_a_kernel": HostCase(
        "lets torch add, and adds the halves of the sum by a kernel",
        "half = ((x + y).float() / 2).to(x.dtype)\nreturn add(half, half)",
    ),
    "scaled_and_copied": HostCase(
        "lets torch add and double the sum, copies it by a kernel, and halves it",
        "made = (x + y) * 2\nz = torch.empty_like(x)\n"
        "_copy[grid(x)](made, z, x.numel(), BLOCK=WIDTH)\nreturn z / 2",
    ),
    "rows_summed_and_copied": HostCase(
        "lets torch sum two rows, and copies the sum by a kernel",
        "made = torch.stack([x, y]).sum(0).to(x.dtype)\n" + COPY,
    ),
    "list_added_and_copied": HostCase(
        "lets torch add lists of tensors, and copies the sum by a kernel",
        "made = torch._foreach_add([x], [y])[0]\n" + COPY,
    ),
    "product_of_matrices_copied": HostCase(
        "lets torch multiply by a matrix of ones, and copies the product by a kernel",
        "made = (torch.stack([x, y], 1).float() @ torch.ones(2, device=x.device)).to(x.dtype)\n"
        + COPY,
    ),
    "bits_copied": HostCase(
        "lets torch add, and gives the bits of the sum to kernels as integers",
        "made = joined(add(halves_of_sums(x, y), torch.zeros(2 * x.numel(), dtype=torch.int64, "
        "device=x.device)), x)\nreturn made",
    ),
    "added_to_an_input_and_copied": HostCase(
        "lets torch add to a copy of an input, part by part, and copies it by a kernel",
        "made = x.clone()\npart = x.numel() // 20 + 1\nfor at in range(0, x.numel(), part):\n"
        "    made[at:at + part] += y[at:at + part]\n" + COPY,
    ),
    "mapped_and_copied": HostCase(
        "adds by a function of torch that is no operation of aten, and copies by a kernel",
        "made = torch.func.vmap(torch.add)(x, y)\n" + COPY,
    ),
    "custom_op_and_copied": HostCase(
        "lets torch add inside an operation of its own, and copies the sum by a kernel",
        "made = torch.ops.host_tier.add(x, y)\n" + COPY,
    ),
    "without_modes_and_copied": HostCase(
        "lets torch add while no mode of torch sees it, and copies the sum by a kernel",
        "with _disable_current_modes():\n    made = x + y\n" + COPY,
    ),
    "into_new_memory_without_modes_and_copied": HostCase(
        "lets torch add into memory that it has allocated before, while no mode sees it, and copies "
        "the sum by a kernel",
        "made = torch.zeros_like(x)\n"
        "with _disable_current_modes():\n    torch.add(x, y, out=made)\n" + COPY,
    ),
    "by_a_thread_and_copied": HostCase(
        "lets torch add in another thread, and copies the sum by a kernel",
        "parts = []\nin_a_thread(lambda: parts.append(x + y))\nmade = parts[0]\n" + COPY,
    ),
    "into_an_input_by_a_thread_and_copied": HostCase(
        "lets torch add to an input in another thread, and copies the sum by a kernel",
        "kept = x.clone()\nin_a_thread(lambda: torch.add(x, y, out=x))\nmade = x\n"
        + COPY.replace("return z", "x.copy_(kept)\nreturn z"),
    ),
    "by_dlpack_and_copied": HostCase(
        "lets torch add into a second tensor over memory that a kernel then copies",
        "made = torch.zeros_like(x)\ntorch.add(x, y, out=torch.from_dlpack(made))\n" + COPY,
    ),
    "by_a_library_and_copied": HostCase(
        "calls a BLAS library by ctypes, and copies the sum by a kernel",
        "made = library_adds(x.float(), y.float().clone()).to(x.dtype)\n" + COPY,
    ),
    "through_a_kernels_indices": HostCase(
        "lets torch add, and selects by indices of a kernel, forwards and back",
        "at = torch.empty(x.numel(), dtype=torch.int64, device=x.device)\n"
        "_indices[grid(x)](at, x.numel(), BLOCK=WIDTH)\nreturn (x + y)[at][at]",
    ),
    "scratch_of_torch": HostCase(
        "lets a kernel add torch's sum and nothing, through scratch memory that a kernel has filled",
        "part = torch.empty_like(x)\n_copy[grid(x)](x, part, x.numel(), BLOCK=WIDTH)\n"
        "_copy[grid(x)](part + y, part, x.numel(), BLOCK=WIDTH)\n"
        "return add(part, torch.zeros_like(x))",
    ),
    "table_of_torchs_sums": HostCase(
        "lets torch add, and gives the sum to a kernel in a table of pointers",
        "made, zeros, z = x + y, torch.zeros_like(x), torch.empty_like(x)\n"
        "table = torch.tensor([t.data_ptr() for t in (made, zeros, z)], device=x.device)\n"
        "kind = tl.float16 if x.dtype is torch.float16 else tl.float32\n"
        "_add_by_table[grid(x)](table, x.numel(), KIND=kind, BLOCK=WIDTH)\nreturn z",
    ),
    "thread_that_writes_all_the_time": HostCase(
        "lets torch add in another thread again and again, while a kernel without effect runs on the "
        "memory, and raises an exception if kernels do nothing",
        "z, ended = torch.zeros_like(x), threading.Event()\nassert kernels_run(x)\n"
        "def adding():\n    while not ended.is_set():\n        torch.add(x, y, out=z)\n"
        "thread = threading.Thread(target=adding)\nthread.start()\n"
        "_nothing[grid(x)](z, x.numel(), BLOCK=WIDTH)\nended.set()\nthread.join()\nreturn z",
        "fail:unattributed,fail:wrong_result",
    ),
    "sparse_and_copied": HostCase(
        "lets torch add sparse tensors, and copies the sum by a kernel",
        "made = (x.float().to_sparse() + y.float().to_sparse()).to_dense().to(x.dtype)\n" + COPY,
    ),
    "own_class_and_copied": HostCase(
        "lets torch add inside a class of tensors of its own, when it is scaled, and copies the sum",
        "made = torch.Tensor._make_subclass(Scaled, x)\nScaled.other = y\nmade = made * 1\n" + COPY,
    ),
    "replaced_operation_and_copied": HostCase(
        "replaces an operation of torch by an addition, and copies the sum by a kernel",
        "replace_negative()\nOTHER[:] = [y]\nmade = -x\n" + COPY,
    ),
    "data_and_copied": HostCase(
        "lets torch add unseen, makes the sum the data of a tensor, and copies it by a kernel",
        "made, total = x.clone(), unseen_sum(x, y)\nmade.data = total\n" + COPY,
    ),
    "storage_and_copied": HostCase(
        "lets torch add unseen, copies the sum's storage over another, and copies it by a kernel",
        "made, total = x.clone(), unseen_sum(x, y)\n"
        "made.untyped_storage().copy_(total.untyped_storage())\n" + COPY,
    ),
    "set_and_copied": HostCase(
        "lets torch add unseen, gives the sum's storage to a tensor, and copies it by a kernel",
        "made = x.clone()\nmade.set_(unseen_sum(x, y))\n" + COPY,
    ),
    "exchanged_and_copied": HostCase(
        "lets torch add unseen, exchanges the sum with a tensor, and copies it by a kernel",
        "made, total = x.clone(), unseen_sum(x, y)\ntorch.utils.swap_tensors(made, total)\n" + COPY,
    ),
    "copied_while_no_mode_sees_it": HostCase(
        "lets torch add, and copies the sum by a kernel, while no mode of torch sees it",
        "z = torch.empty_like(x)\nwith _disable_current_modes():\n"
        "    _copy[grid(x)](x + y, z, x.numel(), BLOCK=WIDTH)\nreturn z",
    ),
    "gradient_and_copied": HostCase(
        "lets torch compute the sum as a gradient, and copies it by a kernel",
        "with torch.enable_grad():\n    ones = torch.ones_like(x).requires_grad_()\n"
        "    made, = torch.autograd.grad((ones * x + ones * y).sum(), ones)\n" + COPY,
    ),
    "hook_before_a_copy": HostCase(
        "lets torch add in a hook before a kernel that copies",
        "made, z = torch.zeros_like(x), torch.empty_like(x)\n_copy.pre_run_hooks.clear()\n"
        "_copy.add_pre_run_hook(lambda source, *_, **__: torch.add(x, y, out=made))\n"
        "_copy[grid(x)](made, z, x.numel(), BLOCK=WIDTH)\n_copy.pre_run_hooks.clear()\nreturn z",
    ),
    "grid_before_a_copy": HostCase(
        "lets torch add unseen while the grid of a kernel that copies is computed",
        "made, z = torch.zeros_like(x), torch.empty_like(x)\ndef adding(meta):\n"
        "    with _disable_current_modes():\n        torch.add(x, y, out=made)\n"
        "    return grid(x)\n_copy[adding](made, z, x.numel(), BLOCK=WIDTH)\nreturn z",
    ),
    "object_with_an_address": HostCase(
        "lets torch add unseen, and gives a kernel the address in an object of its own",
        "z = torch.empty_like(x)\n"
        "_copy[grid(x)](Pointer(unseen_sum(x, y)), z, x.numel(), BLOCK=WIDTH)\nreturn z",
    ),
    "random_numbers_of_a_sum": HostCase(
        "lets torch draw numbers without deviation whose mean is the sum, and copies them",
        "made = torch.normal((x + y).float(), 0.0).to(x.dtype)\n" + COPY,
    ),
    "convolution_copied": HostCase(
        "lets torch add by a convolution with ones, and copies the sum by a kernel",
        "both = torch.stack([x, y]).float()[None]\n"
        "made = torch.nn.functional.conv1d(both, torch.ones(1, 2, 1, device=x.device))"
        "[0, 0].to(x.dtype)\n" + COPY,
    ),
    "thread_during_a_copy": HostCase(
        "lets torch add in another thread again and again, while a kernel copies",
        "made, z, ended = torch.zeros_like(x), torch.empty_like(x), threading.Event()\n"
        "def adding():\n    while not ended.is_set():\n        torch.add(x, y, out=made)\n"
        "thread = threading.Thread(target=adding)\nthread.start()\n"
        "_copy[grid(x)](made, z, x.numel(), BLOCK=WIDTH)\nended.set()\nthread.join()\nreturn z",
        "fail:unattributed,fail:wrong_result",
    ),
    "numpy_adds_and_a_kernel_copies": HostCase(
        "lets numpy add on the host, and copies the sum by a kernel (the threat model names this gap)",
        "made = torch.from_numpy(x.cpu().numpy() + y.cpu().numpy()).to(x.device)\n" + COPY,
        "pass",
    ),
}
