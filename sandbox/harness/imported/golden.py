"""Runs operators that were imported from golden files. A golden file has a kernel part, which a
submission replaces, and a test part, which creates inputs and calls the kernel part.

    # This code is in a reference.py that an importer wrote.
    golden = Golden(Path(__file__).parent, TEST_SHA256, INTERFACE, CALLS, DRAWS)
    arguments = golden.inputs(case, rng)
    outputs = golden.reference(arguments)
    masks = golden.open_elements(arguments)  # elements that are exempt from checking
    axes = golden.output_axes(case, arguments)  # of outputs whose shapes depend on values

The judge uses this module. A case is one call that the test part makes to the kernel part. To
obtain the arguments of this call, the judge runs the test part up to the call, with random numbers
from the case's seed. The expected outputs are the results of the golden kernel part, which is the
benchmark's own reference. Running the test part and the kernel part needs a GPU. Without a GPU,
earlier calls return zeros. The arguments then have the correct form but not the correct values,
which is enough to record a submission. For cases with `interpreter = true`, the golden kernel part
runs without a GPU too, in Triton's interpreter (interpreted.py). The results of earlier calls are
zeros then as well: the arguments are other ones than with a GPU, and the same for the golden kernel
part and for a submission.

The code of some golden files leaves parts of its outputs unwritten, reads uninitialised memory, or
accesses memory beyond its tensors. Therefore this module runs the code on memory with known
contents (surroundings.py). This also protects the judge's own tensors from wrong writes of the
code. open_elements.py identifies the elements that depend on these contents.

`DRAWS` contains, by call, the random tensors that the kernel part itself draws during the call:
name of the function, shape and dtype, and the bounds of integers. They are arguments of the case
(`d0`, `d1`, ...), which the adapter hands out, so that the golden kernel part and a submission
compute with the same numbers.

`INTERFACE` contains `leaves` (for each leaf of the call's arguments, in order, the name in the
spec, or none for a constant of the adapter), `dtypes`, and `written` (the arguments that are also
outputs; they follow the returned outputs), and `tests` (the number of calls in each test, if the
test part calls nothing outside of tests; test_parts.py). `CALLS` contains the form of each call's
result, in the order of the calls, or none for results that are not known (returned.py)."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import os
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch.utils._pytree import tree_flatten

from harness.entry import fake_cuda
from harness.imported.blind_test import BlindTest
from harness.imported.cut_arguments import cut, number_of, sizes_of
from harness.imported.generators import SEED_LIMIT, seeded_generators
from harness.imported.golden_speed import use_first_configuration
from harness.imported.interpreted import MOST_WORK, Interpreter
from harness.imported.open_elements import open_elements
from harness.imported.proxies import leaves
from harness.imported.returned import blank, tensors_of
from harness.imported.surroundings import Contents, Surroundings, ZeroFilled, placed
from harness.imported.test_parts import TestPart, stub_missing
from harness.interpreting.interpret import TARGET, CudaOnCpu
from harness.operator import Case, Cost, NeedsGpu, OperatorError, Rng, module_of
from harness.wire.tensors import DTYPES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KERNEL_PART, TEST_PART = "oracle.py", "test_part.py"


class _Reached(BaseException):
    """The test part has made the wanted call. This class is not derived from Exception, so that no
    `except Exception` in the test part catches it."""

    def __init__(self, args: Any, kwargs: Any) -> None:
        super().__init__()
        self.leaves = leaves((args, kwargs))


def import_kernel_part(path: Path, name: str) -> ModuleType:
    stub_missing()
    module, execute = module_of(path, name)
    sys.modules[name] = module
    vars(module)["torch"] = (
        # Some kernel parts do not import torch, although their test part needs it there. The
        # adapter adds the same import to submissions.
        torch
    )
    execute()
    use_first_configuration()
    return module


class Golden:
    """The golden file of one imported operator (see the module's docstring)."""

    def __init__(
        self,
        folder: Path,
        test_sha256: str,
        interface: dict[str, Any],
        calls: list[Any],
        draws: dict[int, list[Any]] | None = None,
    ) -> None:
        if draws is None:
            raise OperatorError(f"{folder}: an older version of Assay imported it; import it again")
        text = (folder / TEST_PART).read_text(encoding="utf-8")
        if hashlib.sha256(text.encode()).hexdigest() != test_sha256:
            raise OperatorError(
                f"{folder / TEST_PART} is not the test part that this operator was imported from; import it again"
            )
        self._folder = folder
        self._test = TestPart(text, str(folder / TEST_PART), interface.get("tests", []))
        self._interface = interface
        self._calls = calls
        self._draws = draws
        self._loaded: ModuleType | None = None
        self._interpreted: ModuleType | None = None  # with kernels for Triton's interpreter
        self._parsed: tuple[int, dict[str, Any]] | None = None  # spec.toml, and when it was written

    def _module(self) -> ModuleType:
        if self._loaded is None:
            # No module of Assay has such a name, whatever the name of the operator is.
            self._loaded = import_kernel_part(
                self._folder / KERNEL_PART, f"golden_kernels_of_{self._folder.name}"
            )
        return self._loaded

    def _interpreted_module(self) -> ModuleType:
        if self._interpreted is None:
            with _interpreter().importing(), _fake_gpu(), CudaOnCpu():
                self._interpreted = import_kernel_part(
                    self._folder / KERNEL_PART, f"interpreted_kernels_of_{self._folder.name}"
                )
        return self._interpreted

    @property
    def draws(self) -> bool:
        """True if the kernel part draws random tensors itself."""
        return bool(self._draws)

    def inputs(self, case: Case, rng: Rng) -> dict[str, Any]:
        seed = int(rng.integers((1,), 0, SEED_LIMIT).item())
        number = number_of(case.distribution)
        given = self._leaves(number, seed, case.device.type == "cuda")
        if sizes := sizes_of(case.distribution):
            given = cut(given, sizes)
        named = [
            (name, leaf)
            for name, leaf in zip(self._interface["leaves"], given, strict=True)
            if name
        ]
        named += [(f"d{i}", _drawn(rng, *one)) for i, one in enumerate(self._draws.get(number, []))]
        return {
            name: leaf.detach() if isinstance(leaf, torch.Tensor) else leaf for name, leaf in named
        }

    def _leaves(self, wanted: int, seed: int, real: bool) -> list[Any]:
        """Returns the arguments of the wanted call as the test part creates them, as a flat list of
        leaves."""
        made = 0

        def called(number: int, _: str, function: Any, args: Any, kwargs: Any) -> Any:
            nonlocal made
            made += 1
            if number == wanted:
                raise _Reached(args, kwargs)
            return function(*args, **kwargs) if real else self._blank(number, args, kwargs)

        with (
            seeded_generators(seed),
            contextlib.nullcontext() if torch.cuda.is_available() else _fake_gpu(),
            Surroundings(Contents.ZERO, "cuda") if real else ZeroFilled(),
            contextlib.nullcontext() if real else CudaOnCpu(),
        ):
            module = self._module()
            try:
                with contextlib.nullcontext() if real else BlindTest():
                    self._test.run(module, called, calls_only=not real)
            except _Reached as reached:
                return reached.leaves
            except Exception as error:
                if real:
                    raise
                seen = f"{type(error).__name__}: {error}"
                raise NeedsGpu(
                    f"{self._folder.name}: without a GPU, the test part does not come as far as this call ({seen}); it needs a GPU"
                ) from error
        # Without a GPU, a test gets zeros and may fail before it makes the call.
        kind = OperatorError if real else NeedsGpu
        raise kind(
            f"{self._folder.name}: the test part made {made} calls; number {wanted} was wanted"
        )

    def _blank(self, number: int, args: Any, kwargs: Any) -> Any:
        """Returns zeros that have the form of an earlier call's result."""
        returned = self._calls[number]
        if returned is None:
            raise NeedsGpu(
                f"{self._folder.name}: the result of call {number} is not known; the calls after it need a GPU"
            )
        sources = [
            leaf
            for leaf in leaves((args, kwargs))
            if isinstance(leaf, torch.Tensor) and leaf.requires_grad and torch.is_grad_enabled()
        ]
        return blank(returned, sources)

    def reference(self, arguments: dict[str, Any]) -> tuple[torch.Tensor, ...]:
        """Returns the results of the golden kernel part for the arguments."""
        return self.computed(arguments, Contents.ZERO, self._device_type(arguments))

    def open_elements(self, arguments: dict[str, Any]) -> list[torch.Tensor]:
        """Returns one mask for each output. The mask is true for elements that depend on
        uninitialised memory."""
        device_type = self._device_type(arguments)
        allowed = [float(output["max_abs_error"]) for output in self._spec()["outputs"]]
        return open_elements(
            lambda contents: self.computed(arguments, contents, device_type), allowed
        )

    def output_axes(self, case: Case, arguments: dict[str, Any]) -> dict[str, int]:
        """Returns the extents of the returned tensors if host code may compute these extents from
        values. The shapes then depend on the seed, so they can differ from the shapes that the
        importer noted. Without a GPU, the result is empty, and the importer's shapes are used."""
        if case.device.type != "cuda" or not any(
            argument["role"] == "structural" for argument in self._spec()["arguments"]
        ):
            return {}
        return self.extents(arguments, "cuda")

    def extents(self, arguments: dict[str, Any], device_type: str) -> dict[str, int]:
        """Returns the extents of the tensors that are returned for these arguments, by axis."""
        outputs = self.computed(arguments, Contents.ZERO, device_type)
        returned = outputs[: len(outputs) - len(self._interface["written"])]
        return {
            f"y{i}_{dim}": extent
            for i, x in enumerate(returned)
            for dim, extent in enumerate(x.shape)
        }

    def computed(
        self, arguments: dict[str, Any], contents: Contents, device_type: str
    ) -> tuple[torch.Tensor, ...]:
        """Returns the outputs that result when uninitialised device memory has these contents. The
        golden kernel part is compiled for the dtypes of the test part, so arguments of a wider
        dtype are narrowed."""
        spec = self._spec()
        given = {name: self._as_given(name, value, contents) for name, value in arguments.items()}
        with_gpu = device_type == "cuda"
        module = self._module() if with_gpu else self._interpreted_module()
        names: dict[str, Any] = dict(vars(module))
        adapter = compile(
            spec["adapter"], f"{self._folder.name}, adapter", "exec", dont_inherit=True
        )
        exec(adapter, names)
        with (
            contextlib.nullcontext() if with_gpu else _fake_gpu(),
            Surroundings(contents, device_type),
            contextlib.nullcontext() if with_gpu else _interpreter().running(MOST_WORK),
        ):
            returned = names[spec["entry"]](**given)
        outputs = [x for x in tree_flatten(returned)[0] if isinstance(x, torch.Tensor)]
        written = [given[name] for name in self._interface["written"]]
        return tuple(x.detach().clone() for x in outputs + written)

    def _device_type(self, arguments: dict[str, Any]) -> str:
        if any(isinstance(value, torch.Tensor) and value.is_cuda for value in arguments.values()):
            return "cuda"
        # A process that compiles golden kernels for a GPU cannot interpret them.
        if torch.cuda.is_available() or not self._is_interpreted(arguments):
            raise NeedsGpu(
                f"{self._folder.name}: its reference is a golden kernel, which needs a GPU"
            )
        return "cpu"

    def _is_interpreted(self, arguments: dict[str, Any]) -> bool:
        """Returns True if these are arguments of a case that the interpreter can run."""
        extents = {
            f"{name}_{dim}": extent
            for name, value in arguments.items()
            if isinstance(value, torch.Tensor)
            for dim, extent in enumerate(value.shape)
        }
        return any(
            case["interpreter"] and extents.items() <= case["axes"].items()
            for case in self._spec()["cases"]
        )

    def _spec(self) -> dict[str, Any]:
        """Returns the content of spec.toml. A judge needs the content eight times for each case, so
        the file is parsed only if it has changed."""
        path = self._folder / "spec.toml"
        written_ns = path.stat().st_mtime_ns
        if self._parsed is None or self._parsed[0] != written_ns:
            self._parsed = written_ns, tomllib.loads(path.read_text(encoding="utf-8"))
        return self._parsed[1]

    def _as_given(self, name: str, value: Any, contents: Contents) -> Any:
        """Returns a copy with the same strides. A copy is needed because the golden kernel may
        write to the argument."""
        return (
            placed(value, DTYPES[self._interface["dtypes"][name]], contents)
            if isinstance(value, torch.Tensor)
            else value
        )

    def cost(self, case: Case) -> Cost:
        """Returns the cost of writing the returned tensors. The traffic of the arguments is
        unknown, so it is not included."""
        returned = tensors_of(self._calls[number_of(case.distribution)])
        shapes = [
            [case.axes.get(f"y{i}_{dim}", extent) for dim, extent in enumerate(shape)]
            for i, (_, shape) in enumerate(returned)
        ]
        written = sum(
            DTYPES[dtype].itemsize * math.prod(shape)
            for (dtype, _), shape in zip(returned, shapes, strict=True)
        )
        return Cost(bytes=float(written), flops=0)


def _drawn(
    rng: Rng, function: str, shape: list[int], dtype: str, low: int = 0, high: int = 0
) -> torch.Tensor:
    """Returns random numbers as torch.randn(), torch.rand() or torch.randint() would draw them."""
    kind = DTYPES[dtype]
    if function == "randint":
        return rng.integers(shape, low, high, kind)
    return rng.normal(shape, kind) if function == "randn" else rng.uniform(shape, kind, 0.0, 1.0)


@functools.cache
def _interpreter() -> Interpreter:
    _install_driver()
    return Interpreter()


@functools.cache
def _install_driver() -> None:
    """Gives Triton a driver that knows a target and launches nothing. Kernel parts ask Triton's
    driver for the device, and Triton's own driver needs a GPU."""
    from harness import triton_adapter  # a judge of other operators does not need Triton

    triton_adapter.install_driver(TARGET, None, os.path.join(tempfile.gettempdir(), "triton-cache"))


def _fake_gpu() -> contextlib.AbstractContextManager[None]:
    """Returns a context in which torch and Triton answer questions about a device that does not
    exist."""
    _install_driver()
    return fake_cuda.stubbed(TARGET)
