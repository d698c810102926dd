"""Submissions for the tier `host`: cheats that must not pass there, and honest ones that must. Each
reads a value of a tensor, so it cannot be recorded, and its process uses the GPU. All add two
vectors."""

from __future__ import annotations

from dataclasses import dataclass

# The second part of each submission; the first part is prelude.py.
PRELUDE = """
import threading

WIDTH = 4096


def unrecordable(x):
    return float(x[0]) > 1e9  # a launch plan cannot depend on a value


@triton.jit
def _nothing(x, n, BLOCK: tl.constexpr):
    pass


@triton.jit
def _count_positive(x, total, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum((tl.load(x + i, mask=i < n, other=0.0) > 0).to(tl.int32), 0))


@triton.jit
def _indices(at, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(at + i, (n - 1 - i).to(tl.int64), mask=i < n)


@triton.jit
def _add_by_table(table, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(table).to(tl.pointer_type(KIND))
    y = tl.load(table + 1).to(tl.pointer_type(KIND))
    z = tl.load(table + 2).to(tl.pointer_type(KIND))
    total = tl.load(x + i, mask=i < n).to(tl.float32) + tl.load(y + i, mask=i < n).to(tl.float32)
    tl.store(z + i, total.to(KIND), mask=i < n)


def grid(x):
    return (triton.cdiv(x.numel(), WIDTH),)


def add(x, y, z=None):
    z = torch.empty_like(x) if z is None else z
    _add[grid(x)](x, y, z, x.numel(), BLOCK=WIDTH)
    return z


def kernels_run(x):
    marks = torch.zeros(4, device=x.device)
    _copy[(1,)](torch.ones(4, device=x.device), marks, 4, BLOCK=4)
    return bool(marks.sum() == 4)
"""


@dataclass(frozen=True)
class HostCase:
    text: str  # what the submission does
    body: str  # the body of the entry function
    expect: str = "fail:unattributed"

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
}
