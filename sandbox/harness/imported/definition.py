"""Runs operators that were imported from the definitions of a FlashInfer Trace dataset. The
definition's own code is the beginning of reference.py; this module makes the inputs of its cases.

    # This code is at the end of a reference.py that an importer wrote.
    _DEFINITION = Definition(Path(__file__).parent, SHA256)
    arguments = _DEFINITION.inputs(case, rng)
    outputs = _DEFINITION.call(run, x, y)

The file `definition.json` beside it has these keys: `definition` and `workloads` (as they are in
the dataset), `arguments` and `outputs` (`name`, `original`: the name in the definition, `dtype`,
`shape`: names of the case's axes, or none for a scalar; `values` of an argument: how its random values are
made, see input_values.py), `axes` (original name to name), and `draws`. `draws` says for each
distribution what the inputs are: `scalars` (original name to value), `tensors` (original name to
the file, SHA-256, dtype and shape of a tensor of the dataset), `custom` (names of inputs that the
definition's own function makes), and `variant`. Inputs that none of them names are random. The
judge uses this module outside of the jail."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from harness.imported.generators import SEED_LIMIT, seeded_generators
from harness.imported.input_values import PLAIN, SHUFFLED, random_values
from harness.operator import Case, Cost, OperatorError, Rng
from harness.wire.tensors import DTYPES

FILE = "definition.json"
CACHED_BYTES = 64 << 20  # tensors of files that stay in memory
# Makes inputs from the sizes of the axes and the scalars, on a device.
CustomInputs = Callable[[dict[str, Any], torch.device], Any]


class Definition:
    """The inputs and outputs of one imported definition (see the module's docstring)."""

    def __init__(self, folder: Path, sha256: str, custom: CustomInputs | None = None) -> None:
        data = (folder / FILE).read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise OperatorError(
                f"{folder / FILE} is not the file that this operator was imported with; import it again"
            )
        self._folder = folder
        self._known = json.loads(data)
        self._custom = custom
        self._cache: dict[str, torch.Tensor] = {}

    def known(self) -> dict[str, Any]:
        """Returns the content of definition.json."""
        return dict(self._known)

    def inputs(self, case: Case, rng: Rng) -> dict[str, Any]:
        draws = self._known["draws"][case.distribution]
        made = self._made(draws, case, rng)
        arguments = self._known["arguments"]
        return {one["name"]: self._input(one, draws, made, case, rng) for one in arguments}

    def _made(self, draws: dict[str, Any], case: Case, rng: Rng) -> dict[str, torch.Tensor]:
        """Calls the definition's own function for inputs. It draws from torch's generators."""
        wanted = {one["original"]: one for one in self._known["arguments"]}
        wanted = {name: wanted[name] for name in draws.get("custom", [])}
        shapes = {name: [case.axes[axis] for axis in one["shape"]] for name, one in wanted.items()}
        if not wanted or case.device.type == "meta":
            return {
                name: torch.empty(shapes[name], dtype=DTYPES[one["dtype"]], device=case.device)
                for name, one in wanted.items()
            }
        if self._custom is None:
            raise OperatorError("the definition has no function for its custom inputs")
        axes = {original: case.axes[name] for original, name in self._known["axes"].items()}
        seed = int(rng.integers((1,), 0, SEED_LIMIT).item())
        with seeded_generators(seed):
            made = self._custom({**axes, **draws["scalars"]}, case.device)
        for name, one in wanted.items():
            value = made.get(name) if isinstance(made, dict) else None
            if not isinstance(value, torch.Tensor):
                raise OperatorError(f"the definition's function made no tensor {name}")
            if list(value.shape) != shapes[name] or value.dtype is not DTYPES[one["dtype"]]:
                raise OperatorError(
                    f"the definition's function made {name} as {value.dtype} {list(value.shape)}; "
                    f"want {one['dtype']} {shapes[name]}"
                )
        return {name: made[name].to(case.device).contiguous() for name in wanted}

    def _input(
        self,
        one: dict[str, Any],
        draws: dict[str, Any],
        made: dict[str, torch.Tensor],
        case: Case,
        rng: Rng,
    ) -> Any:
        name, dtype, variant = one["original"], DTYPES[one["dtype"]], draws["variant"]
        if name in made:
            return made[name]
        if name in draws["tensors"]:
            tensor = self._stored(draws["tensors"][name], case.device)
            if variant == SHUFFLED and dtype.is_floating_point:
                return tensor.reshape(-1)[rng.permutation(tensor.numel())].reshape(tensor.shape)
            return tensor
        if one["shape"] is None:
            if name in draws["scalars"]:
                return draws["scalars"][name]
            value = random_values("normal", (), dtype, PLAIN, rng).item()
            return value if isinstance(value, bool | int) else float(value)
        shape = [case.axes[axis] for axis in one["shape"]]
        return random_values(one.get("values", "normal"), shape, dtype, variant, rng)

    def _stored(self, wire: dict[str, Any], device: torch.device) -> torch.Tensor:
        """Returns a new tensor with the contents of a file of the operator."""
        dtype, shape = DTYPES[wire["dtype"]], wire["shape"]
        if device.type == "meta":
            return torch.empty(shape, dtype=dtype, device=device)
        if wire["file"] not in self._cache:
            path = self._folder / wire["file"]
            data = bytearray(path.read_bytes())
            size = math.prod(shape) * dtype.itemsize
            if len(data) != size or hashlib.sha256(data).hexdigest() != wire["sha256"]:
                raise OperatorError(f"{path} has changed since the import; import it again")
            loaded = torch.frombuffer(data, dtype=dtype) if data else torch.empty(0, dtype=dtype)
            held = sum(kept.nbytes for kept in self._cache.values())
            if held + loaded.nbytes > CACHED_BYTES:
                return loaded.reshape(shape).to(device, copy=True)
            self._cache[wire["file"]] = loaded
        return self._cache[wire["file"]].reshape(shape).to(device, copy=True)

    def call(self, run: Callable[..., Any], *values: Any) -> tuple[torch.Tensor, ...]:
        """Calls the definition's function. Floats that a judge has widened are narrowed, because
        the function is written for the definition's dtypes. Returns all outputs in order."""
        given = [
            value.to(DTYPES[one["dtype"]]) if isinstance(value, torch.Tensor) else value
            for one, value in zip(self._known["arguments"], values, strict=True)
        ]
        device = next(value.device for value in given if isinstance(value, torch.Tensor))
        returned = run(*given)
        wanted = self._known["outputs"]
        if isinstance(returned, dict):
            missing = [one["original"] for one in wanted if one["original"] not in returned]
            if missing:
                raise OperatorError(f"the reference's dict has no {missing[0]}")
            found = [returned[one["original"]] for one in wanted]
        else:
            found = list(returned) if isinstance(returned, tuple | list) else [returned]
        if len(found) != len(wanted):
            raise OperatorError(
                f"the reference returned {len(found)} outputs; the definition has {len(wanted)}"
            )
        return tuple(_tensor(one, value, device) for one, value in zip(wanted, found, strict=True))

    def cost(self, case: Case) -> Cost:
        """Returns the cost of writing the outputs. Which inputs a kernel must read is not known,
        so they count as untouched."""
        given = [one for one in self._known["arguments"] if one["shape"] is not None]
        read, written = (
            sum(
                DTYPES[one["dtype"]].itemsize
                * math.prod(case.axes[axis] for axis in one["shape"] or ())
                for one in tensors
            )
            for tensors in (given, self._known["outputs"])
        )
        return Cost(bytes=float(written), flops=0, untouched=float(read))


def _tensor(one: dict[str, Any], value: Any, device: torch.device) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        return value.detach()
    if one["shape"] is None and isinstance(value, bool | int | float):
        return torch.tensor(value, dtype=DTYPES[one["dtype"]], device=device)
    kind = type(value).__name__
    raise OperatorError(f"the reference returned {one['original']} as {kind}; want a tensor")
