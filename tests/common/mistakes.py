"""Defines the mistakes of tests/e2e/test_mistakes.py and measurements/mistakes.py: sources that
contain one usual mistake each, and the fact that an answer must tell about each of them."""

from __future__ import annotations

from dataclasses import dataclass

from right_kernels import ADD, HEAD, RIGHT

LIBDEVICE = HEAD + "from triton.language.extra import libdevice\n"


@dataclass(frozen=True)
class Mistake:
    """`told` are the texts that the answer of `run_tests` must contain."""

    name: str
    operator: str
    source: str
    told: tuple[str, ...]


def changed(operator: str, *changes: tuple[str, str]) -> str:
    """Returns the right source of the operator with replacements."""
    source = RIGHT[operator]
    for old, new in changes:
        assert old in source, old
        source = source.replace(old, new)
    return source


def _named(operator: str, name: str, old: str, new: str, *told: str) -> Mistake:
    return Mistake(name, operator, changed(operator, (old, new)), told)


_SUM = "a + tl.load(y + i, mask=m)"


def _missing(name: str, told: str) -> Mistake:
    wrong = f"tl.{name}(a) + tl.load(y + i, mask=m)"
    return _named(
        "vector_add", f"tl.{name}", _SUM, wrong, "line 8", f"tl.{name} does not exist", told
    )


_STORED = "(not stored)"
_ALLCLOSE = """
x = torch.ones(5, device="cuda")
assert torch.allclose(vector_add(x, x), x + x)
"""
MISTAKES = [
    # Errors of a kernel.
    _named(
        "vector_add",
        "no mask",
        "tl.load(x + i, mask=m)",
        "tl.load(x + i)",
        "reads 1,008 elements outside of x (4,112 elements)",
        "line 7",
    ),
    _named(
        "vector_add",
        "floor grid",
        "triton.cdiv(n, 1024)",
        "n // 1024",
        "16 of 4112",
        "every element from 4096 on",
        "have the NaN that memory had",
        _STORED,
    ),
    _named(
        "vector_add",
        "off by one",
        "m = i < n",
        "m = i < n - 1",
        "1 of 4112",
        "element 4111",
        _STORED,
    ),
    _named(
        "vector_add",
        "half of each block",
        "tl.load(y + i, mask=m)",
        "tl.load(y + i, mask=m & (i % 128 < 64), other=0.0)",
        "elements 64 to 127 of every 128",
        "The pattern repeats",
    ),
    _named("vector_add", "twice the sum", _SUM, f"2 * ({_SUM})", "each is 2 * expected", "doubled"),
    _named("vector_add", "zeros", _SUM, "a * 0.0", "each is 0", "stores one value"),
    _named(
        "vector_add",
        "no launch",
        "kernel[(triton.cdiv(n, 1024),)]",
        "n or kernel[(1,)]",
        "all of them have the NaN that memory had",
        "No kernel stored z",
    ),
    _named(
        "softmax_last_dim",
        "mask of C - 1",
        "m = c < C",
        "m = c < C - 1",
        "7 have the NaN that memory had before",
        "column 332 of every row",
        "each row has a factor of its own",
        "Check the store's mask",
    ),
    _named(
        "softmax_last_dim",
        "other of a maximum",
        'other=-float("inf")',
        "other=0.0",
        "each row has a factor of its own",
        "`other` of masked loads",
    ),
    _named(
        "softmax_last_dim",
        "exp2",
        "tl.exp(",
        "tl.exp2(",
        "expected -> got: [",
        "(x ",
        "check the formula",
    ),
    _named(
        "softmax_last_dim",
        "no maximum",
        "v - tl.max(v, axis=0)",
        "v.to(tl.float32) * 1000.0",
        "a NaN that was computed",
        "without subtracting the maximum",
    ),
    _named(
        "layer_norm_fwd",
        "n - 1",
        "axis=0) / C + eps",
        "axis=0) / (C - 1) + eps",
        "All errors are below 1 %",
        "n - 1 for n",
        "(b ",
    ),
    _named(
        "histogram_bins",
        "atomics to empty",
        "torch.zeros",
        "torch.empty",
        "37 of 37",
        "each is expected - 917519",
        "The sum began with -917519",
        "torch.zeros",
    ),
    Mistake(
        "no store",
        "histogram_bins",
        changed("histogram_bins", ("torch.zeros", "torch.empty"), ("(v < bins)", "(v < -bins)")),
        ("37 of 37", "have the value -917519 that memory had before", "No kernel stored counts"),
    ),
    _named(
        "global_sq_norm",
        "atomics to empty, float",
        "torch.zeros",
        "torch.empty",
        "it has the NaN that memory had before",
        "torch.zeros",
    ),
    _named("relu", "negative slope", "0.0, v)", "0.1 * v, v)", "] 0 -> -0.", "(x -"),
    _named(
        "vector_add",
        "block not a power of two",
        "tl.arange(0, BLOCK)",
        "tl.arange(0, 1000)",
        "line 5",
        "power of 2",
    ),
    Mistake(
        "tiles of 8 for tl.dot",
        "matmul_fp16",
        changed(
            "matmul_fp16",
            (", B: tl.constexpr)", ", B: tl.constexpr, BK: tl.constexpr)"),
            ("range(0, K, B)", "range(0, K, BK)"),
            ("start + tl.arange(0, B)", "start + tl.arange(0, BK)"),
            ("B=64)", "B=64, BK=8)"),
        ),
        ("line 12", "K >= 16"),
    ),
    Mistake(
        "float16 accumulator",
        "matmul_fp16",
        changed(
            "matmul_fp16",
            ("tl.zeros((B, B), tl.float32)", "tl.zeros((B, B), tl.float16)"),
            ("acc = tl.dot(left, right, acc)", "acc += tl.dot(left, right)"),
        ),
        ("acc has initial type", "fp16", "re-assigned to", "fp32"),
    ),
    Mistake(
        "tiles too large for shared memory",
        "matmul_fp16",
        changed(
            "matmul_fp16",
            ("triton.cdiv(M, 64), triton.cdiv(N, 64)", "triton.cdiv(M, 256), triton.cdiv(N, 256)"),
            ("B=64)", "B=256, num_stages=4)"),
        ),
        ("shared memory", "Hardware limit: 232448", "Use smaller blocks or fewer num_stages"),
    ),
    # Names that do not exist.
    _missing("tanh", "2 * tl.sigmoid(2 * x) - 1"),
    _missing("round", "libdevice.rint(x)"),
    _missing("relu", "tl.where(x < 0, 0.0, x)"),
    _missing("pow", "x * x"),
    _missing("matmul", "tl.dot(a, b, acc)"),
    _missing("load_block", "tl.load(pointer + offsets"),
    _missing("program_index", "tl.program_id(0)"),
    _missing("lod", "load"),
    _named(
        "vector_add",
        "tl in host code",
        "triton.cdiv(n",
        "tl.cdiv(n",
        "line 13",
        "on the host use triton.cdiv",
    ),
    _named(
        "vector_add",
        "shape of a pointer",
        "m = i < n",
        "m = i < x.shape[0]",
        "line 6",
        "`x` is a pointer in a kernel: pass sizes",
    ),
    _named(
        "vector_add",
        "data_ptr",
        "](x, y",
        "](x.data_ptr(), y",
        "Pass x to the kernel, not x.data_ptr().",
    ),
    _named("vector_add", "operator @", "a + tl.load", "a @ tl.load", "tl.dot(a, b, acc)"),
    Mistake(
        "no import of tl",
        "vector_add",
        ADD.replace(", triton.language as tl", ""),
        ("Add `import triton.language as tl`.",),
    ),
    # The form of a submission.
    _named("vector_add", "wrong entry", "def vector_add", "def add", "it defines", "add"),
    _named("vector_add", "None", "return z", "return None", "NoneType"),
    _named("vector_add", "two outputs", "return z", "return z, z", "returned 2 values"),
    _named("vector_add", "a number", "return z", "return 1.5", "output 0 is a float"),
    _named(
        "vector_add",
        "syntax error",
        "def vector_add(x, y):",
        "def vector_add(x, y)",
        "line 10: def vector_add(x, y)",
        "expected ':'",
    ),
    _named(
        "vector_add",
        "wrong dtype",
        "torch.empty_like(x)",
        "torch.empty(x.shape, dtype=torch.float64, device=x.device)",
        "float64",
        "float32",
    ),
    _named(
        "vector_add",
        "torch does the work",
        "return z",
        "return x + y",
        "aten::add",
        "kernel of your own",
    ),
    _named(
        "softmax_last_dim",
        "maximum on the host",
        "    R, C = x.shape\n",
        "    R, C = x.shape\n    top = x.max()\n",
        "line 15: top = x.max()",
        "Replace aten::max with a kernel of your own.",
    ),
    _named(
        "vector_add",
        "value on the host",
        "    n = x.numel()\n",
        "    n = x.numel() if x[0].item() < 9 else 1\n",
        "line 12",
        "never read tensor values on the host",
    ),
    Mistake(
        "fences",
        "vector_add",
        f"Here is the kernel:\n```python\n{ADD}```\n",
        ("without Markdown fences (line 2)",),
    ),
    Mistake(
        "prose before",
        "vector_add",
        f"I'll write it.\nHere it is:\n{ADD}",
        ("lines 1 to 2, the text is not Python",),
    ),
    Mistake(
        "prose behind",
        "vector_add",
        f"{ADD}\nThis adds, and it's fast.\n",
        ("the text is not Python",),
    ),
    Mistake(
        "a test at import",
        "vector_add",
        ADD + _ALLCLOSE,
        ("runs at import: remove tests", "Remove this line"),
    ),
]
# Sources that look unusual and are right.
ACCEPTED = {
    "tuple of one": ("vector_add", changed("vector_add", ("return z", "return (z,)"))),
    "libdevice.tanh": (
        "relu",
        changed("relu", (HEAD, LIBDEVICE), ("0.0, v)", "0.0 * libdevice.tanh(1.0 + 0 * i), v)")),
    ),
    "libdevice.rint": (
        "relu",
        changed("relu", (HEAD, LIBDEVICE), ("0.0, v)", "0.0 * libdevice.rint(1.0 + 0 * i), v)")),
    ),
}
# Right for the public inputs of relu. On a GPU tl.maximum drops a NaN, which a hidden case has.
DROPS_NAN = changed("relu", ("tl.where(v < 0, 0.0, v)", "tl.maximum(v, 0.0)"))
# A kernel that never ends.
ENDLESS = changed(
    "vector_add", ("    tl.store(z", "    while n > 0:\n        n = n + 0\n    tl.store(z")
)
