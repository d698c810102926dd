"""Tests how a class-based submission is called (harness/entry/class_entry.py), and the parts of a
problem file that it replaces (problem_source.py, problem_draws.py)."""

from __future__ import annotations

import random

import numpy
import pytest
import torch
from harness.entry import class_entry
from harness.entry.class_entry import call_class, put_state, state_of
from harness.entry.errors import InterfaceMismatch, Source, describe
from harness.imported import problem_draws, problem_source
from harness.imported.generators import seeded_generators
from harness.operator import Rng
from torch import nn


class Scaled(nn.Module):
    def __init__(self, n: int, factor: float = 2.0) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(n)
        self.factor = factor
        self.plain = torch.randn(n)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(x) * self.factor + self.plain


def state(n: int = 3) -> dict[str, torch.Tensor]:
    return {
        "norm.weight": torch.full((n,), 3.0),
        "norm.bias": torch.full((n,), 0.5),
        "norm.running_mean": torch.zeros(n),
        "norm.running_var": torch.ones(n),
    }


def test_the_given_parameters_decide_and_buffers_are_written() -> None:
    x, given = torch.randn(8, 3), state()
    y = call_class(Scaled, (3,), given, (x,))
    right = nn.functional.batch_norm(
        x, None, None, given["norm.weight"], given["norm.bias"], training=True
    )
    torch.testing.assert_close(y, right * 2.0)
    torch.testing.assert_close(given["norm.running_mean"], 0.1 * x.mean(0))


def test_a_constructor_draws_nothing() -> None:
    before = torch.random.get_rng_state()
    with class_entry.undrawn():
        made = Scaled(3)
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.equal(made.plain, torch.zeros(3))
    assert not torch.equal(torch.randn(3), torch.zeros(3))


def test_counters_are_no_part_of_the_state() -> None:
    assert list(state_of(Scaled(3))) == list(state())


def test_a_tensor_with_two_names_occurs_once() -> None:
    made = nn.Module()
    made.a, made.b = nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)
    made.b.weight = made.a.weight
    given = torch.ones(2, 2)
    put_state(made, {"a.weight": given})
    assert made.a.weight is made.b.weight
    assert torch.equal(made.b.weight, given)


def test_a_recurrent_layer_uses_the_given_weights() -> None:
    with class_entry.undrawn():
        cell = nn.RNN(2, 2, batch_first=True)
    given = {name: torch.full(x.shape, 0.25) for name, x in state_of(cell).items()}
    x = torch.ones(1, 1, 2)
    y, _ = call_class(nn.RNN, (2, 2), given, (x.transpose(0, 1),))
    torch.testing.assert_close(y, torch.tanh(torch.full((1, 1, 2), 1.0)))


@pytest.mark.parametrize(
    ("kind", "init", "changed", "words"),
    [
        (Scaled, (), state(), "Scaled.__init__ does not accept the 0 arguments"),
        (Scaled, (4,), state(), "is float32 [4]; that of Model is float32 [3]"),
        (nn.Identity, (), state(), "it lacks norm.weight float32 [3], norm.bias"),
        (Scaled, (3,), {}, "it has norm.weight float32 [3]"),
        (lambda n: n, (3,), state(), "is not a class derived from torch.nn.Module"),
    ],
)
def test_a_class_that_does_not_fit_is_a_typed_error(
    kind: object, init: tuple[int, ...], changed: dict[str, torch.Tensor], words: str
) -> None:
    with pytest.raises(InterfaceMismatch) as raised:
        call_class(kind, init, changed, (torch.randn(8, 3),))
    assert words in str(raised.value)
    described = describe(raised.value, Source("", "submission.py"), "run")
    assert described["kind"] == "interface_mismatch"


def test_a_forward_with_other_parameters_is_a_typed_error() -> None:
    with pytest.raises(InterfaceMismatch, match="forward does not accept the 2 arguments"):
        call_class(Scaled, (3,), state(), (torch.randn(8, 3), 1))


class Drawing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.randn(4)


def test_draws_of_forward_are_handed_out() -> None:
    given = torch.arange(4.0)
    assert torch.equal(call_class(Drawing, (), {}, (torch.zeros(4),), [given]), given)
    with pytest.raises(InterfaceMismatch, match="draws a tensor of shape"):
        call_class(Drawing, (), {}, (torch.zeros(4),), [torch.zeros(5)])


PROBLEM = """
import torch
width = 512
other = width * 2
kept = 300
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.size = kept + width
    def forward(self, x):
        return x
def get_inputs():
    return [torch.rand(width, other, 77)]
def get_init_inputs():
    return [kept]
"""


def test_only_sizes_of_inputs_change() -> None:
    source = problem_source.ProblemSource(PROBLEM, "problem.py")
    assert source.sizes() == [512, 77]
    names = source.executed({512: 5, 77: 3, 300: 1})
    assert names["get_inputs"]()[0].shape == (5, 10, 3)
    assert names["get_init_inputs"]() == [300]
    assert source.executed({})["width"] == 512


@pytest.mark.parametrize("name", ["Model", "get_inputs", "get_init_inputs"])
def test_a_file_without_a_definition_is_no_problem_file(name: str) -> None:
    with pytest.raises(problem_source.BadProblem, match=f"`{name}`"):
        problem_source.ProblemSource(PROBLEM.replace(f" {name}(", f" x{name}("), "problem.py")


def drawn(distribution: str, make: str) -> torch.Tensor:
    with problem_draws.Draws(distribution, Rng(1, "cpu")):
        made: torch.Tensor = eval(make, {"torch": torch})
    return made


def test_distributions_replace_what_is_drawn() -> None:
    assert bool((drawn("given", "torch.rand(1000)") >= 0).all())
    for name, least in (("signed", -1.0), ("shifted", -2.0), ("wide", -20.0)):
        assert bool((drawn(name, "torch.rand(1000)") < least).any()), name
    whole = drawn("wide", "torch.randint(3, 9, (500,))")
    assert int(whole.min()) == 3 and int(whole.max()) == 8
    assert sorted(drawn("signed", "torch.randperm(5)").tolist()) == [0, 1, 2, 3, 4]


def test_constant_parameters_are_drawn() -> None:
    made = problem_draws.drawn_state(Scaled, (64,), Rng(1, "cpu"))
    for name in ("norm.weight", "norm.bias", "norm.running_mean", "norm.running_var"):
        assert made[name].std() > 0.1, name
    assert bool((made["norm.running_var"] > 0).all())


def test_generators_are_seeded_and_restored() -> None:
    def drawn() -> tuple[float, float, float]:
        return random.random(), float(numpy.random.rand()), float(torch.rand(()))

    with seeded_generators(7):
        first = drawn()
    with seeded_generators(3):
        expected = drawn()
    with seeded_generators(3):
        with seeded_generators(7):
            assert drawn() == first
        assert drawn() == expected
