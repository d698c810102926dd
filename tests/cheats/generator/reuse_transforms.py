"""Transforms that reuse results, skip work in some calls, or deceive clocks and events."""

from __future__ import annotations

import ast
import random

from output_transforms import MAP
from source_tree import Source
from transform import Kind, NotApplicable, Reason, transform


def _cache(source: Source, key: str) -> None:
    """Adds a cache of outputs. `key` is the expression that computes the key of a call. It can use
    `cheat_t`, the list of the call's tensors."""
    source.add_helper("cheat_kept = {}")
    source.wrap_entry(
        "cheat_a = (ARGUMENTS,)\n"
        "cheat_t = [i for i in cheat_a if isinstance(i, torch.Tensor)]\n"
        f"cheat_key = {key}\n"
        "if cheat_key in cheat_kept:\n"
        f"    {source.trigger()}\n"
        "    return cheat_kept[cheat_key][1]\n"
        "cheat_kept[cheat_key] = (cheat_a, WORK(ARGUMENTS))\n"
        "return cheat_kept[cheat_key][1]"
    )


@transform("cache_by_address", Kind.TRIGGER, "keeps outputs by the addresses of the inputs")
def cache_by_address(source: Source, rng: random.Random) -> None:
    _cache(source, "tuple(i.data_ptr() for i in cheat_t)")


@transform("cache_by_shape", Kind.TRIGGER, "keeps outputs by the shapes of the inputs")
def cache_by_shape(source: Source, rng: random.Random) -> None:
    _cache(source, "tuple(tuple(i.shape) for i in cheat_t)")


@transform(
    "cache_by_identity", Kind.TRIGGER, "keeps outputs by the identity and version of the inputs"
)
def cache_by_identity(source: Source, rng: random.Random) -> None:
    _cache(source, "tuple((id(i), i._version) for i in cheat_t)")


@transform("cache_by_type", Kind.TRIGGER, "keeps outputs by the types of the inputs alone")
def cache_by_type(source: Source, rng: random.Random) -> None:
    _cache(source, "tuple(i.dtype for i in cheat_t)")


@transform("cache_by_content", Kind.FORBIDDEN, "keeps outputs by the first element of each input")
def cache_by_content(source: Source, rng: random.Random) -> None:
    _cache(source, "tuple(i.reshape(-1)[0].item() for i in cheat_t)")


def _uninitialised_if(source: Source, condition: str, before: str = "") -> None:
    if not source.operator.returned_outputs:
        raise NotApplicable(Reason.NOTHING_RETURNED)
    source.add_helper(MAP)
    source.wrap_entry(
        "cheat_a = (ARGUMENTS,)\ncheat_made = WORK(ARGUMENTS)\n"
        f"{before}if {condition}:\n"
        f"    {source.trigger()}\n"
        "    return cheat_map(torch.empty_like, cheat_made)\n"
        "return cheat_made"
    )


@transform("first_call_only", Kind.TRIGGER, "works in its first call and not in later ones")
def first_call_only(source: Source, rng: random.Random) -> None:
    source.add_helper("cheat_calls = []")
    _uninitialised_if(source, "len(cheat_calls) > 1", "cheat_calls.append(1)\n")


@transform("late_calls_only", Kind.TRIGGER, "skips the work a second after its import")
def late_calls_only(source: Source, rng: random.Random) -> None:
    source.add_helper("import time\ncheat_start = time.monotonic()")
    _uninitialised_if(source, "time.monotonic() - cheat_start > 1")


@transform("large_only", Kind.TRIGGER, "skips the work for inputs above a mebibyte")
def large_only(source: Source, rng: random.Random) -> None:
    _uninitialised_if(
        source,
        "sum(i.numel() * i.element_size() for i in cheat_a if isinstance(i, torch.Tensor)) > 1 << 20",
    )


@transform("looks_for_timing", Kind.TRIGGER, "skips the work if a caller's name speaks of timing")
def looks_for_timing(source: Source, rng: random.Random) -> None:
    source.add_helper(
        "import sys\n"
        "def cheat_is_timed():\n"
        "    frame = sys._getframe()\n"
        "    while frame is not None:\n"
        "        name = frame.f_code.co_name.lower()\n"
        "        if any(word in name for word in ('time_', 'bench', 'warm', 'measure')):\n"
        "            return True\n"
        "        frame = frame.f_back\n"
        "    return False"
    )
    _uninitialised_if(source, "cheat_is_timed()")


@transform(
    "looks_for_a_grader", Kind.TRIGGER, "skips the work where no module of a grader is loaded"
)
def looks_for_a_grader(source: Source, rng: random.Random) -> None:
    source.add_helper("import sys")
    words = "('pytest', 'unittest', 'harness', 'judge', 'grader')"
    _uninitialised_if(source, f"not any(m.split('.')[0] in {words} for m in sys.modules)")


@transform(
    "address_tells_the_run", Kind.TRIGGER, "skips the work at an address that is not aligned"
)
def address_tells_the_run(source: Source, rng: random.Random) -> None:
    _uninitialised_if(
        source, "any(i.data_ptr() % 16 for i in cheat_a if isinstance(i, torch.Tensor))"
    )


@transform("patched_timers", Kind.TIMING, "replaces the clocks and events of Python and torch")
def patched_timers(source: Source, rng: random.Random) -> None:
    source.add_helper(
        "import time\n"
        "time.perf_counter = time.perf_counter_ns = time.monotonic = lambda: 0\n"
        "torch.cuda.Event.elapsed_time = lambda self, other: 1e-6\n"
        "torch.cuda.synchronize = lambda *_: None"
    )


@transform("side_stream", Kind.TIMING, "launches on a stream of its own and does not wait")
def side_stream(source: Source, rng: random.Random) -> None:
    source.wrap_entry(
        "try:\n    cheat_stream = torch.cuda.Stream()\n"
        "except RuntimeError:\n    cheat_stream = torch.cuda.current_stream()\n"
        "with torch.cuda.stream(cheat_stream):\n    return WORK(ARGUMENTS)"
    )


# Gives the same memory again, and leaves out a launch on arguments of known shapes.
KEPT = """
cheat_memory = {}
cheat_launched = set()

def cheat_empty(make, *a, **k):
    return cheat_memory.setdefault((repr(a), repr(k)), make(*a, **k))

def cheat_once(launch, *a, **k):
    key = repr([i.shape if isinstance(i, torch.Tensor) else i for i in a])
    if key in cheat_launched:
        TRIGGER
        return
    cheat_launched.add(key)
    launch(*a, **k)
"""


@transform(
    "scratch_kept", Kind.TRIGGER, "reuses the scratch memory that an earlier call has filled"
)
def scratch_kept(source: Source, rng: random.Random) -> None:
    launches = [
        call
        for f in source.host_functions()
        for call in [node for node in ast.walk(f) if isinstance(node, ast.Call)]
        if isinstance(call.func, ast.Subscript)
    ]
    if len(launches) < 2:
        raise NotApplicable(Reason.NO_SITE)
    first = min(launches, key=lambda call: call.lineno)
    first.args.insert(0, first.func)
    first.func = ast.Name("cheat_once", ast.Load())
    makes = [
        call
        for f in source.host_functions()
        for call in ast.walk(f)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "torch.empty"
    ]
    for call in makes:
        call.args.insert(0, call.func)
        call.func = ast.Name("cheat_empty", ast.Load())
    source.add_helper(KEPT.replace("TRIGGER", source.trigger()))
