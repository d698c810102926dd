"""Tries a share of the faults of matrix.py. `python tests/faults/matrix.py` tries all of them."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import matrix
import pytest
from fault_list import fault_pairs, positions
from fault_page import pairs_page
from injection import CALLS, Faults
from subject import ON_CPU, ON_FAKE_GPU
from tracing import can_trace

BINARY = os.environ.get("ASSAY_BIN", str(matrix.ROOT / "build/release/bin/assay"))
PASS = {"outcome": "pass"}
FAIL = {"outcome": "fail", "error_kind": "wrong_result"}
OURS = {"outcome": "error", "error_kind": "internal_error"}
TIMEOUT = {"outcome": "error", "error_kind": "timeout"}


def test_no_fault_turns_a_verdict_or_charges_an_error_of_the_server() -> None:
    tried = matrix.run(BINARY, most=3, seed=20_261_128, share=0.05)
    assert tried.problems == []
    struck = [trial for trial in tried.trials if trial.struck]
    assert len(struck) >= len(tried.trials) / 3
    assert {trial.outcome for trial in struck} >= {"pass", "fail", "internal_error"}


def test_two_faults_in_one_job_turn_no_verdict_and_charge_no_error_of_the_server() -> None:
    tried = matrix.run(BINARY, most=3, seed=20_261_128, share=0.03, pairs=True)
    assert tried.problems == []
    assert any(trial.struck for trial in tried.trials)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[matrix.Server]:
    """A server that several tests use one after the other. Its start costs as much as ten jobs."""
    started = matrix.Server(BINARY, tmp_path_factory.mktemp("shared"))
    yield started
    started.client.close()


@pytest.fixture
def server(shared: matrix.Server) -> matrix.Server:
    assert shared.recovers() == ""
    return shared


def test_a_new_zygote_that_gets_no_thread_does_not_end_the_server(server: matrix.Server) -> None:
    kill = matrix.Fault("zygote", stage="import")
    no_thread = matrix.Fault("server", "pthread_create", errno.EAGAIN)
    for correct in (True, False):
        trial = matrix.attempt(server, kill, "run_tests", correct, no_thread)
        assert trial.problem == "", trial
        assert trial.struck


def test_a_launcher_that_fails_or_is_killed_costs_the_submission_nothing(tmp_path: Path) -> None:
    binary = str(Path(BINARY).with_name("assay_on_fake_gpu"))
    server = matrix.Server(binary, tmp_path, ON_FAKE_GPU)
    assert server.recovers() == ""
    trials = [
        matrix.attempt(server, fault, tool, correct)
        for fault, tool in (
            (matrix.Fault("launcher", "sendmsg", errno.ENOMEM), "submit"),
            (matrix.Fault("launcher", "recvmsg", errno.ENOMEM, times=8), "submit"),
            # A grade does not show its stages.
            (matrix.Fault("launcher", stage="record"), "run_tests"),
        )
        for correct in (True, False)
    ]
    assert [trial.problem for trial in trials] == [""] * len(trials)
    assert {trial.fault.call for trial in trials if trial.struck} == {"sendmsg", "recvmsg", ""}
    server.client.close()


def test_pairs_have_one_kill_and_one_call_from_the_middle_of_a_job() -> None:
    pairs = fault_pairs({"server": {"pwrite": 9}, "judge": {}}, repeat=8)
    assert all(kill.call == "" and kill.stage and failure.call for kill, failure in pairs)
    assert (
        matrix.Fault("zygote", stage="run"),
        matrix.Fault("server", "pwrite", errno.ENOSPC, skip=4, times=8),
    ) in pairs
    assert len(set(pairs)) == len(pairs)


def test_trials_of_an_earlier_run_are_read_again(tmp_path: Path) -> None:
    kill, failure = fault_pairs({"server": {}, "judge": {}}, repeat=8)[0]
    trials = [
        matrix.Trial(failure, "submit", True, 1, "pass", True),
        matrix.Trial(kill, "run_tests", False, 1, "fail", True, second=failure),
    ]
    results = tmp_path / "trials.jsonl"
    results.write_text("".join(json.dumps(asdict(trial)) + "\n" for trial in trials))
    assert matrix.earlier(results) == trials
    assert pairs_page(trials).count("| 1 fail |") == 1


def test_cases_that_cannot_be_sent_do_not_let_a_submission_run_out_of_time(
    server: matrix.Server,
) -> None:
    for skip in range(6, 18):  # among these calls are those that send cases to candidates
        fault = matrix.Fault("server", "sendmsg", errno.ENOMEM, skip)
        trial = matrix.attempt(server, fault, "run_tests", correct=True)
        assert trial.problem == "", trial


@pytest.mark.skipif(not can_trace(), reason="strace is missing, or the user is not root")
def test_a_failed_call_of_a_sandboxed_process_costs_the_submission_nothing(
    server: matrix.Server,
) -> None:
    for fault in (
        matrix.Fault("candidate", "openat", errno.EMFILE, 0),  # before the submission runs
        matrix.Fault("candidate", "mkdir", errno.ENOSPC, 0),
        matrix.Fault("candidate", "sendmsg", errno.ENOMEM, 1),  # the candidate reports a shortage
        matrix.Fault("zygote", "clone", errno.EAGAIN, 0),
    ):
        # The candidate whose calls fail is not always the one that gets the job.
        for _ in range(10):
            trial = matrix.attempt(server, fault, "submit", correct=True)
            assert trial.problem == "" and trial.outcome == "pass", trial
            if trial.struck:
                break
        assert trial.struck, fault


@pytest.mark.parametrize(
    ("correct", "answer", "charged", "is_right"),
    [
        (True, PASS, True, True),
        (True, PASS, False, False),
        (True, FAIL, True, False),
        (True, TIMEOUT, True, False),
        (True, OURS, False, True),
        (True, OURS, True, False),
        (False, FAIL, True, True),
        (False, PASS, True, False),
        (False, {**FAIL, "error_kind": "unattributed"}, True, False),
        (False, OURS, False, True),
    ],
)
def test_the_expectation_of_a_verdict(
    correct: bool, answer: dict[str, str], charged: bool, is_right: bool
) -> None:
    assert (matrix.expectation(correct, answer, charged) == "") == is_right


def test_the_wrong_submission_differs_from_the_correct_one() -> None:
    for subject in (ON_CPU, ON_FAKE_GPU):
        assert subject.correct != subject.wrong
        assert "time.sleep" in subject.code(correct=False, slowed=True)


def test_a_fault_strikes_only_the_calls_that_it_names(tmp_path: Path) -> None:
    faults = Faults(tmp_path)
    faults.fail("server", "pipe2", errno.EMFILE, skip=3)
    assert faults.clear() == 0
    assert faults.counts("judge") == dict.fromkeys(CALLS, 0)


def test_positions_are_spread_from_the_first_to_the_last_call() -> None:
    assert positions(0, 4) == []
    assert positions(3, 4) == [0, 1, 2]
    assert positions(100, 4) == [0, 33, 66, 99]
