"""Compares a recorded launch plan with a captured CUDA graph: the kernels in order, their launch
shapes, and their parameters.

    problems = differences(read_plan(data), captured)       # empty: they agree

Addresses differ, so pointers are compared as (buffer, offset). The addresses of the entry
function's arguments are known. Every other buffer of the plan must have the same address throughout
the graph. Only kernels of the submission are compared, because torch's fills and copies are kernels
in the graph but not in the plan. For a tensor map only the size is compared, because the driver
chooses its bytes."""

from __future__ import annotations

from typing import Any

OURS = "assay_"  # the prefix of Assay's kernels, which replace torch's kernels
TENSOR_MAP_BYTES = 128


class Addresses:
    """The addresses of the plan's buffers in the captured process. An address is unknown until a
    kernel uses the buffer."""

    def __init__(self, buffers: list[dict[str, Any]], arguments: dict[str, list[int]]) -> None:
        self._names = [
            buffer["name"] or f"{buffer['kind']} {index}" for index, buffer in enumerate(buffers)
        ]
        self._arguments = arguments
        self._bases = {
            i: arguments[buffer["name"]][0]
            for i, buffer in enumerate(buffers)
            if buffer["kind"] == "input" and buffer["bytes"]
        }

    def problem(self, buffer: int, offset: int, address: int) -> str:
        """Checks that `address` is the address of `offset` in `buffer`. Returns the problem, or an
        empty string."""
        name = self._names[buffer]
        base = self._bases.setdefault(buffer, address - offset)
        if base + offset != address:
            return f"the plan says {name} + {offset}, the graph {name} + {address - base} (or another tensor)"
        for argument, (start, size) in self._arguments.items():
            if argument != name and start <= address < start + size:
                return f"the plan says {name} + {offset}, the graph {argument} + {address - start}"
        return ""


def _param_problem(param: tuple[Any, ...], data: bytes, addresses: Addresses) -> str:
    value = int.from_bytes(data, "little")
    match param[0]:
        case "scalar":
            size, expected = param[1], param[2] & ((1 << (8 * param[1])) - 1)
            same = (len(data), value) == (size, expected)
            return (
                ""
                if same
                else f"the plan says {expected} ({size} bytes), the graph {value} ({len(data)} bytes)"
            )
        case "null":
            return "" if value == 0 else f"the plan says null, the graph {value:#x}"
        case "scratch":
            return "" if value else "the plan says global scratch, the graph null"
        case "map":
            return (
                ""
                if len(data) == TENSOR_MAP_BYTES
                else f"the plan says a tensor map, the graph {len(data)} bytes"
            )
        case _:
            return addresses.problem(param[1], param[2], value)


def differences(plan: dict[str, Any], captured: dict[str, Any]) -> list[str]:
    names = {
        binary["kernel"] for binary in plan["binaries"] if not binary["kernel"].startswith(OURS)
    }
    planned = [
        op
        for op in plan["ops"]
        if op["op"] == "kernel" and plan["binaries"][op["binary"]]["kernel"] in names
    ]
    launched = [node for node in captured["kernels"] if node["name"] in names]
    problems = []
    if [plan["binaries"][op["binary"]]["kernel"] for op in planned] != [
        node["name"] for node in launched
    ]:
        in_plan = ", ".join(plan["binaries"][op["binary"]]["kernel"] for op in planned)
        return [
            f"kernels of the plan: {in_plan}; of the graph: {', '.join(node['name'] for node in captured['kernels'])}"
        ]
    addresses = Addresses(plan["buffers"], captured["arguments"])
    for number, (op, node) in enumerate(zip(planned, launched, strict=True)):
        binary = plan["binaries"][op["binary"]]
        where = f"kernel {number}, {binary['kernel']}"
        for what, ours, theirs in (
            ("grid", op["grid"], node["grid"]),
            ("block", op["block"], node["block"]),
            ("cluster", op["cluster"], node["cluster"]),
            ("shared bytes", binary["shared"], node["shared_bytes"]),
            ("number of parameters", len(op["params"]), len(node["params"])),
        ):
            if (list(ours) if isinstance(ours, tuple) else ours) != (
                list(theirs) if isinstance(theirs, tuple) else theirs
            ):
                problems.append(f"{where}: {what} {ours} in the plan, {theirs} in the graph")
        for position, (param, data) in enumerate(zip(op["params"], node["params"], strict=False)):
            problem = _param_problem(param, bytes.fromhex(data), addresses)
            if problem:
                problems.append(f"{where}, argument {position}: {problem}")
    for position, (output, address) in enumerate(
        zip(plan["outputs"], captured["outputs"], strict=True)
    ):
        if 0 in output["shape"]:
            continue
        problem = addresses.problem(output["buffer"], output["offset"], address)
        if problem:
            problems.append(f"output {position}: {problem}")
    return problems
