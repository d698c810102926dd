"""Describes scalar arguments in frames (docs/reference/frames.md, "Tensors and scalars").

    wire = scalar_wire("low", float("-inf"))
    # {"name": "low", "kind": "scalar", "type": "float", "value": "-inf"}
    value = scalar_value(wire)

JSON has no numbers for NaN and the infinities, so they are sent as strings."""

from __future__ import annotations

import math
from typing import Any

NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def scalar_wire(name: str, value: int | float | bool) -> dict[str, Any]:
    """Returns the description of a scalar argument."""
    shown = json_number(value) if isinstance(value, float) else value
    return {"name": name, "kind": "scalar", "type": type(value).__name__, "value": shown}


def json_number(value: float | None) -> float | str | None:
    """Returns the value in a form that JSON has."""
    return value if value is None or math.isfinite(value) else str(value)


def scalar_value(wire: dict[str, Any]) -> Any:
    """Returns the value of a scalar argument from its description."""
    value = wire["value"]
    return NOT_FINITE[value] if isinstance(value, str) else value
