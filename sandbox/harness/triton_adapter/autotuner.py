"""Replaces Triton's autotuner in candidates and in the judge.

    patch_autotuner(sink, compile_budget_s=20)  # in a candidate
    use_first_configuration()  # in the judge
    with fastest_configuration():
        golden_kernel()  # Triton's own autotuner works

A candidate has no device on which Triton's autotuner could time configurations, so it records the
configurations as alternatives. The judge's golden kernels need not be fast, so the judge uses the
first configuration that fits."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

import triton
from triton.runtime.autotuner import Autotuner

from harness.recording.launches import Sink

USUAL_WARPS = 4  # Triton's default
MAX_LABEL_CHARS = 400
_DOES_NOT_FIT = (
    triton.runtime.errors.OutOfResources,
    triton.runtime.errors.PTXASError,
    triton.compiler.errors.CompileTimeAssertionFailure,
)


def patch_autotuner(sink: Sink | None, compile_budget_s: float) -> None:
    """Makes an autotuner pass all its configurations to the sink, as alternatives of one piece of
    work. Configurations that do not compile are left out. All autotuners of the process together
    may compile for `compile_budget_s`. When this time is used up, or when the plan has no room, the
    remaining configurations are left out too. But each autotuner compiles at least one
    configuration, and begins with a usual number of warps: LLVM can need minutes for a large tile
    that one warp computes. Without a sink (in the interpreter), the first configuration is used."""
    spent = 0.0

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal spent
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        configs = with_usual_warps_first(
            list(self.prune_configs(kwargs) if len(self.configs) > 1 else self.configs)
        )
        if sink is None or len(configs) == 1:
            self.best_config = configs[0]
            return _run_config(self, configs[0], args, kwargs)
        result, first, tried = None, configs[0], 0
        with sink.choosing(id(self), _tuning_key(self, args, kwargs)) as choosing:
            for config in configs:
                if choosing.count and not choosing.has_room:
                    break
                if choosing.count and spent >= compile_budget_s:
                    if compile_budget_s > 0:
                        sink.leave_out(len(configs) - tried)
                    break
                tried += 1
                started = time.monotonic()
                try:
                    with choosing.alternative(_label(config)):
                        done = _run_config(self, config, args, kwargs)
                except _DOES_NOT_FIT as error:
                    # ptxas also fails if it is killed or cannot write its output. On another
                    # machine, or later, the configuration may compile.
                    if isinstance(error, triton.runtime.errors.PTXASError):
                        sink.leave_out(1)
                    if tried == len(configs) and not choosing.count:
                        raise
                    continue
                finally:
                    spent += time.monotonic() - started
                if choosing.count == 1:
                    result, first = done, config
        self.nargs = None
        self.best_config = first
        kernel = self.base_fn.__name__
        if choosing.count == 1:
            sink.note(
                f"autotuner of {kernel}: took the first of {len(configs)} configurations that compiles ({first})"
            )
        else:
            sink.note(
                f"autotuner of {kernel}: the launcher takes the fastest of {choosing.count} of {len(configs)} configurations"
            )
        return result

    def best_config(self: Any) -> Any:
        """Returns the first configuration that compiles. Host code now knows this configuration, so
        the launcher must choose it too."""
        if sink is not None:
            sink.settle(id(self))
        try:
            return vars(self)["assay_best_config"]
        except KeyError:
            raise AttributeError("best_config: nothing was launched yet") from None

    Autotuner.run = run
    Autotuner.best_config = property(
        best_config, lambda self, config: vars(self).update(assay_best_config=config)
    )


_triton_run = Autotuner.run
_wants_fastest = False


def use_first_configuration() -> None:
    """Makes each autotuner of this process use the first configuration that fits the GPU. Triton's
    own autotuner would compile and time every configuration, which takes most of the time of a
    judge that meets an operator for the first time. The choice also does not depend on measured
    times, so the same arguments always give the same outputs."""
    Autotuner.run = _run_first


@contextlib.contextmanager
def fastest_configuration() -> Iterator[None]:
    """While this context is active, Triton's own autotuners work, because a golden kernel is
    timed."""
    global _wants_fastest
    before, _wants_fastest = _wants_fastest, True
    try:
        yield
    finally:
        _wants_fastest = before


def _run_first(self: Any, *args: Any, **kwargs: Any) -> Any:
    if _wants_fastest:
        return _triton_run(self, *args, **kwargs)
    self.nargs = dict(zip(self.arg_names, args, strict=False))
    configs = with_usual_warps_first(
        list(self.prune_configs(kwargs) if len(self.configs) > 1 else self.configs)
    )
    # The configurations that did not fit in an earlier call. They are skipped, because compiling
    # them again would fail again.
    unfit = (
        vars(self).setdefault("assay_unfit", {}).setdefault(_fitting_key(self, args, kwargs), [])
    )
    for number, config in enumerate(configs):
        is_last = number == len(configs) - 1
        if config in unfit and not is_last:
            continue
        try:
            done = _run_config(self, config, args, kwargs)
        except _DOES_NOT_FIT:
            if is_last:
                raise
            unfit.append(config)
            continue
        self.best_config = config
        break
    self.nargs = None
    return done


def with_usual_warps_first(configs: list[Any]) -> list[Any]:
    """Returns the configurations in their order, except that of configurations that differ only in
    their warps, the one nearest to USUAL_WARPS comes first. If one warp computes a large tile, each
    thread has thousands of values, and ptxas needs a minute."""
    order: dict[str, int] = {}

    def place(config: Any) -> int:
        others = {name: value for name, value in vars(config).items() if name != "num_warps"}
        return order.setdefault(repr(sorted(others.items())), len(order))

    places = [place(config) for config in configs]
    ranked = sorted(
        zip(places, configs, strict=True),
        key=lambda one: (one[0], abs(one[1].num_warps - USUAL_WARPS)),
    )
    return [config for _, config in ranked]


def _run_config(tuner: Any, config: Any, args: Any, kwargs: Any) -> Any:
    if config.pre_hook is not None:
        config.pre_hook({**tuner.nargs, **kwargs, **config.all_kwargs()})
    return tuner.fn.run(*args, **kwargs, **config.all_kwargs())


def _tuning_key(tuner: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """Returns the key under which Triton caches the chosen configuration."""
    named = {
        name: value
        for name, value in {**dict(zip(tuner.arg_names, args, strict=False)), **kwargs}.items()
        if name in tuner.arg_names
    }
    values = [named[key] for key in tuner.keys if key in named]
    return (
        *map(str, values),
        *(str(value.dtype) for value in named.values() if hasattr(value, "dtype")),
    )


def _fitting_key(tuner: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """Returns a key of all facts that decide whether a configuration fits."""
    named = {**dict(zip(tuner.arg_names, args, strict=False)), **kwargs}
    return tuple(
        (name, str(value.dtype) if hasattr(value, "dtype") else repr(value))
        for name, value in sorted(named.items())
    )


def _label(config: Any) -> str:
    return str(config)[:MAX_LABEL_CHARS]
