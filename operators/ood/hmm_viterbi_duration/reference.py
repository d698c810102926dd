"""Computes the max-plus forward recurrence of a hidden Markov model. Staying in a state has a
constant cost per step."""

from __future__ import annotations

import torch
from harness.operator import Case, Cost, Rng
from torch import Tensor

GRID = 1024


def inputs(case: Case, rng: Rng) -> dict[str, Tensor | int | float | bool]:
    """All values are multiples of 1/1024, so scores and ties are exact in any order of
    operations."""
    batch, steps, states = case.axes["batch"], case.axes["steps"], case.axes["states"]

    def draw(shape: tuple[int, ...], width: float) -> Tensor:
        return -rng.integers(shape, 0, int(width * GRID), torch.int32).float() / GRID

    emit, trans, init = (
        draw((batch, steps, states), 6.0),
        draw((states, states), 8.0),
        draw((states,), 4.0),
    )
    stay = -draw((states,), 3.0)
    if case.distribution == "sticky":
        emit, stay = draw((batch, steps, states), 2.0), stay / 4.0
        stay = torch.floor(stay * GRID) / GRID
    elif case.distribution == "long_memory":
        # A change of state costs almost the maximum, and emissions differ little. So the best path
        # stays in one state for hundreds of steps, and its score sums this state's emissions.
        emit, trans = draw((batch, steps, states), 0.3), draw((states, states), 0.5) - 7.5
        stay = torch.floor(stay / 64.0 * GRID) / GRID
        # Makes state 0 an unlikely best state, because unwritten memory often contains zeros.
        init[0] = -4.0
    elif case.distribution == "twins":
        # States 2c and 2c + 1 have equal parameters, so the best state always ties with its twin.
        twin = torch.arange(states, device=rng.device) // 2 * 2
        emit, trans, init, stay = emit[:, :, twin], trans[twin][:, twin], init[twin], stay[twin]
    return {"emit": emit, "trans": trans, "stay": stay, "init": init}


def _forward(
    emit: Tensor, moves: Tensor, init: Tensor, renormalise: bool = True, last: bool = False
) -> tuple[Tensor, Tensor]:
    """Computes the recurrence. `moves` is the transition matrix, and its diagonal includes the stay
    penalties."""
    batch, steps, states = emit.shape
    index = torch.arange(states, device=emit.device)
    state = torch.empty((batch, steps), dtype=torch.int32, device=emit.device)
    score = init.expand(batch, states)
    for t in range(steps):
        if t > 0:
            score = (score[:, :, None] + moves).amax(dim=1)
        score = score + emit[:, t]
        best = score.amax(dim=1, keepdim=True)
        # Uses amax and amin instead of argmax, because PyTorch does not specify which of several
        # tied elements argmax returns.
        winners = score == best
        chosen = (
            index.masked_fill(~winners, -1).amax(dim=1)
            if last
            else index.masked_fill(~winners, states).amin(dim=1)
        )
        state[:, t] = chosen.to(torch.int32)
        if renormalise:
            score = score - best
    return score.contiguous(), state


def reference(emit: Tensor, trans: Tensor, stay: Tensor, init: Tensor) -> tuple[Tensor, Tensor]:
    return _forward(emit, _moves(trans, -stay), init)


def _moves(trans: Tensor, diagonal: Tensor) -> Tensor:
    own = torch.eye(trans.shape[0], dtype=torch.bool, device=trans.device)
    return torch.where(own, diagonal[:, None], trans)


def mutants(
    emit: Tensor, trans: Tensor, stay: Tensor, init: Tensor
) -> dict[str, Tensor | tuple[Tensor, ...]]:
    moves = _moves(trans, -stay)
    return {
        "ties to the last state": _forward(emit, moves, init, last=True),
        "diagonal of trans used": _forward(emit, trans, init),
        "staying is free": _forward(emit, _moves(trans, torch.zeros_like(stay)), init),
        "stay penalty on top of the diagonal": _forward(
            emit, _moves(trans, trans.diagonal() - stay), init
        ),
        "transposed transitions": _forward(emit, moves.T, init),
        "not renormalised": _forward(emit, moves, init, renormalise=False),
        "init left out": _forward(emit, moves, torch.zeros_like(init)),
    }


def cost(case: Case) -> Cost:
    batch, steps, states = case.axes["batch"], case.axes["steps"], case.axes["states"]
    words = batch * steps * states + states * states + 2 * states + batch * states + batch * steps
    return Cost(bytes=4 * words, flops=2 * batch * steps * states * states)
