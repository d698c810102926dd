"""The second part of each submission for the tier `host`. The first part is prelude.py, and the last
part is a case of host_tier_cases.py."""

PRELUDE = """
import ctypes
import subprocess
import tempfile
import threading
from typing import NamedTuple

import numpy as np
from torch.utils._python_dispatch import _disable_current_modes

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


@triton.jit
def _fill(x, n, value, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.full((BLOCK,), 1, tl.float32) * value, mask=i < n)


@triton.jit
def _copy_by_number(at, z, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.cast(at, tl.int64).to(tl.pointer_type(KIND))
    tl.store(z + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def _copy_by_halves(high, low, z, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = (tl.cast(high, tl.int64) * 16777216 + low).to(tl.pointer_type(KIND))
    tl.store(z + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def _copy_by_tuple(both, z, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.cast(both[0], tl.int64).to(tl.pointer_type(KIND))
    tl.store(z + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def _copy_by_constant(at: tl.constexpr, z, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.full((), at, tl.int64).to(tl.pointer_type(KIND))
    tl.store(z + i, tl.load(x + i, mask=i < n), mask=i < n)


AT = tl.constexpr(0)


@triton.jit
def _copy_by_global(z, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.full((), AT, tl.int64).to(tl.pointer_type(KIND))
    tl.store(z + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def _add_by_names(both, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(both.x + i, mask=i < n).to(tl.float32)
    total += tl.load(both.y + i, mask=i < n).to(tl.float32)
    tl.store(z + i, total.to(z.dtype.element_ty), mask=i < n)


@triton.jit
def _count_different(x, y, total, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    different = tl.load(x + i, mask=m, other=0.0) != tl.load(y + i, mask=m, other=0.0)
    tl.atomic_add(total, tl.sum(different.to(tl.int32), 0))


def in_a_thread(act):
    thread = threading.Thread(target=act)
    thread.start()
    thread.join()


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


@triton.jit
def _add_checked(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    a, b = tl.load(x + i, mask=m, other=0.0), tl.load(y + i, mask=m, other=0.0)
    tl.device_assert((a > -1e30) & (a < 1e30), "x is out of range")
    total = a.to(tl.float32) + b.to(tl.float32)
    tl.store(z + i, total.to(z.dtype.element_ty), mask=m)


@triton.jit
def _count_down(left):
    tl.store(left, tl.load(left) - 1)


@torch.library.custom_op("host_tier::add", mutates_args=())
def op_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + y


@torch.library.custom_op("host_tier::add_into", mutates_args=("z",))
def op_add_into(z: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> None:
    torch.add(x, y, out=z)


@torch.library.custom_op("host_tier::add_by_kernel", mutates_args=())
def op_add_by_kernel(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return add(x, y)


@torch.library.custom_op("host_tier::add_scaled", mutates_args=())
def op_add_scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    z = add(x * 2, y * 2)
    z.mul_(2)
    return (z * 0.25).to(x.dtype)


class AddByTorch(torch.autograd.Function):
    @staticmethod
    def forward(context, x, y):
        return x + y


class AddByKernel(torch.autograd.Function):
    @staticmethod
    def forward(context, x, y):
        return add(x, y)


def library_adds(x, total):  # adds float32 in place: by cuBLAS, or without a GPU by torch's BLAS
    with open("/proc/self/maps") as maps:
        loaded = {line.split()[-1] for line in maps}
    n, one = ctypes.c_int(x.numel()), ctypes.c_float(1)
    at = [ctypes.c_void_p(t.data_ptr()) for t in (x, total)]
    cublas = [path for path in loaded if "/libcublas.so" in path]
    if cublas:
        library, handle = ctypes.CDLL(cublas[0]), ctypes.c_void_p()
        library.cublasCreate_v2(ctypes.byref(handle))
        library.cublasSaxpy_v2(handle, n, ctypes.byref(one), at[0], 1, at[1], 1)
        torch.cuda.synchronize()
    else:
        library = ctypes.CDLL(next(path for path in loaded if "/libtorch_cpu.so" in path))
        step = ctypes.c_int(1)
        library.saxpy_(*map(ctypes.byref, (n, one)), at[0], ctypes.byref(step), at[1],
                       ctypes.byref(step))
    return total


def halves_of_sums(x, y):  # the bits of torch's sums, as numbers of 16 bits
    bits = (x + y).float().view(torch.int32).to(torch.int64)
    return torch.cat([(bits >> 16) & 0xFFFF, bits & 0xFFFF])


def joined(halves, x):
    high, low = halves.chunk(2)
    return (high * 65536 + low).to(torch.int32).view(torch.float32).to(x.dtype)


def compiled_adds(x, y):  # adds tensors of float32 on the host
    folder = tempfile.mkdtemp()
    with open(folder + "/add.c", "w") as file:
        file.write("void add(float *x, float *y, long n) { while (n--) x[n] += y[n]; }")
    command = ["cc", "-shared", "-fPIC", "-o", folder + "/add.so", folder + "/add.c"]
    subprocess.run(command, check=True, capture_output=True)
    total, other = x.cpu().clone(), y.cpu().contiguous()
    at = [ctypes.c_void_p(t.data_ptr()) for t in (total, other)]
    ctypes.CDLL(folder + "/add.so").add(*at, ctypes.c_long(total.numel()))
    return total.to(x.device)


def unseen_sum(x, y):
    with _disable_current_modes():
        return x + y


class Scaled(torch.Tensor):  # its operations add
    other = None

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        with _disable_current_modes():
            plain = torch.empty(0, dtype=args[0].dtype, device=cls.other.device)
            plain.set_(args[0].untyped_storage(), 0, args[0].shape, args[0].stride())
            return plain + cls.other


OTHER, LIBRARY = [], []


def replace_negative():  # makes -x the sum of x and OTHER
    if not LIBRARY:
        LIBRARY.append(torch.library.Library("aten", "IMPL"))
        for device in ("CPU", "CUDA"):
            LIBRARY[0].impl("neg", lambda x: torch.add(x, OTHER[0]), device)


def looked_at_by_the_harness():
    frame, names = sys._getframe(1), []
    while frame is not None:
        names.append(frame.f_code.co_filename)
        frame = frame.f_back
    return "/harness/candidate/" in names[1] or "/triton_adapter/" in names[1]


class Late:  # has a data_ptr() only if the harness does not look
    def __init__(self, tensor, other):
        self.dtype, self._tensor = tensor.dtype, tensor

    def __getattr__(self, name):
        if name != "data_ptr" or looked_at_by_the_harness():
            raise AttributeError(name)
        return Pointer(self._tensor).data_ptr


class Changes:  # has the address of `other` for the harness
    def __init__(self, tensor, other):
        self.dtype, self._tensor, self._other = tensor.dtype, tensor, other

    def data_ptr(self):
        return Pointer(self._other if looked_at_by_the_harness() else self._tensor).data_ptr()


class Number(np.int64):
    def __int__(self):
        return 1 if looked_at_by_the_harness() else int(np.int64(super().__index__()))


class Hiding(tuple):
    def __new__(cls, parts):
        made = super().__new__(cls, parts if not HIDDEN else HIDDEN[0])
        HIDDEN[:] = [tuple.__getitem__(made, slice(None))]
        return made

    def __iter__(self):
        return iter((1, 1)) if looked_at_by_the_harness() else super().__iter__()


class Both(NamedTuple):
    x: object
    y: object


class Count(int):
    pass


HIDDEN = []


class Pointer:
    def __init__(self, tensor):
        self.dtype, self._tensor = tensor.dtype, tensor

    def data_ptr(self):
        with torch._C.DisableTorchFunction():
            return self._tensor.data_ptr()
"""
