"""Describes what an import reads from a dataset in a format like that of FlashInfer Trace:
definitions, workloads, and the files with them. Two benchmarks have such a format
(trace_dataset.py, ../sol_execbench/sol_dataset.py)."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trace_constraints import names_in, parse

PLAIN_VALUES = "normal"


class BadEntry(Exception):
    """A definition or a workload cannot be used. `kind` is a word for counting."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Tensor:
    """An input or output. A shape of None means a scalar."""

    name: str
    shape: tuple[str, ...] | None
    dtype: str
    description: str
    values: str = PLAIN_VALUES  # how an input's random values are made (harness/imported/values.py)


@dataclass(frozen=True)
class Rule:
    """How outputs of floats are compared."""

    tolerance: float  # an element may be off by this, or by this share of its size
    benchmarks: str = ""  # the rule of the benchmark, in words, if it is another one


# The rule of FlashInfer-Bench.
DEFAULT_RULE = Rule(0.01)


@dataclass(frozen=True)
class Definition:
    name: str
    op_type: str
    axes: dict[str, int | None]  # None: the axis is variable
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    reference: str
    constraints: tuple[str, ...]
    description: str
    document: dict[str, Any]  # as it is in the file
    rule: Rule = DEFAULT_RULE
    expressions: Mapping[str, str] = field(default_factory=dict)  # of variable axes that have one
    custom_inputs: str = ""  # a function of the reference's code that makes inputs

    def unbound_axes(self) -> set[str]:
        """Returns the variable axes of outputs that are in no input's shape. Only the reference
        knows their sizes."""
        bound = {axis for one in self.inputs for axis in one.shape or ()}
        named = {axis for one in self.outputs for axis in one.shape or ()}
        given = bound | {axis for axis, value in self.axes.items() if value is not None}
        known = {axis for axis, text in self.expressions.items() if names_in(parse(text)) <= given}
        return {axis for axis in named - bound - known if self.axes[axis] is None}

    def functions(self) -> set[str]:
        """Returns the names of the functions that the reference's code defines."""
        body = ast.parse(self.reference).body
        return {node.name for node in body if isinstance(node, ast.FunctionDef)}


@dataclass(frozen=True)
class Workload:
    uuid: str
    axes: dict[str, int]  # of variable axes
    inputs: dict[str, dict[str, Any]]
    document: dict[str, Any]


@dataclass
class DefinitionFile:
    """A file of the dataset, and what an import made of it."""

    name: str
    definition: Definition | None = None
    workloads: list[Workload] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # workloads that cannot be used, and why
    kind: str = ""
    problem: str = ""
    extra: str = ""  # a digest of the tensors' files
    label: str = ""  # the operator's name is made from it; empty: from the file's name

    @property
    def sha256(self) -> str:
        """A digest of everything that the operator is made from."""
        definition = self.definition.document if self.definition else None
        workloads = [workload.document for workload in self.workloads]
        text = json.dumps([self.name, definition, workloads, self.left_out, self.problem])
        return hashlib.sha256((text + self.extra).encode()).hexdigest()


@dataclass
class Dataset:
    folder: Path
    files: list[DefinitionFile]
