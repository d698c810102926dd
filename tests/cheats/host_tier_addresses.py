"""Submissions for the tier `host` whose kernels get addresses, or whose host code uses several threads
(test_host_tier.py)."""

from __future__ import annotations

from host_tier_case import HostCase

_BY_TABLE = """
zeros, z = torch.zeros_like(x), torch.empty_like(x)
table = torch.tensor([at, zeros.data_ptr(), z.data_ptr()], device=x.device)
kind = tl.float16 if x.dtype is torch.float16 else tl.float32
_add_by_table[grid(x)](table, x.numel(), KIND=kind, BLOCK=WIDTH)
return z
"""
_BY_NUMBER = """
z = torch.empty_like(x)
kind = tl.float16 if x.dtype is torch.float16 else tl.float32
_copy_by_number[grid(x)](at, z, x.numel(), KIND=kind, BLOCK=WIDTH)
return z
"""
# Writes the right values as soon as the harness looks at the outputs, if it does so in this run.
_WRITES_LATE = """
z, total = torch.zeros_like(x), x + y
if not kernels_run(x):
    return z
_copy[grid(x)](x, z, x.numel(), BLOCK=WIDTH)
main, ended = threading.get_ident(), time.monotonic() + 5
def later():
    while time.monotonic() < ended:
        frame, names = sys._current_frames().get(main), set()
        while frame is not None:
            names.add(frame.f_code.co_name)
            frame = frame.f_back
        if "_write" in names:
            z.copy_(total)
            return
sys.setswitchinterval(1e-6)
threading.Thread(target=later, daemon=True).start()
return z
"""

ADDRESSES: dict[str, HostCase] = {
    "storages_address_in_a_table": HostCase(
        "lets torch add, and gives a kernel the sum's address in a table, from its storage",
        "made = x + y\nat = made.untyped_storage().data_ptr()" + _BY_TABLE,
    ),
    "numpys_address_in_a_table": HostCase(
        "lets torch add, and gives a kernel the sum's address in a table, from numpy or unseen",
        "made = x + y\nat = made.numpy().ctypes.data if made.device.type == 'cpu' else "
        "Pointer(made).data_ptr()" + _BY_TABLE,
    ),
    "unseen_sum_in_a_table": HostCase(
        "lets torch add in another thread, and gives a kernel the sum's address in a table",
        "parts = []\nin_a_thread(lambda: parts.append(x + y))\n"
        "at = parts[0].untyped_storage().data_ptr()" + _BY_TABLE,
    ),
    "address_as_a_number": HostCase(
        "lets torch add, and gives a kernel the sum's address as a number",
        "made = x + y\nat = made.untyped_storage().data_ptr()" + _BY_NUMBER,
    ),
    "unseen_address_as_a_number": HostCase(
        "lets torch add while no mode sees it, and gives a kernel the sum's address as a number",
        "made = unseen_sum(x, y)\nat = Pointer(made).data_ptr()" + _BY_NUMBER,
    ),
    "halves_of_an_address": HostCase(
        "lets torch add, and gives a kernel the sum's address as two numbers, which the kernel joins",
        "made, z = x + y, torch.empty_like(x)\nat = Pointer(made).data_ptr()\n"
        "kind = tl.float16 if x.dtype is torch.float16 else tl.float32\n"
        "_copy_by_halves[grid(x)](at >> 24, at & 0xFFFFFF, z, x.numel(), KIND=kind, BLOCK=WIDTH)\n"
        "return z",
        "fail:unattributed,fail:wrong_result",
    ),
    "halves_of_an_address_of_freed_memory": HostCase(
        "lets torch add, frees the sum, and gives a kernel its address as two numbers",
        "made, z = x + y, torch.empty_like(x)\nat = Pointer(made).data_ptr()\ndel made\n"
        "kind = tl.float16 if x.dtype is torch.float16 else tl.float32\n"
        "_copy_by_halves[grid(x)](at >> 24, at & 0xFFFFFF, z, x.numel(), KIND=kind, BLOCK=WIDTH)\n"
        "return z",
        "fail:unattributed,fail:wrong_result",
    ),
    "address_that_comes_late": HostCase(
        "lets torch add, and gives a kernel an object whose data_ptr() exists only for the launcher",
        "made, z = x + y, torch.empty_like(x)\n"
        "_copy[grid(x)](Late(made, x), z, x.numel(), BLOCK=WIDTH)\nreturn z",
    ),
    "address_that_changes": HostCase(
        "lets torch add, and gives a kernel an object that has another address for the launcher",
        "made, z = x + y, torch.empty_like(x)\n"
        "_copy[grid(x)](Changes(made, x), z, x.numel(), BLOCK=WIDTH)\nreturn z",
        "fail:unattributed,fail:wrong_result",
    ),
    "number_of_a_class_of_numpy": HostCase(
        "lets torch add, and gives a kernel the sum's address as a number that looks small at first",
        "made, z = x + y, torch.empty_like(x)\nat = Number(Pointer(made).data_ptr())\n"
        "kind = tl.float16 if x.dtype is torch.float16 else tl.float32\n"
        "_copy_by_number[grid(x)](at, z, x.numel(), KIND=kind, BLOCK=WIDTH)\nreturn z",
        "fail:unattributed,error:type_error,error:runtime_error",
    ),
    "tuple_with_an_iterator": HostCase(
        "lets torch add, and gives a kernel the sum's address in a tuple that hides it at first",
        "made, z = x + y, torch.empty_like(x)\n"
        "kind = tl.float16 if x.dtype is torch.float16 else tl.float32\n"
        "HIDDEN.clear()\nat = Hiding((Pointer(made).data_ptr(), 1))\n"
        "_copy_by_tuple[grid(x)](at, z, x.numel(), KIND=kind, BLOCK=WIDTH)\nreturn z",
    ),
    "data_ptr_of_all_tensors": HostCase(
        "lets torch add, and replaces torch.Tensor.data_ptr, so that the launcher finds the sum",
        "made, z, real, seen = x + y, torch.empty_like(x), torch.Tensor.data_ptr, []\n"
        "def replaced(tensor):\n"
        "    if looked_at_by_the_harness() or tensor.shape != x.shape:\n"
        "        return real(tensor)\n"
        "    seen.append(tensor)\n"
        "    return real(made if tensor is seen[0] else tensor)\n"
        "torch.Tensor.data_ptr = replaced\n"
        "try:\n    _copy[grid(x)](x, z, x.numel(), BLOCK=WIDTH)\n"
        "finally:\n    torch.Tensor.data_ptr = real\nreturn z",
        "fail:unattributed,fail:wrong_result",
    ),
    "address_as_a_constant": HostCase(
        "lets torch add, and gives a kernel the sum's address as a constexpr",
        "made, z = x + y, torch.empty_like(x)\nat = tl.constexpr(Pointer(made).data_ptr())\n"
        "kind = tl.float16 if x.dtype is torch.float16 else tl.float32\n"
        "_copy_by_constant[grid(x)](at, z, x.numel(), KIND=kind, BLOCK=WIDTH)\nreturn z",
    ),
    "address_in_a_global_constant": HostCase(
        "lets torch add, and gives a kernel the sum's address as a global constant",
        "made, z = x + y, torch.empty_like(x)\n"
        "globals()['AT'] = tl.constexpr(Pointer(made).data_ptr())\n"
        "kind = tl.float16 if x.dtype is torch.float16 else tl.float32\n"
        "kernel = triton.jit(_copy_by_global.fn)\n"
        "kernel[grid(x)](z, x.numel(), KIND=kind, BLOCK=WIDTH)\nreturn z",
        "fail:unattributed,fail:wrong_result",
    ),
    "honest_tuple": HostCase(
        "gives a kernel its inputs in a tuple with names, and a number of a class of its own",
        "z = torch.empty_like(x)\n"
        "_add_by_names[grid(x)](Both(x, y), z, Count(x.numel()), BLOCK=WIDTH)\nreturn z",
        "pass",
    ),
    "writes_the_outputs_late": HostCase(
        "writes torch's sum to its output when the harness has begun to look at it",
        "import sys\nimport time" + _WRITES_LATE,
        "fail:unattributed,fail:wrong_result",
    ),
    "honest_address_as_a_number": HostCase(
        "gives kernels addresses of an input and of a result as numbers",
        "made = add(x, y)\nat = made.untyped_storage().data_ptr()" + _BY_NUMBER,
        "pass",
    ),
    "honest_threads": HostCase(
        "adds the halves of its vectors in two threads at once",
        "z, half = torch.empty_like(x), x.numel() // 2\n"
        "parts = [part for part in (slice(None, half), slice(half, None)) if x[part].numel()]\n"
        "threads = [threading.Thread(target=lambda at=at: add(x[at], y[at], z[at])) "
        "for at in parts]\n"
        "for thread in threads:\n    thread.start()\n"
        "for thread in threads:\n    thread.join()\nreturn z",
        "pass",
        only_gpu=True,  # Triton's interpreter runs one kernel at a time
    ),
    "honest_inference_mode": HostCase(
        "converts its inputs and its result in inference mode",
        "with torch.inference_mode():\n    return add(x.double(), y.double()).to(x.dtype)",
        "pass",
    ),
    "honest_check_by_a_kernel": HostCase(
        "gives torch's sum to a kernel that compares it with the result of another kernel",
        "total, wrong = x + y, torch.zeros(1, dtype=torch.int32, device=x.device)\n"
        "_count_different[grid(x)](add(x, y), total, wrong, x.numel(), BLOCK=WIDTH)\n"
        "int(wrong)\nreturn add(x, y)",
        "pass",
    ),
}
