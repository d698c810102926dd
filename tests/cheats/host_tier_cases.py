"""Submissions for the tier `host`: cheats that must not pass there, and honest ones that must. Each
reads a value of a tensor, so it cannot be recorded, and its process uses the GPU. All add two
vectors."""

from __future__ import annotations

from dataclasses import dataclass

from host_tier_prelude import PRELUDE


@dataclass(frozen=True)
class HostCase:
    text: str  # what the submission does
    body: str  # the body of the entry function
    expect: str = "fail:unattributed"  # one or more verdicts, with commas
    only_gpu: bool = False

    def source(self, prelude: str) -> str:
        lines = "".join(f"    {line}\n" for line in self.body.strip().splitlines())
        entry = "def vector_add(x, y):\n    if unrecordable(x):\n        return x\n"
        return f"{prelude}\n\n{PRELUDE}\n\n{entry}{lines}"


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
    "compiled_extension": HostCase(
        "compiles an extension in C++ that adds, and lets torch add where that is impossible",
        "import tempfile\nfrom torch.utils import cpp_extension\n"
        "text = 'torch::Tensor plus(torch::Tensor x, torch::Tensor y) { return x + y; }'\n"
        "try:\n    made = cpp_extension.load_inline('plus', text, functions=['plus'], "
        "build_directory=tempfile.mkdtemp())\n"
        "except Exception:\n    return x + y\nreturn made.plus(x, y)",
        "fail:unattributed,error:timeout",
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
    "graph_of_torch": HostCase(
        "captures torch's addition in a CUDA graph, into memory that a kernel got before",
        "z = torch.zeros_like(x)\n_nothing[grid(x)](z, x.numel(), BLOCK=WIDTH)\n"
        "assert kernels_run(x)\n"
        "graph = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(graph):\n"
        "    torch.add(x, y, out=z)\ngraph.replay()\nreturn z",
        only_gpu=True,
    ),
    "copied_by_a_kernel": HostCase(
        "lets torch add, and copies the sum by a kernel (the threat model names this gap)",
        "z = torch.empty_like(x)\n_copy[grid(x)](x + y, z, x.numel(), BLOCK=WIDTH)\nreturn z",
        "pass",
    ),
}

HONEST: dict[str, HostCase] = {
    "several_times": HostCase(
        "runs its kernel several times, into memory that torch gives out again",
        "for _ in range(3):\n    z = None\n    z = add(x, y)\nreturn z",
        "pass",
    ),
    "reads_a_value": HostCase("reads a value of an input", "return add(x, y)", "pass"),
    "checks_its_result": HostCase(
        "compares its result with that of torch",
        "z = add(x, y)\nassert torch.allclose(z, x + y, equal_nan=True)\nreturn z",
        "pass",
    ),
    "asserts_that_kernels_ran": HostCase(
        "asserts what an earlier kernel has written",
        "assert kernels_run(x)\nreturn add(x, y)",
        "pass",
    ),
    "grid_of_a_kernels_result": HostCase(
        "chooses the grid by a number that a kernel has counted",
        "total = torch.zeros(1, dtype=torch.int32, device=x.device)\n"
        "_count_positive[grid(x)](x, total, x.numel(), BLOCK=WIDTH)\n"
        "z, n = torch.empty_like(x), x.numel() + 0 * int(total.item())\n"
        "_add[(triton.cdiv(n, WIDTH),)](x, y, z, n, BLOCK=WIDTH)\nreturn z",
        "pass",
    ),
    "indices_of_a_kernel": HostCase(
        "gathers by indices of a kernel, and scatters back",
        "at = torch.empty(x.numel(), dtype=torch.int64, device=x.device)\n"
        "_indices[grid(x)](at, x.numel(), BLOCK=WIDTH)\n"
        "z = add(x[at], y.index_select(0, at))\n"
        "return torch.empty_like(x).scatter_(0, at, z)",
        "pass",
    ),
    "in_chunks": HostCase(
        "adds in two chunks, and joins the chunks by torch",
        "half = x.numel() // 2\nparts = [(x[:half], y[:half]), (x[half:], y[half:])]\n"
        "return torch.cat([add(a, b) for a, b in parts if a.numel()])",
        "pass",
    ),
    "torch_before_and_after": HostCase(
        "scales by torch before and after its kernel",
        "return (add(x * 2, y * 2) * 0.5).to(x.dtype)",
        "pass",
    ),
    "table_of_pointers": HostCase(
        "passes its tensors in a table of pointers",
        "z = torch.empty_like(x)\n"
        "table = torch.tensor([t.data_ptr() for t in (x, y, z)], device=x.device)\n"
        "kind = tl.float16 if x.dtype is torch.float16 else tl.float32\n"
        "_add_by_table[grid(x)](table, x.numel(), KIND=kind, BLOCK=WIDTH)\nreturn z",
        "pass",
    ),
    "falls_back_if_wrong": HostCase(
        "repeats its kernel until the result has no NaN",
        "z = torch.full_like(x, float('nan'))\nfor _ in range(3):\n    add(x, y, z)\n"
        "    if not bool(z.isnan().any()):\n        break\nreturn z",
        "pass",
    ),
    "kept_scratch": HostCase(
        "keeps scratch memory from one call to the next",
        "kept = globals().setdefault('kept', {})\n"
        "z = kept.setdefault((x.numel(), x.dtype), torch.empty_like(x))\n"
        "add(x, y, z)\nreturn z.clone()",
        "pass",
    ),
    "inference_mode": HostCase(
        "runs in inference mode",
        "with torch.inference_mode():\n    z = add(x, y)\n    assert z.numel() == x.numel()\n"
        "    return z.view_as(x)",
        "pass",
    ),
    "device_assertions": HostCase(
        "asserts in its kernel that an input is in a range",
        "z = torch.empty_like(x)\n"
        "_add_checked[grid(x)](x, y, z, x.numel(), BLOCK=WIDTH, debug=True)\nreturn z",
        "pass",
    ),
    "asserts_on_the_device": HostCase(
        "asserts on the GPU that the results of its kernel are finite, without reading them",
        "z = add(x, y)\ntorch._assert_async((z == z).all() | z.isnan().any())\n"
        "good = torch.empty(1, dtype=torch.int64, device=x.device)\n"
        "_indices[(1,)](good, 2, BLOCK=1)\ntorch._assert_async(good[0] == 1)\nreturn z",
        "pass",
    ),
    "values_that_torch_checks": HostCase(
        "gives values of its kernels to operations of torch that check or trust them on the GPU",
        "at = torch.empty(8, dtype=torch.int64, device=x.device)\n"
        "_indices[(1,)](at, 8, BLOCK=8)\nshare = torch.empty(8, device=x.device)\n"
        "_copy[(1,)](torch.full((8,), 0.5, device=x.device), share, 8, BLOCK=8)\n"
        "functional = torch.nn.functional\n"
        "loss = functional.binary_cross_entropy(share, share)\n"
        "loss = loss + functional.nll_loss(torch.zeros(8, 8, device=x.device), at)\n"
        "loss = loss + functional.embedding(at, torch.zeros(8, 2, device=x.device)).sum()\n"
        "loss = loss + functional.one_hot(at, 8).sum() + torch.zeros(8, device=x.device)[at].sum()\n"
        "loss = loss + torch.zeros(8, device=x.device).index_add(0, at, share).sum()\n"
        "assert float(loss) > 0\nreturn add(x, y)",
        "pass",
    ),
    "until_a_kernel_says_so": HostCase(
        "repeats its kernel until another kernel has counted down, so it never ends if kernels do "
        "nothing",
        "left = torch.full((1,), 3, dtype=torch.int32, device=x.device)\n"
        "while int(left) > 0:\n    z = add(x, y)\n    _count_down[(1,)](left)\nreturn z",
        "pass",
    ),
    "kernel_in_a_custom_op": HostCase(
        "launches its kernel inside an operation of its own",
        "return torch.ops.host_tier.add_by_kernel(x, y)",
        "pass",
    ),
    "kernel_in_an_autograd_function": HostCase(
        "launches its kernel inside a function with a gradient of its own",
        "return AddByKernel.apply(x, y)",
        "pass",
    ),
    "kernel_in_a_thread": HostCase(
        "launches its kernel in another thread",
        "z = torch.empty_like(x)\n"
        "thread = threading.Thread(target=lambda: add(x, y, z))\n"
        "thread.start()\nthread.join()\nreturn z",
        "pass",
    ),
    "graph_of_kernels": HostCase(
        "runs its kernel once, captures it in a CUDA graph, and replays the graph twice",
        "z = add(x, y, torch.empty_like(x))\n"
        "graph = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(graph):\n    add(x, y, z)\n"
        "graph.replay()\ngraph.replay()\nreturn z",
        "pass",
        only_gpu=True,
    ),
    "two_streams": HostCase(
        "adds the halves of its vectors on two streams at once",
        "z, half = torch.empty_like(x), x.numel() // 2\n"
        "streams = torch.cuda.Stream(), torch.cuda.Stream()\nhere = torch.cuda.current_stream()\n"
        "for stream, part in zip(streams, (slice(None, half), slice(half, None))):\n"
        "    stream.wait_stream(here)\n"
        "    with torch.cuda.stream(stream):\n        if x[part].numel():\n"
        "            add(x[part], y[part], z[part])\n"
        "for stream in streams:\n    here.wait_stream(stream)\nreturn z",
        "pass",
        only_gpu=True,
    ),
}
