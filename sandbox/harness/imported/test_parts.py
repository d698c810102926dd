"""Runs the test part of a golden file, with proxies in place of the definitions of the kernel part.

    part = TestPart(text, path, counts=[2, 1])
    part.run(module, called)  # called(number, name, function, args, kwargs) for each call

A test part that calls nothing itself may define tests, as for pytest. Then run_tests() runs them
with their parameters (`pytest.mark.parametrize`) and with the fixture `request`. Tests with other
fixtures are left out. A test may fail: without a GPU it gets zeros, and its assertions then fail
after the call. So its later calls may be missing in the importer, which runs without a GPU.
`counts` has the number of calls that the importer has seen in each test. With it, each call has the
same number on every machine.

Some benchmarks import helpers that are not beside their files, or packages for plots and statistics
(STUBBED). Their names then stand for functions and classes that do nothing. If no test calls
anything, the tests run a second time, and the benchmarkers of GEAK then call once what they would
time."""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from harness.imported.proxies import proxy_of

STUBBED = ("geak_eval", "matplotlib", "pandas", "scipy")
MOST_CASES_OF_TEST = 6  # of the parameters of one test, the first ones
_FIXTURE = "request"

Called = Callable[[int, str, Any, Any, Any], Any]


class _TestOver(BaseException):
    """A test has made as many calls as the importer has seen."""


class TestPart:
    """A test part (see the module's docstring)."""

    def __init__(self, text: str, path: str, counts: Sequence[int] = ()) -> None:
        self._code = compile(text, path, "exec", dont_inherit=True)
        self._counts = counts
        self._name = module_name(text)

    def run(self, module: ModuleType, called: Called, calls_only: bool = False) -> None:
        """Runs the test part. `called` is called in place of each call of the module (proxies.py),
        and returns the result of that call. With `calls_only`, a test ends after its last call, so
        it does not compute what it would compare the result with."""
        next_number = 0
        end = sys.maxsize  # the first number that belongs to the next test

        def noted(*call: Any) -> Any:
            nonlocal next_number
            if next_number >= end:
                raise _TestOver
            next_number += 1
            result = called(next_number - 1, *call)
            if calls_only and next_number == end:
                raise _TestOver
            return result

        def begin(test: int) -> None:
            nonlocal next_number, end
            if self._counts:
                next_number = sum(self._counts[:test])
                end = sum(self._counts[: test + 1])

        names = {
            name: proxy_of(name, value, module.__name__, noted)
            for name, value in vars(module).items()
            if not name.startswith("__")
        }
        stub_missing()
        with tempfile.TemporaryDirectory(prefix="test-part-") as folder:
            # Some tests write files beside their own file.
            names |= {"__name__": self._name, "__file__": os.path.join(folder, "test_part.py")}
            exec(self._code, names)
            if next_number:
                return
            errors = run_tests(names, begin, lambda: next_number)
            if errors and not next_number:
                raise errors[0]


def module_name(text: str) -> str:
    """Returns the name of the module in which a test part runs: that of a program, or that of a
    module which pytest imports, if a test has parameters."""
    tests = [
        node
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    arguments = {argument.arg for test in tests for argument in test.args.args}
    return "test_part" if _FIXTURE in arguments else "__main__"


def run_tests(
    names: dict[str, Any],
    begin: Callable[[int], None],
    calls: Callable[[], int],
    ends: tuple[type[BaseException], ...] = (),
) -> list[BaseException]:
    """Runs the tests of a test part that defines tests but calls none. The tests are found by their
    names, as in pytest. `names` is the namespace in which the test part was executed. begin(N) is
    called before test N. If calls() is 0 after all tests, they run again with benchmarkers that
    call, and N goes on. An exception of the classes `ends` ends one test. Returns the errors of the
    tests that failed."""
    tests = list(_tests(names))
    errors = _run_each(tests, 0, begin, ends)
    if not calls():
        with _calling_benchmarkers():
            errors += _run_each(tests, len(tests), begin, ends)
    return errors


def _run_each(
    tests: list[Callable[[], Any]],
    first: int,
    begin: Callable[[int], None],
    ends: tuple[type[BaseException], ...],
) -> list[BaseException]:
    errors: list[BaseException] = []
    for number, test in enumerate(tests, first):
        begin(number)
        try:
            test()
        except BaseException as error:
            if isinstance(error, (_TestOver, *ends)):
                continue
            if not isinstance(error, (Exception, *_outcomes())):
                raise
            errors.append(error)
    return errors


def _tests(names: dict[str, Any]) -> Iterator[Callable[[], Any]]:
    for name, value in list(names.items()):
        if (
            name.startswith("test_")
            and isinstance(value, FunctionType)
            and value.__globals__ is names
        ):
            for given in itertools.islice(_parameters(value), MOST_CASES_OF_TEST):
                if (arguments := _arguments(value, given)) is not None:
                    yield functools.partial(value, **arguments)


def _parameters(test: FunctionType) -> Iterator[dict[str, Any]]:
    """Yields the parameters of each case of a test, in the order of pytest."""
    marks = getattr(test, "pytestmark", [])
    if any(mark.name == "skip" or (mark.name == "skipif" and any(mark.args)) for mark in marks):
        return
    tables = []
    for mark in marks:
        if mark.name != "parametrize":
            continue
        keys, rows = (*mark.args, *(mark.kwargs[key] for key in _KEYS if key in mark.kwargs))[:2]
        words = [word.strip() for word in keys.split(",")] if isinstance(keys, str) else list(keys)
        tables.append([dict(zip(words, _values(row, len(words)), strict=True)) for row in rows])
    for combined in itertools.product(*tables):
        yield {key: value for row in combined for key, value in row.items()}


_KEYS = ("argnames", "argvalues")


def _values(row: Any, count: int) -> Sequence[Any]:
    row = getattr(row, "values", row) if type(row).__name__ == "ParameterSet" else row
    if count > 1 or (isinstance(row, tuple) and type(row) is not tuple):
        return list(row)
    return [row] if not isinstance(row, tuple) or len(row) != 1 else list(row)


def _arguments(test: FunctionType, given: dict[str, Any]) -> dict[str, Any] | None:
    """Returns the arguments of a test, or None if it needs a fixture that does not exist here."""
    code = test.__code__
    wanted = list(code.co_varnames[: code.co_argcount])
    with_default = wanted[len(wanted) - len(test.__defaults__ or ()) :]
    arguments = dict(given)
    for name in wanted:
        if name == _FIXTURE:
            words = "-".join(map(str, given.values()))
            node = SimpleNamespace(name=f"{test.__name__}[{words}]" if words else test.__name__)
            arguments[name] = SimpleNamespace(node=node)
        elif name not in arguments and name not in with_default:
            return None
    return arguments


def _outcomes() -> tuple[type[BaseException], ...]:
    """Returns the exceptions with which pytest ends a test."""
    pytest = sys.modules.get("pytest")
    return () if pytest is None else (pytest.skip.Exception, pytest.fail.Exception)


def stub_missing() -> None:
    """Makes the modules of STUBBED that are not installed importable."""
    if not any(isinstance(finder, _Stubs) for finder in sys.meta_path):
        sys.meta_path.append(_Stubs())  # behind the others, so an installed module comes first


class _Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name.partition(".")[0] not in STUBBED:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> ModuleType:
        return _Stub(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


class _Stub(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing


class _Nothing:
    """Stands for every function and class of a stubbed module: a call gives an object, and each
    method of it does nothing. An exception are the benchmarkers of GEAK in a second run of the
    tests, whose `run_benchmark` calls `op_callable` once."""

    calls = False

    def __init__(self, *_: Any, op_callable: Callable[[], Any] | None = None, **__: Any) -> None:
        self._timed = op_callable

    def run_benchmark(self, *_: Any, **__: Any) -> None:
        if self.calls and self._timed is not None:
            self._timed()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


@contextlib.contextmanager
def _calling_benchmarkers() -> Iterator[None]:
    _Nothing.calls = True
    try:
        yield
    finally:
        _Nothing.calls = False
