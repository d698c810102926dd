"""Runs backward passes of a submission without torch's autograd engine.

    install()  # replaces torch.autograd.backward and .grad for fake tensors, not for real ones

The engine has a thread for each device. The thread sets a device guard, which needs a CUDA context,
and a recording has no CUDA context. The recorder would not see the work of the engine's thread
either, because its dispatch modes apply only to the thread of the submission. Therefore this module
walks the autograd graph in the calling thread. It visits the nodes in the order of their
dependencies, and sums gradients where paths meet. Double backward is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from harness.entry.errors import NotRecordable

_Edge = tuple[Any, int]  # a node and the number of one of its inputs


def _edge(tensor: torch.Tensor) -> _Edge:
    edge = torch.autograd.graph.get_gradient_edge(tensor)
    return edge.node, edge.output_nr


def _order(roots: Sequence[Any]) -> list[Any]:
    """Returns all reachable nodes. Each node precedes the nodes to which it passes gradients."""
    found: list[Any] = []
    state: dict[Any, bool] = {}  # True: all successors of the node are in `found`
    stack = [(root, False) for root in roots]
    while stack:
        node, done = stack.pop()
        if done:
            if not state[node]:
                state[node] = True
                found.append(node)
        elif node not in state:
            state[node] = False
            stack.append((node, True))
            stack += [
                (following, False)
                for following, _ in node.next_functions
                if following is not None and following not in state
            ]
    return found[::-1]


def _apply(node: Any, gradients: list[torch.Tensor | None]) -> tuple[Any, ...]:
    """Runs one node. If a node of a Python function has received no gradient for an output, the
    function gets zeros for that output, unless it has declared that it accepts None."""
    if isinstance(node, torch.autograd.function.BackwardCFunction):
        if getattr(node, "materialize_grads", True):
            gradients = [
                _zeros(like) if g is None else g
                for g, like in zip(gradients, node._input_metadata, strict=True)
            ]
        result = node.apply(*gradients)
    else:
        result = node(*gradients)
    return result if isinstance(result, tuple) else (result,)


def _zeros(like: Any) -> torch.Tensor | None:
    """Returns zeros in the form of an output, which `like` describes. If `like` describes a scalar
    on the host, the output was not a tensor, and the result is None."""
    if like.device.type == "cpu" and not like.shape:
        return None
    return torch.zeros(tuple(like.shape), dtype=like.dtype, device=like.device)


def _fitted(gradient: torch.Tensor, like: Any) -> torch.Tensor:
    """Converts a gradient to the type and shape of the tensor it belongs to, as the engine does."""
    if tuple(gradient.shape) != tuple(like.shape):
        gradient = gradient.sum_to_size(tuple(like.shape))
    return gradient if gradient.dtype == like.dtype else gradient.to(like.dtype)


def walk(
    roots: Sequence[torch.Tensor], gradients: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]
) -> dict[_Edge, torch.Tensor]:
    """Returns the gradients of the tensors in `wanted` and of every leaf. The keys of the result
    are the edges of these tensors."""
    arrived: dict[_Edge, torch.Tensor] = {}
    for root, gradient in zip(roots, gradients, strict=True):
        _add(arrived, _edge(root), gradient)
    kept: dict[_Edge, torch.Tensor] = {}
    asked = {_edge(tensor) for tensor in wanted}
    with torch.no_grad():
        for node in _order([_edge(root)[0] for root in roots]):
            inputs = [arrived.pop((node, i), None) for i in range(len(node._input_metadata))]
            is_leaf = hasattr(node, "variable")
            for i, gradient in enumerate(inputs):
                if gradient is not None and (is_leaf or (node, i) in asked):
                    kept[node, i] = gradient
            if is_leaf or all(gradient is None for gradient in inputs):
                continue
            for edge, gradient in zip(node.next_functions, _apply(node, inputs), strict=False):
                if edge[0] is not None and gradient is not None:
                    _add(arrived, edge, _fitted(gradient, edge[0]._input_metadata[edge[1]]))
    return kept


def _add(arrived: dict[_Edge, torch.Tensor], edge: _Edge, gradient: torch.Tensor) -> None:
    arrived[edge] = arrived[edge] + gradient if edge in arrived else gradient


def _roots(tensors: Any, gradients: Any) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    roots = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
    given = (
        [gradients]
        if isinstance(gradients, torch.Tensor)
        else list(gradients or [None] * len(roots))
    )
    for root, gradient in zip(roots, given, strict=True):
        if gradient is None and root.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return roots, [
        torch.ones_like(root) if gradient is None else gradient
        for root, gradient in zip(roots, given, strict=True)
    ]


def _is_fake(tensors: Any) -> bool:
    return any(
        isinstance(x, FakeTensor)
        for x in ([tensors] if isinstance(tensors, torch.Tensor) else tensors)
    )


def _backward(original: Callable[..., None]) -> Callable[..., None]:
    def backward(
        tensors: Any,
        grad_tensors: Any = None,
        retain_graph: Any = None,
        create_graph: bool = False,
        inputs: Any = None,
        **other: Any,
    ) -> None:
        if not _is_fake(tensors):
            return original(
                tensors, grad_tensors, retain_graph, create_graph, inputs=inputs, **other
            )
        if create_graph:
            raise NotRecordable("a backward pass with create_graph=True cannot be recorded")
        roots, gradients = _roots(tensors, grad_tensors)
        chosen = (
            None
            if inputs is None
            else [inputs]
            if isinstance(inputs, torch.Tensor)
            else list(inputs)
        )
        for (node, _), gradient in walk(roots, gradients, chosen or []).items():
            leaf = getattr(node, "variable", None)
            if leaf is None or (chosen is not None and not any(leaf is one for one in chosen)):
                continue
            leaf.grad = gradient if leaf.grad is None else leaf.grad + gradient

    return backward


def _grad(original: Callable[..., Any]) -> Callable[..., Any]:
    def grad(
        outputs: Any,
        inputs: Any,
        grad_outputs: Any = None,
        retain_graph: Any = None,
        create_graph: bool = False,
        allow_unused: Any = None,
        **other: Any,
    ) -> Any:
        if not _is_fake(outputs):
            return original(
                outputs,
                inputs,
                grad_outputs,
                retain_graph,
                create_graph,
                allow_unused=allow_unused,
                **other,
            )
        if create_graph:
            raise NotRecordable("a backward pass with create_graph=True cannot be recorded")
        wanted = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
        found = walk(*_roots(outputs, grad_outputs), wanted)
        result = tuple(found.get(_edge(tensor)) for tensor in wanted)
        if not allow_unused and any(gradient is None for gradient in result):
            raise RuntimeError(
                "One of the differentiated Tensors appears to not have been used in the graph."
            )
        return result

    return grad


def install() -> None:
    """Replaces torch.autograd.backward and torch.autograd.grad. Call this function once in a
    process."""
    torch.autograd.backward = _backward(torch.autograd.backward)
    torch.autograd.grad = _grad(torch.autograd.grad)
