"""Adds to an error what the entry function was called with, because most errors in host code are
about the shapes or types of its arguments.

    channel.send(with_arguments(describe(error, source, "record", case.id), case))
    # "Case small gives x = float32 [4, 128], eps = 1e-05."

An error with an advice of its own is not changed."""

from __future__ import annotations

from typing import Any

from harness.entry.cases import CaseInput

# The kinds of errors that the arguments may explain.
_KINDS = (
    "assertion_error",
    "attribute_error",
    "index_error",
    "key_error",
    "output_mismatch",
    "runtime_error",
    "type_error",
    "value_error",
)
_STAGES = ("record", "run")
MOST_CHARS = 280  # the supervisor cuts advice to 300 bytes
LAST = ", ..."


def with_arguments(header: dict[str, Any], case: CaseInput | None) -> dict[str, Any]:
    """`header` is what describe() returned."""
    explained = header["kind"] in _KINDS and header["stage"] in _STAGES
    if case is None or not explained or header.get("advice"):
        return header
    return {**header, "advice": arguments_text(case)}


def arguments_text(case: CaseInput) -> str:
    text = f"Case {case.id} gives "
    shown = [f"{one['name']} = {_value(one)}" for one in case.arguments]
    if not shown:
        return ""
    for position, one in enumerate(shown):
        if len(text) + len(one) > MOST_CHARS:
            return text.removesuffix(", ") + LAST
        text += one + (", " if position < len(shown) - 1 else ".")
    return text


def _value(wire: dict[str, Any]) -> str:
    if wire["kind"] == "scalar":
        return repr(wire.get("value"))
    return f"{wire.get('dtype')} {list(wire.get('shape', []))}"
