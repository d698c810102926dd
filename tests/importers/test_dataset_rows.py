"""Tests the redaction and the rows of `assay export dataset` without a store. The whole command is in
tests/evaluate/test_export.py."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
for folder in ("importers/dataset", "python"):
    sys.path.insert(0, str(ROOT / folder))

from dataset_rows import Rows, normal_form  # noqa: E402
from redaction import Redactor  # noqa: E402

JOB = "job_" + "7" * 26
# Texts with the form of a secret are put together here, so that no scanner of secrets finds this
# file.
SECRETS = {
    "private key": "-----BEGIN " + "EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY-----",
    "token of Assay": "assay_" + "k" * 26,
    "api key": "sk-" + "ant-api03-" + "Ab1" * 10,
    "access token": "ghp_" + "Ab1" * 12,
    "password": 'API_KEY = "' + "hunter2hunter2" + '"',
    "address": "some.one" + "@example.org",
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_replaced_and_counted(kind: str) -> None:
    redactor = Redactor()
    text = redactor.text(f"a = 1  # {SECRETS[kind]}\nb = 2\n")
    assert text == f"a = 1  # [redacted: {kind}]\nb = 2\n"
    assert redactor.counts == {kind: 1}


def test_further_forms_are_known() -> None:
    redactor = Redactor(["Project Blue"])
    for text, shown in (
        ("https://me:" + "pass1234@host/x", "https://[redacted: password]@host/x"),
        ("Authorization: Bearer " + "abcdefghijklmnop", "Authorization: Bearer "),
        ("eyJhbGciOiJI." + "eyJzdWIiOiIx." + "c2lnbmF0dXJl", "[redacted: access token]"),
        ("hf_" + "a1" * 17, "[redacted: access token]"),
        ("AKIA" + "ABCDEFGHIJKLMNOP", "[redacted: api key]"),
        ("for Project Blue only", "for [redacted: named value] only"),
        ("/home/anna/a.py and /Users/anna/b", "/home/user/a.py and /Users/user/b"),
    ):
        assert redactor.text(text).startswith(shown), text


def test_a_handle_gets_the_same_pseudonym_everywhere() -> None:
    first, second = Redactor(), Redactor()
    shown = first.text(f"see {JOB}")
    assert JOB not in shown and shown == second.text(f"see {JOB}")
    assert first.document({"job": JOB})["job"] == shown.removeprefix("see ")
    assert len(shown) == len(f"see {JOB}")


def test_no_operator_looks_like_a_secret() -> None:
    """Redaction must not change kernels."""
    redactor = Redactor()
    sources = [*ROOT.glob("operators/*/*/*.py"), *ROOT.glob("operators/*/*/spec.toml")]
    assert len(sources) > 300
    for path in sources:
        text = path.read_text()
        assert redactor.text(text) == text, path


def test_sources_that_differ_in_comments_have_one_normal_form() -> None:
    left = "def f(x):\n    # fast\n    return x + 1\n"
    right = "def f( x ):\n\n        return x+1  # slow\n"
    assert normal_form(left, "python") == normal_form(right, "python")
    assert normal_form(left, "python") != normal_form("def f(x):\n    return x + 2\n", "python")
    assert normal_form("def f(:\n '''", "python") == "def f(:\n '''"
    cuda = "__global__ void f() { /* a */ int x; }  // b\n"
    assert normal_form(cuda, "cuda") == normal_form("__global__  void f() { int x; }", "cuda")


def test_a_source_of_two_operators_is_two_rows() -> None:
    header = {
        "operators": [{"name": "a", "licence": "MIT"}, {"name": "b", "licence": "Apache-2.0"}]
    }
    rows = Rows(header, Redactor(), keep_duplicates=False)
    for operator in ("a", "b", "a"):
        rows.add_job(job(operator))
    assert [one["operator_licence"] for one in rows.sources.values()] == ["MIT", "Apache-2.0"]
    assert [one["repeats"] for one in rows.verdicts.values()] == [1, 0]
    assert all("gpu-7" not in one["verdict"] for one in rows.verdicts.values())
    assert all(one["device"] == "NVIDIA H200" for one in rows.verdicts.values())
    assert {licence: sum(suites.values()) for licence, suites in rows.licences.items()} == {
        "MIT": 1,
        "Apache-2.0": 1,
    }


def job(operator: str) -> dict[str, Any]:
    verdict = {
        "outcome": "pass",
        "error_kind": "none",
        "language": "python",
        "provenance": {"worker": "gpu-7.internal", "device_name": "NVIDIA H200"},
        "cases": [{"id": "hidden_1", "hidden": True, "outcome": "pass", "reason": "n = 3"}],
    }
    return {
        "job": JOB,
        "run": "",
        "agent": "",
        "model": "",
        "track": "",
        "operator": operator,
        "kind": "test",
        "device": "cpu",
        "suite": {"name": "assay", "version": "1", "digest": "d"},
        "source": "x = 1\n",
        "finished": "2026-01-01T00:00:00Z",
        "verdict": verdict,
    }
