"""Reads the kernels of a captured CUDA graph from the driver, with the parameters of their
launches.

    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph): call()
    for node in kernels(graph.raw_cuda_graph()): print(node.name, node.grid, node.params)

It calls libcuda through ctypes, and needs a driver of CUDA 12.4 or newer (cuFuncGetParamInfo)."""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

KERNEL_NODE = 0
CLUSTER_DIMENSION = 4  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
INVALID_VALUE = 1  # CUDA_ERROR_INVALID_VALUE, the result for an index past the last parameter
ATTRIBUTE_BYTES = 64


@dataclass
class KernelNode:
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    shared_bytes: int
    params: list[bytes]  # the parameters; each has the size that the function declares


class _Params(ctypes.Structure):
    _fields_ = (
        ("func", ctypes.c_void_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("params", ctypes.POINTER(ctypes.c_void_p)),
        ("extra", ctypes.POINTER(ctypes.c_void_p)),
        ("kernel", ctypes.c_void_p),
        ("context", ctypes.c_void_p),
    )


_cuda = ctypes.CDLL("libcuda.so.1")


def _check(status: int, call: str) -> None:
    if status != 0:
        text = ctypes.c_char_p()
        _cuda.cuGetErrorName(status, ctypes.byref(text))
        raise RuntimeError(f"{call}: {(text.value or b'unknown error').decode()}")


def kernels(graph: int) -> Iterator[KernelNode]:
    """Yields the kernels in an order that the dependencies of the graph allow. If only one stream
    was captured, this is the order of the capture."""
    for node in _in_order(ctypes.c_void_p(graph)):
        kind = ctypes.c_int()
        _check(
            _cuda.cuGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind)),
            "cuGraphNodeGetType",
        )
        if kind.value == KERNEL_NODE:
            yield _kernel(ctypes.c_void_p(node))


def _in_order(graph: ctypes.c_void_p) -> list[int]:
    count = ctypes.c_size_t()
    _check(_cuda.cuGraphGetNodes(graph, None, ctypes.byref(count)), "cuGraphGetNodes")
    nodes = (ctypes.c_void_p * count.value)()
    _check(_cuda.cuGraphGetNodes(graph, nodes, ctypes.byref(count)), "cuGraphGetNodes")
    # Version 1 of this call fails if the graph has edges of programmatic dependent launches,
    # because such edges have additional data.
    _check(
        _cuda.cuGraphGetEdges_v2(graph, None, None, None, ctypes.byref(count)), "cuGraphGetEdges_v2"
    )
    before, after = (ctypes.c_void_p * count.value)(), (ctypes.c_void_p * count.value)()
    kinds = (ctypes.c_uint64 * count.value)()  # CUgraphEdgeData: 8 bytes
    if count.value:  # The driver refuses empty arrays.
        _check(
            _cuda.cuGraphGetEdges_v2(graph, before, after, kinds, ctypes.byref(count)),
            "cuGraphGetEdges_v2",
        )
    waits: dict[int, int] = defaultdict(int)
    followers: dict[int, list[int]] = defaultdict(list)
    for first, second in zip(before, after, strict=True):
        assert first is not None and second is not None
        followers[first].append(second)
        waits[second] += 1
    ready = [node for node in nodes if node is not None and not waits[node]]
    order: list[int] = []
    while ready:
        node = ready.pop(0)
        order.append(node)
        for follower in followers[node]:
            waits[follower] -= 1
            if not waits[follower]:
                ready.append(follower)
    assert len(order) == len(nodes)
    return order


def _kernel(node: ctypes.c_void_p) -> KernelNode:
    found = _Params()
    _check(
        _cuda.cuGraphKernelNodeGetParams_v2(node, ctypes.byref(found)),
        "cuGraphKernelNodeGetParams_v2",
    )
    function = ctypes.c_void_p(found.func)
    if not found.func:
        _check(
            _cuda.cuKernelGetFunction(ctypes.byref(function), ctypes.c_void_p(found.kernel)),
            "cuKernelGetFunction",
        )
    name = ctypes.c_char_p()
    _check(_cuda.cuFuncGetName(ctypes.byref(name), function), "cuFuncGetName")
    cluster = (ctypes.c_uint * (ATTRIBUTE_BYTES // 4))()
    _check(
        _cuda.cuGraphKernelNodeGetAttribute(node, CLUSTER_DIMENSION, cluster),
        "cuGraphKernelNodeGetAttribute",
    )
    params = []
    while True:
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        status = _cuda.cuFuncGetParamInfo(
            function, ctypes.c_size_t(len(params)), ctypes.byref(offset), ctypes.byref(size)
        )
        if status == INVALID_VALUE:
            break
        _check(status, "cuFuncGetParamInfo")
        params.append(ctypes.string_at(found.params[len(params)], size.value))
    return KernelNode(
        name=(name.value or b"").decode(),
        grid=_three(found.grid),
        block=_three(found.block),
        cluster=_three([max(1, extent) for extent in cluster[:3]]),
        shared_bytes=found.shared_bytes,
        params=params,
    )


def _three(values: object) -> tuple[int, int, int]:
    x, y, z = values  # type: ignore[misc]
    return int(x), int(y), int(z)
