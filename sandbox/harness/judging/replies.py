"""Builds messages of the judge about a case (docs/reference/frames.md).

header, fds = about("refreshed", request.header, seed="12")
channel.send(begun(request.header, request.header["cases"][0]))"""

from __future__ import annotations

from typing import Any

Reply = tuple[dict[str, Any], list[int]]


def about(reply: str, header: dict[str, Any], /, **fields: Any) -> Reply:
    """Returns the reply of this type to a request about one case."""
    return {"type": reply, "job": header["job"], "case": header["case"], **fields}, []


def begun(header: dict[str, Any], case: dict[str, Any]) -> dict[str, Any]:
    """Returns the message that the judge begins with a case of a request. An error names this case
    if it takes too long."""
    return {"type": "begun", "job": header["job"], "case": case["id"]}
