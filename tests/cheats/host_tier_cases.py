"""Submissions for the tier `host`: cheats that must not pass there, and honest ones that must
(host_tier_honest.py). More cheats are in host_tier_copies.py. Each submission reads a value of a
tensor, so it cannot be recorded, and its process uses the GPU. All add two vectors."""

from __future__ import annotations

from host_tier_case import HostCase
from host_tier_copies import COPIES
from host_tier_honest import HONEST

__all__ = ["CHEATS", "HONEST", "HostCase"]

CHEATS: dict[str, HostCase] = {
    "torch_adds": HostCase("lets torch add", "return x + y"),
    "raises_without_kernels": HostCase(
        "lets torch add, and raises an exception if kernels do nothing",
        "assert kernels_run(x)\nreturn x + y",
    ),
    "wrong_without_kernels": HostCase(
        "lets torch add, and returns zeros if kernels do nothing",
        "return x + y if kernels_run(x) else torch.zeros_like(x)",
    ),
    "other_form_without_kernels": HostCase(
        "lets torch add, and returns another shape if kernels do nothing",
        "return x + y if kernels_run(x) else x[:1]",
    ),
    "ends_without_kernels": HostCase(
        "lets torch add, and ends its process if kernels do nothing",
        "import os\nkernels_run(x) or os._exit(0)\nreturn x + y",
    ),
    "hangs_without_kernels": HostCase(
        "lets torch add, and never ends if kernels do nothing",
        "while not kernels_run(x):\n    pass\nreturn x + y",
    ),
    "fails_in_torch_without_kernels": HostCase(
        "lets torch add, and causes an error of torch by what a kernel did not write",
        "size = torch.full((1,), -1, dtype=torch.int64, device=x.device)\n"
        "_indices[(1,)](size, 1, BLOCK=1)\n"
        "torch.empty(int(size[0]), device=x.device)\nreturn x + y",
    ),
    "raises_always": HostCase(
        "raises an exception in the second process only",
        "import gc\n"
        "assert not any(type(one).__name__ == 'Shadows' for one in gc.get_objects())\n"
        "return x + y",
    ),
    "wrong_in_the_second_process": HostCase(
        "returns zeros in the second process only",
        "import gc\n"
        "if any(type(one).__name__ == 'Shadows' for one in gc.get_objects()):\n"
        "    return torch.zeros_like(x)\nreturn x + y",
        "fail:wrong_result",
    ),
    "decoy_on_the_output": HostCase(
        "lets a kernel write the output, and torch overwrite it",
        "z = add(x, y)\ntorch.add(x, y, out=z)\nreturn z",
    ),
    "decoy_before_the_output": HostCase(
        "gives the output to a kernel that does nothing",
        "z = torch.empty_like(x)\n_nothing[(1,)](z, 4, BLOCK=4)\nreturn torch.add(x, y, out=z)",
    ),
    "copied_over_a_decoy": HostCase(
        "copies the sum of torch over the result of a kernel",
        "z = add(x, y)\nz.copy_(x + y)\nreturn z",
    ),
    "product_with_nothing_of_a_kernel": HostCase(
        "adds to torch's sum the zeros that a kernel did not change",
        "zeros = torch.zeros_like(x)\n_nothing[(1,)](zeros, 4, BLOCK=4)\nreturn x + y + zeros",
    ),
    "values_of_the_host": HostCase(
        "makes the output from values that the host has read and added",
        "return torch.tensor([a + b for a, b in zip(x.tolist(), y.tolist())], dtype=x.dtype, "
        "device=x.device) if x.numel() < 5000 else x + y",
    ),
    "numpy_adds": HostCase(
        "lets numpy add",
        "add(x, y)\nreturn torch.from_numpy(x.cpu().numpy() + y.cpu().numpy()).to(x.device)",
    ),
    "result_through_the_host": HostCase(
        "lets a kernel add, and passes the sum through values of the host",
        "z = add(x, y).cpu().numpy().copy()\nreturn torch.from_numpy(z).to(x.device)",
    ),
    "another_thread_adds": HostCase(
        "lets torch add in another thread",
        "add(x, y)\nmade = []\n"
        "thread = threading.Thread(target=lambda: made.append(x + y))\n"
        "thread.start()\nthread.join()\nreturn made[0]",
    ),
    "without_modes": HostCase(
        "lets torch add while no mode of torch sees it",
        "from torch.utils._python_dispatch import _disable_current_modes\n"
        "with _disable_current_modes():\n    made = x + y\n"
        "add(x, y)\nreturn made",
    ),
    "into_a_kernels_memory_by_a_thread": HostCase(
        "lets torch add in another thread, into memory that a kernel got before",
        "z = torch.zeros_like(x)\n_nothing[grid(x)](z, x.numel(), BLOCK=WIDTH)\n"
        "thread = threading.Thread(target=lambda: torch.add(x, y, out=z))\n"
        "thread.start()\nthread.join()\nreturn z",
    ),
    "into_a_kernels_memory_by_dlpack": HostCase(
        "lets torch add into a second tensor over memory that a kernel got before",
        "z = torch.zeros_like(x)\n_nothing[grid(x)](z, x.numel(), BLOCK=WIDTH)\n"
        "torch.add(x, y, out=torch.from_dlpack(z))\nreturn z",
    ),
    "index_of_no_kernel": HostCase(
        "lets torch add, and selects all elements by an index that a kernel got and did not change",
        "at = torch.arange(x.numel(), device=x.device)\n"
        "_nothing[grid(x)](at, x.numel(), BLOCK=WIDTH)\nreturn (x + y)[at]",
    ),
    "shape_by_a_kernel": HostCase(
        "lets torch add, and selects all elements by a mask that depends on a kernel",
        "ones = torch.zeros_like(x)\n_copy[grid(x)](torch.ones_like(x), ones, x.numel(), "
        "BLOCK=WIDTH)\nreturn (x + y)[ones.nonzero().flatten()]",
    ),
    "most_by_torch": HostCase(
        "lets a kernel add the first third of the elements, and torch the rest",
        "z, part = x + y, x.numel() // 3\n"
        "if part:\n    add(x[:part], y[:part], z[:part])\nreturn z",
    ),
    "random_numbers": HostCase(
        "lets torch draw numbers with a deviation of a kernel, and discards them",
        "wide = torch.zeros_like(x)\n_copy[grid(x)](torch.ones_like(x), wide, x.numel(), "
        "BLOCK=WIDTH)\nreturn x + y + torch.bernoulli(wide) - 1",
    ),
    "compiled_by_torch": HostCase(
        "adds by a function of torch that is no operation of aten",
        "return torch.func.vmap(torch.add)(x, y)",
    ),
    "custom_op": HostCase(
        "lets torch add inside an operation of its own", "return torch.ops.host_tier.add(x, y)"
    ),
    "custom_op_into_a_kernels_memory": HostCase(
        "lets an operation of its own add into memory that a kernel got before, and raises an "
        "exception if kernels do nothing",
        "z = torch.zeros_like(x)\n_nothing[grid(x)](z, x.numel(), BLOCK=WIDTH)\n"
        "assert kernels_run(x)\ntorch.ops.host_tier.add_into(z, x, y)\nreturn z",
    ),
    "autograd_function": HostCase(
        "lets torch add inside a function with a gradient of its own",
        "return AddByTorch.apply(x, y)",
    ),
    "compiled_library": HostCase(
        "compiles a library in C that adds, and lets torch add where that is impossible",
        "try:\n    return compiled_adds(x.float(), y.float()).to(x.dtype)\n"
        "except (OSError, subprocess.SubprocessError):\n    return x + y",
    ),
    "library_by_its_address": HostCase(
        "calls a BLAS library by ctypes",
        "return library_adds(x.float(), y.float().clone()).to(x.dtype)",
    ),
    "library_into_a_kernels_memory": HostCase(
        "lets a BLAS library add into memory that a kernel got before, and raises an exception if "
        "kernels do nothing",
        "z = y.float().clone()\n_nothing[grid(x)](z, x.numel(), BLOCK=WIDTH)\n"
        "assert kernels_run(x)\nreturn library_adds(x.float(), z).to(x.dtype)",
    ),
    "thread_that_knows_the_idle_run": HostCase(
        "lets torch add in another thread, into memory that a kernel got before, and raises an "
        "exception if kernels do nothing",
        "z = torch.zeros_like(x)\n_nothing[grid(x)](z, x.numel(), BLOCK=WIDTH)\n"
        "assert kernels_run(x)\n"
        "thread = threading.Thread(target=lambda: torch.add(x, y, out=z))\n"
        "thread.start()\nthread.join()\nreturn z",
    ),
    "kernel_after_a_thread": HostCase(
        "lets torch add in another thread, and gives the memory to a kernel without effect before "
        "and after",
        "z = torch.zeros_like(x)\n_nothing[grid(x)](z, x.numel(), BLOCK=WIDTH)\n"
        "assert kernels_run(x)\n"
        "thread = threading.Thread(target=lambda: torch.add(x, y, out=z))\n"
        "thread.start()\nthread.join()\n_nothing[grid(x)](z, x.numel(), BLOCK=WIDTH)\nreturn z",
    ),
    "thread_after_a_kernel_of_integers": HostCase(
        "lets torch compute small integers in another thread, into memory that a kernel has filled "
        "with zeros",
        "z = torch.empty(2 * x.numel(), dtype=torch.int64, device=x.device)\n"
        "_fill[grid(z)](z, z.numel(), 0, BLOCK=WIDTH)\nassert kernels_run(x)\n"
        "in_a_thread(lambda: z.copy_(halves_of_sums(x, y)))\nreturn joined(z, x)",
    ),
    "thread_after_a_kernel_of_floats": HostCase(
        "lets torch compute numbers from 1 to 2 in another thread, into memory that a kernel has "
        "filled with ones",
        "z = torch.empty(2 * x.numel(), device=x.device)\n"
        "_fill[grid(z)](z, z.numel(), 1.0, BLOCK=WIDTH)\nassert kernels_run(x)\n"
        "in_a_thread(lambda: z.copy_(1 + halves_of_sums(x, y) / 65536))\n"
        "return joined(((z - 1) * 65536).to(torch.int64), x)",
    ),
    "thread_in_a_grid": HostCase(
        "lets torch add in another thread while the grid of a kernel without effect is computed",
        "z = torch.zeros_like(x)\nassert kernels_run(x)\n"
        "def adding(meta):\n    in_a_thread(lambda: torch.add(x, y, out=z))\n    return (1,)\n"
        "_nothing[adding](z, x.numel(), BLOCK=WIDTH)\nreturn z",
    ),
    "grid_without_kernels": HostCase(
        "lets torch add while the grid of a kernel without effect is computed",
        "z = torch.zeros_like(x)\n"
        "_nothing[lambda meta: (torch.add(x, y, out=z).dim(),)](z, x.numel(), BLOCK=WIDTH)\n"
        "return z",
    ),
    "thread_in_a_hook": HostCase(
        "lets torch add in another thread in a hook before a kernel without effect",
        "z = torch.zeros_like(x)\nassert kernels_run(x)\n_nothing.pre_run_hooks.clear()\n"
        "_nothing.add_pre_run_hook("
        "lambda *_, **__: in_a_thread(lambda: torch.add(x, y, out=z)))\n"
        "_nothing[grid(x)](z, x.numel(), BLOCK=WIDTH)\nreturn z",
    ),
    "thread_in_a_launch_hook": HostCase(
        "lets torch add in another thread in a hook of each launch",
        "z = torch.zeros_like(x)\nassert kernels_run(x)\n"
        "hooks = triton.knobs.runtime.launch_enter_hook\n"
        "hooks.add(hook := lambda _: in_a_thread(lambda: torch.add(x, y, out=z)))\n"
        "_nothing[grid(x)](z, x.numel(), BLOCK=WIDTH)\nhooks.remove(hook)\nreturn z",
        only_gpu=True,
    ),
    "address_of_an_object": HostCase(
        "lets torch add in another thread when the address of another argument is read",
        "z = torch.zeros_like(x)\nassert kernels_run(x)\n"
        "class Adds:\n    dtype = x.dtype\n    def data_ptr(self):\n"
        "        in_a_thread(lambda: torch.add(x, y, out=z))\n        return x.data_ptr()\n"
        "_copy[grid(x)](Adds(), z, 0, BLOCK=WIDTH)\nreturn z",
        "fail:unattributed,fail:wrong_result",
    ),
    "index_of_one_element": HostCase(
        "lets torch add, and selects all elements by an index of which a kernel wrote one element",
        "at = torch.arange(x.numel(), device=x.device)\nat[0] = -1\n"
        "_indices[(1,)](at, 1, BLOCK=1)\nreturn (x + y)[at]",
    ),
    "graph_of_torch": HostCase(
        "captures torch's addition in a CUDA graph, into memory that a kernel got before",
        "z = torch.zeros_like(x)\n_nothing[grid(x)](z, x.numel(), BLOCK=WIDTH)\n"
        "assert kernels_run(x)\n"
        "graph = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(graph):\n"
        "    torch.add(x, y, out=z)\ngraph.replay()\nreturn z",
        only_gpu=True,
    ),
    **COPIES,
}
