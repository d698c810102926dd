"""Rotates vectors by the running product of unit quaternions."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    rows, steps = case.axes["rows"], case.axes["steps"]
    q = rng.normal((rows, steps, 4), torch.float32)
    if case.distribution == "slow":
        # The factors are small rotations about a drifting axis, as in the integration of an angular
        # velocity.
        q *= 0.05
        q[..., 0] = 1.0
    elif case.distribution == "flips":
        # Each factor is nearly the identity or a half turn about a coordinate axis, with a random
        # sign. q and -q are the same rotation.
        turn = torch.eye(4, dtype=torch.float32, device=rng.device)[
            rng.integers((rows, steps), 0, 4)
        ]
        q = (
            torch.where(rng.uniform((rows, steps, 1), torch.float32, 0.0, 1.0) < 0.5, -turn, turn)
            + 0.01 * q
        )
    q /= q.square().sum(dim=-1, keepdim=True).sqrt()
    return {"q": q, "v": rng.normal((rows, steps, 3), torch.float32).clamp(-3.4, 3.4)}


def _times(p: Tensor, q: Tensor) -> Tensor:
    w1, x1, y1, z1 = p.unbind(-1)
    w2, x2, y2, z2 = q.unbind(-1)
    return torch.stack(
        (
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        ),
        dim=-1,
    )


def _running(q: Tensor, reverse: bool = False) -> Tensor:
    """Doubles the length of the products in each round. After the round with `span`, entry t
    contains the product of the last 2 * span factors up to t."""
    product = q
    span = 1
    while span < q.shape[1]:
        old, new = product[:, :-span], product[:, span:]
        product = torch.cat(
            (product[:, :span], _times(new, old) if reverse else _times(old, new)), dim=1
        )
        span *= 2
    return product


def _rotate(p: Tensor, v: Tensor) -> Tensor:
    """Returns p v p^-1 for a quaternion p of any norm: v + 2 (w (u x v) + u x (u x v)) / |p|^2."""
    u, w = p[..., 1:], p[..., :1]
    once = torch.linalg.cross(u, v)
    return v + 2.0 * (w * once + torch.linalg.cross(u, once)) / p.square().sum(dim=-1, keepdim=True)


def reference(q: Tensor, v: Tensor) -> Tensor:
    return _rotate(_running(q), v)


def mutants(q: Tensor, v: Tensor) -> dict[str, Tensor]:
    product = _running(q)
    conjugate = product * torch.tensor([1.0, -1.0, -1.0, -1.0], dtype=q.dtype, device=q.device)
    before = torch.cat(
        (
            torch.eye(4, dtype=q.dtype, device=q.device)[:1].expand(q.shape[0], 1, 4),
            product[:, :-1],
        ),
        dim=1,
    )
    return {
        "new factor on the left": _rotate(_running(q, reverse=True), v),
        "inverse rotation": _rotate(conjugate, v),
        "product without the own factor": _rotate(before, v),
        "no running product": _rotate(q, v),
        "scalar part last": _rotate(_running(q.roll(1, -1)), v),
        "product begins again every 64 steps": torch.cat(
            [
                _rotate(_running(q[:, t : t + 64]), v[:, t : t + 64])
                for t in range(0, q.shape[1], 64)
            ],
            dim=1,
        ),
    }


def cost(case: Case) -> Cost:
    elements = case.axes["rows"] * case.axes["steps"]
    return Cost(bytes=4 * 10 * elements, flops=(28 + 36) * elements)
