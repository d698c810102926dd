"""Tries a share of the faults of matrix.py. `python tests/faults/matrix.py` tries all of them."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import matrix
import pytest
from fault_list import positions
from injection import CALLS, Faults
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


def test_cases_that_cannot_be_sent_do_not_let_a_submission_run_out_of_time(tmp_path: Path) -> None:
    server = matrix.Server(BINARY, tmp_path)
    assert server.recovers() == ""
    for skip in range(6, 18):  # among these calls are those that send cases to candidates
        fault = matrix.Fault("server", "sendmsg", errno.ENOMEM, skip)
        trial = matrix.attempt(server, fault, "run_tests", correct=True)
        assert trial.problem == "", trial
    server.client.close()


@pytest.mark.skipif(not can_trace(), reason="strace is missing, or the user is not root")
def test_a_failed_call_of_a_sandboxed_process_costs_the_submission_nothing(tmp_path: Path) -> None:
    server = matrix.Server(BINARY, tmp_path)
    assert server.recovers() == ""
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
    server.client.close()


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
    assert matrix.WRONG != matrix.CORRECT
    assert "time.sleep" in matrix.slowed(matrix.WRONG)


def test_a_fault_strikes_only_the_calls_that_it_names(tmp_path: Path) -> None:
    faults = Faults(tmp_path)
    faults.fail("server", "pipe2", errno.EMFILE, skip=3)
    assert faults.clear() == 0
    assert faults.counts("judge") == dict.fromkeys(CALLS, 0)


def test_positions_are_spread_from_the_first_to_the_last_call() -> None:
    assert positions(0, 4) == []
    assert positions(3, 4) == [0, 1, 2]
    assert positions(100, 4) == [0, 33, 66, 99]
