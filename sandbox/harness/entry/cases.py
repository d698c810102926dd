"""Defines a case as the candidate receives it, and checks the entry's return value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from harness.entry.errors import BadOutputs
from harness.wire.frames import FrameError
from harness.wire.tensors import MappedFile


@dataclass
class CaseInput:
    """One element of `cases` in a `cases` frame, with the descriptors that came with that frame."""

    wire: dict[str, Any]
    fds: Sequence[int]

    def __post_init__(self) -> None:
        for key, kind in (("id", str), ("arguments", list), ("outputs", int)):
            if not isinstance(self.wire.get(key), kind):
                raise FrameError(f"a case of the job has no {key}")
        for argument in self.arguments:
            if argument.get("kind") not in ("tensor", "scalar") or not isinstance(
                argument.get("name"), str
            ):
                raise FrameError(
                    f"case {self.id}: an argument is neither tensor nor scalar, or has no name"
                )
        self._maps: dict[int, MappedFile] = {}

    @property
    def id(self) -> str:
        return str(self.wire["id"])

    @property
    def arguments(self) -> list[dict[str, Any]]:
        return list(self.wire["arguments"])

    @property
    def structural(self) -> list[str]:
        """Returns the names of the arguments whose values host code may read."""
        return [str(name) for name in self.wire.get("structural") or []]

    @property
    def inout(self) -> list[str]:
        return [str(name) for name in self.wire.get("inout") or []]

    @property
    def output_from(self) -> list[str | None]:
        """Returns one element for each output: the name of the inout argument that contains the
        output after the call, or None if the entry returns the output."""
        given = self.wire.get("output_from") or [None] * int(self.wire["outputs"])
        if len(given) != self.wire["outputs"]:
            raise FrameError(
                f"case {self.id}: output_from has {len(given)} entries for {self.wire['outputs']} outputs"
            )
        return list(given)

    @property
    def output_tensors(self) -> list[dict[str, Any]]:
        """Returns the name, dtype, shape and `from` of each output. Only cases of the host tier and
        cases for CUDA C++ submissions contain these facts."""
        described = self.wire.get("output_tensors")
        if not isinstance(described, list) or len(described) != self.wire["outputs"]:
            raise FrameError(
                f"case {self.id}: output_tensors does not describe its {self.wire['outputs']} outputs"
            )
        return described

    @property
    def axes(self) -> dict[str, int]:
        """Returns the axes of the case by name. Only cases for CUDA C++ submissions contain
        axes."""
        named = self.wire.get("axes") or {}
        if not isinstance(named, dict) or not all(
            isinstance(extent, int) for extent in named.values()
        ):
            raise FrameError(f"case {self.id}: axes is not a table of integers")
        return {str(name): int(extent) for name, extent in named.items()}

    def has_bytes(self, wire: dict[str, Any]) -> bool:
        return isinstance(wire.get("fd"), int)

    def fd(self, index: object) -> int:
        if not isinstance(index, int) or not 0 <= index < len(self.fds):
            raise FrameError(f"case {self.id}: there is no descriptor {index!r}")
        return self.fds[index]

    def tensor(self, wire: dict[str, Any]) -> torch.Tensor:
        """Returns a view of an argument's bytes in its memfd. A caller that wants to write must
        copy the view first."""
        number = self.fd(wire["fd"])
        if number not in self._maps:
            self._maps[number] = MappedFile(number, writable=False)
        return self._maps[number].tensor(wire)


def collect_outputs(
    case: CaseInput, returned: Any, arguments: dict[str, Any]
) -> list[torch.Tensor]:
    """Returns the outputs in the spec's order. An output is a returned tensor or an inout argument.
    Raises BadOutputs."""
    wanted = sum(source is None for source in case.output_from)
    values: list[Any] = []
    if wanted:
        values = list(returned) if isinstance(returned, tuple | list) else [returned]
        if len(values) != wanted:
            raise BadOutputs(
                f"the entry returned {len(values)} values; the operator has {wanted} returned output{'s' * (wanted != 1)}"
            )
    rest = iter(values)
    outputs = []
    for position, source in enumerate(case.output_from):
        value = next(rest) if source is None else arguments[source]
        if not isinstance(value, torch.Tensor):
            raise BadOutputs(
                f"output {position} is {_article(type(value).__name__)}; want a torch.Tensor"
            )
        if value.layout is not torch.strided:
            raise BadOutputs(f"output {position} has layout {value.layout}; want a dense tensor")
        outputs.append(value)
    return outputs


def _article(name: str) -> str:
    return name if name == "NoneType" else f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
