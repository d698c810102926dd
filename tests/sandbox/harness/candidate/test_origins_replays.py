"""Tests what a replay of a CUDA graph does to origins (captures.py). A function of the test acts as the
operations of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
import torch
from origin_world import Given, N, into, unseen
from torch.utils._python_dispatch import _disable_current_modes


class Graph:
    """A graph whose capture is seen, and whose replay does what `acts` say."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.acts: list[Callable[[], Any]] = []
        self._monkeypatch = monkeypatch

    def capture(self, *acts: Callable[[], Any], memory: Iterable[torch.Tensor] = ()) -> None:
        """Calls the functions as what is captured. They change `memory`, which a capture would not,
        so it is as before then."""
        torch.cuda.CUDAGraph.capture_begin(self)  # type: ignore[arg-type]
        with _disable_current_modes():
            before = [(one, one.clone()) for one in memory]
        with self._monkeypatch.context() as capturing:
            capturing.setattr("harness.candidate.origins.is_captured", lambda _: True)
            for act in acts:
                act()
        with _disable_current_modes():
            for one, kept in before:
                one.copy_(kept)

    def replay(self) -> None:
        torch.cuda.CUDAGraph.replay(self)  # type: ignore[arg-type]


def _act(graph: Graph) -> None:
    with _disable_current_modes():
        for act in graph.acts:
            act()


@pytest.fixture
def graph(monkeypatch: pytest.MonkeyPatch, given: Given) -> Iterator[Graph]:
    monkeypatch.setattr(torch.cuda.CUDAGraph, "capture_begin", lambda *_, **__: None)
    monkeypatch.setattr(torch.cuda.CUDAGraph, "replay", _act)
    with given.origins.watching():
        yield Graph(monkeypatch)


def test_a_replay_writes_what_its_capture_wrote(given: Given, graph: Graph) -> None:
    clean, summed, later = (torch.zeros(N) for _ in range(3))
    graph.capture(
        lambda: given.kernel(clean, given.x),
        lambda: torch.add(given.x, given.y, out=summed),
        lambda: later.copy_(given.x),
        memory=(clean, summed, later),
    )
    graph.acts = [
        lambda: clean.numpy().fill(5),
        lambda: torch.add(given.x, given.y, out=summed),
        lambda: later.copy_(given.x),
    ]
    for _ in range(2):
        graph.replay()
        assert not given.of_torch(clean) and given.of_torch(summed)
    assert not given.of_torch(later)
    into(given, later)
    assert given.of_torch(later)


def test_a_capture_that_is_never_replayed_writes_nothing(given: Given, graph: Graph) -> None:
    made, summed = torch.ones(N), given.x + given.y
    graph.capture(made.zero_, summed.zero_, memory=(made, summed))
    assert given.of_torch(summed) and not given.of_torch(made)
    into(given, made)
    assert given.of_torch(made)


def test_memory_of_a_graph_has_no_origin_before_a_replay(given: Given, graph: Graph) -> None:
    made: list[torch.Tensor] = []
    graph.capture(lambda: made.append(torch.zeros(N)))
    with _disable_current_modes():
        made[0].copy_(given.x + given.y)
    assert given.of_torch(made[0])


def test_a_replay_of_another_graph_writes_unseen(given: Given, graph: Graph) -> None:
    made = torch.zeros(N)
    graph.capture(made.zero_, memory=[made])
    other = Graph(graph._monkeypatch)
    other.acts = [lambda: made.copy_(given.x + given.y)]
    other.replay()
    assert given.of_torch(made)


def test_a_replay_reads_what_torch_has_computed_since_the_capture(
    given: Given, graph: Graph
) -> None:
    source, out = given.x.clone(), torch.zeros(N)
    graph.capture(lambda: given.kernel(out, source), memory=[out])
    graph.acts = [lambda: out.copy_(source)]
    graph.replay()
    assert not given.of_torch(out)
    source.add_(given.y)
    graph.replay()
    assert given.of_torch(out)


def test_a_replay_reads_other_memory_in_place_of_what_was_freed(given: Given, graph: Graph) -> None:
    sources, out = [given.x.clone()], torch.zeros(N)
    graph.capture(lambda: out.copy_(sources[0]), memory=[out])
    sources.clear()
    graph.acts = [lambda: out.copy_(unseen(given))]
    graph.replay()
    assert given.of_torch(out)
