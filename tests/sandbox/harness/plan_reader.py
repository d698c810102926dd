"""A second, independent reader of launch plans, which checks the writer. It was written from
docs/reference/launch-plan.md alone."""

from __future__ import annotations

import struct
from typing import Any


class Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def bytes(self, size: int) -> bytes:
        self.at += size
        assert self.at <= len(self.data)
        return self.data[self.at - size : self.at]

    def text(self) -> str:
        return self.bytes(self.take("I")[0]).decode()


def read_plan(data: bytes) -> dict[str, Any]:
    r = Reader(data)
    assert r.bytes(8) == b"ASSAYPLN" and r.take("I") == (2,)
    plan: dict[str, Any] = {
        "target": r.text(),
        "buffers": [],
        "binaries": [],
        "ops": [],
        "outputs": [],
    }
    for _ in range(r.take("I")[0]):
        kind, nbytes = r.take("BQ")
        plan["buffers"].append(
            {
                "kind": ("input", "scratch", "constant")[kind],
                "bytes": nbytes,
                "name": r.text(),
                "data": r.bytes(r.take("Q")[0]),
            }
        )
        assert len(plan["buffers"][-1]["data"]) == (nbytes if kind == 2 else 0)
    for _ in range(r.take("I")[0]):
        plan["binaries"].append(
            {"kernel": r.text(), "shared": r.take("I")[0], "image": r.bytes(r.take("Q")[0])}
        )
    for _ in range(r.take("I")[0]):
        plan["ops"].append(_op(r))
    for _ in range(r.take("I")[0]):
        buffer, offset = r.take("IQ")
        dtype, rank = r.text(), r.take("I")[0]
        plan["outputs"].append(
            {
                "buffer": buffer,
                "offset": offset,
                "dtype": dtype,
                "shape": r.take(f"{rank}q"),
                "strides": r.take(f"{rank}q"),
            }
        )
    assert r.at == len(data)
    return plan


def _alternative(r: Reader) -> tuple[str, list[dict[str, Any]]]:
    label = r.text()
    return label, [_op(r) for _ in range(r.take("I")[0])]


def _tensor_map(r: Reader) -> tuple[str, dict[str, Any]]:
    buffer, offset, kind, swizzle, nan, rank = r.take("IQBBBB")
    shape, strides, box = r.take(f"{rank}Q"), r.take(f"{rank - 1}Q"), r.take(f"{rank}I")
    names = ("buffer", "offset", "type", "swizzle", "nan", "shape", "strides", "box")
    return "map", dict(
        zip(names, (buffer, offset, kind, swizzle, nan, shape, strides, box), strict=True)
    )


def _op(r: Reader) -> dict[str, Any]:
    code = r.take("B")[0]
    if code == 1:
        return dict(
            zip(
                ("op", "buffer", "offset", "count", "width", "pattern"),
                ("fill", *r.take("IQQBQ")),
                strict=True,
            )
        )
    if code == 2:
        return dict(
            zip(
                ("op", "dst", "dst_offset", "src", "src_offset", "bytes"),
                ("copy", *r.take("IQIQQ")),
                strict=True,
            )
        )
    if code == 3:
        tunable, count = r.take("II")
        return {
            "op": "choice",
            "tunable": tunable,
            "alternatives": [_alternative(r) for _ in range(count)],
        }
    assert code == 0
    binary, gx, gy, gz, bx, by, bz, cx, cy, cz, flags, count = r.take("I3I3I3III")
    params = []
    for _ in range(count):
        kind = r.take("B")[0]
        if kind == 4:
            params.append(_tensor_map(r))
            continue
        params.append([("scalar", "BQ"), ("pointer", "IQ"), ("null", ""), ("scratch", "QI")][kind])
        params[-1] = (params[-1][0], *r.take(params[-1][1]))
    kernel = {
        "op": "kernel",
        "binary": binary,
        "grid": (gx, gy, gz),
        "block": (bx, by, bz),
        "cluster": (cx, cy, cz),
    }
    return {**kernel, "flags": flags, "params": params}
