"""Honest submissions for the tier `host`, which must pass there (host_tier_cases.py)."""

from __future__ import annotations

from host_tier_case import HostCase

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
    "kernel_for_each_part": HostCase(
        "runs a kernel for each of many small parts of its inputs",
        "z = torch.empty_like(x)\npart = x.numel() // 200 + 1\n"
        "for at in range(0, x.numel(), part):\n"
        "    a, b, c = (t[at:at + part] for t in (x, y, z))\n"
        "    _add[(triton.cdiv(a.numel(), WIDTH),)](a, b, c, a.numel(), BLOCK=WIDTH)\nreturn z",
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
    "kernel_and_torch_in_a_custom_op": HostCase(
        "launches its kernel inside an operation of its own, and scales its result by torch there",
        "return torch.ops.host_tier.add_scaled(x, y)",
        "pass",
    ),
    "grid_by_a_function": HostCase(
        "chooses the grid by a function of the kernel's arguments",
        "z = torch.empty_like(x)\n"
        "_add[lambda meta: (triton.cdiv(meta['n'], meta['BLOCK']),)](x, y, z, x.numel(), "
        "BLOCK=WIDTH)\nreturn z",
        "pass",
    ),
    "hook_that_clears": HostCase(
        "clears its output in a hook before its kernel",
        "z = torch.empty_like(x)\n_copy.pre_run_hooks.clear()\n"
        "_copy.add_pre_run_hook(lambda source, target, *_, **__: target.zero_())\n"
        "_copy[grid(x)](add(x, y), z, x.numel(), BLOCK=WIDTH)\nreturn z",
        "pass",
    ),
    "kernel_in_an_autograd_function": HostCase(
        "launches its kernel inside a function with a gradient of its own",
        "return AddByKernel.apply(x, y)",
        "pass",
    ),
    "checks_inputs_and_its_result": HostCase(
        "reads numbers that torch has computed, before and after its kernel",
        "assert float(x.abs().max()) < 1e30 and int((x > 0).sum()) >= 0\nz = add(x, y)\n"
        "wrong = (z.double() - (x.double() + y.double())).abs().max()\n"
        "assert not float(wrong) > 1\nreturn z",
        "pass",
    ),
    "table_that_torch_has_computed": HostCase(
        "gives its kernel a table that torch has computed from no input",
        "zeros = torch.sin(torch.arange(x.numel(), device=x.device) * 0.0).to(x.dtype)\n"
        "return add(x, add(y, zeros))",
        "pass",
    ),
    "table_of_numpy": HostCase(
        "gives its kernel a table that numpy has computed from no input",
        "import numpy\nzeros = torch.from_numpy(numpy.sin(numpy.zeros(x.numel())))\n"
        "return add(x, add(y, zeros.to(x.device).to(x.dtype)))",
        "pass",
    ),
    "padded_by_torch": HostCase(
        "pads and joins its inputs by torch, and cuts its result",
        "both = torch.cat([torch.nn.functional.pad(one, (0, 3)) for one in (x, y)])\n"
        "a, b = both.chunk(2)\nreturn add(a.contiguous(), b.contiguous())[:x.numel()].clone()",
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
