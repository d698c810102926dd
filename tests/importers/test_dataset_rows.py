"""Tests the redaction and the rows of `assay export dataset` without a store. The whole command is in
tests/evaluate/test_export.py."""

from __future__ import annotations

import json
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


def corpus() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((ROOT / "tests/common/secrets.json").read_text())
    return read


def test_the_secrets_of_the_corpus_are_removed() -> None:
    for one in corpus()["secrets"]:
        secret = "".join(one["secret"])
        text = one["text"].replace("{}", secret)
        shown = Redactor().text(text)
        assert secret not in shown and "[redacted: " in shown, text
    for text in corpus()["no_secrets"]:
        assert Redactor().text(text) == text


def test_a_long_source_is_redacted_in_linear_time() -> None:
    """Each text took minutes or hours when the patterns had no limits of length."""
    redactor = Redactor()
    for piece in ("A_", "a.", "a-", "eyJaaaaaaaa-", "x@a-", "://a:"):
        text = piece * (200_000 // len(piece))
        assert redactor.text(text) == text


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


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("/* assay\nblock = 128 */\nint x;", "/* assay\nblock = 256 */\nint x;"),
        ('auto a = "http://a"; int x;', 'auto a = "http://b"; int y;'),
        ("#define A\nB", "#define A B"),
        ('auto a = "/* b */";', 'auto a = "/* c */";'),
        ('auto a = R"x(\n")" // b\n)x";', 'auto a = R"x(\n")" // c\n)x";'),
        ("auto a = 'x  y';", "auto a = 'x y';"),
        ("int x = 1'000; /* a */ char c = '/';", "int x = 1'000; /* a */ char c = '*';"),
        ("#define A /* a\n */ B\nC", "#define A\nB C"),
        ("int x = a/**/b;", "int x = ab;"),
        ('"\\"// a";', '"\\"// b";'),
    ],
)
def test_cpp_sources_that_differ_have_two_normal_forms(left: str, right: str) -> None:
    assert normal_form(left, "cuda") != normal_form(right, "cuda")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("/* assay\na = 1 */ int x; // a", "// b\n/* assay\na = 1 */\nint /* assay 2 */ x;"),
        ("#define A \\\n  B // a\nC", "#define A B\n\n/* b */ C"),
        ("  #  include <a> /* a\n */\nint x;", "#  include <a>\nint\n x;"),
        ("int x; // a \\\n int y;\nint z;", "int x;\r\nint z;"),
        ("int x = 1'000; // it's a", "int x = 1'000; // b"),
    ],
)
def test_cpp_sources_that_differ_in_layout_have_one_normal_form(left: str, right: str) -> None:
    assert normal_form(left, "cuda") == normal_form(right, "cuda")


@pytest.mark.parametrize(
    "piece", ["/*", "/* assay ", 'R"(', '"\\', "'\\", "//", "#a\n", "\\\n", "0'"]
)
def test_a_long_cpp_source_is_read_in_linear_time(piece: str) -> None:
    normal_form(piece * (400_000 // len(piece)), "cuda")


def test_a_transcript_becomes_one_row() -> None:
    redactor = Redactor(["acme-internal"])
    rows = Rows({"operators": [{"name": "a", "hidden_ids": ["odd"]}]}, redactor, False)
    steps = [
        {"kind": "prompt", "at_s": 0, "name": "system", "text": "[secret] and [secret]"},
        {"kind": "reply", "at_s": 1, "name": "stop", "text": "x", "input_tokens": 3},
        {"kind": "call", "at_s": 1, "name": "submit", "text": "code: x"},
        {"kind": "answer", "at_s": 2, "name": "submit", "text": "odd fails", "is_error": True},
        {"kind": "call", "at_s": 2, "name": "mcp__acme-internal__odd", "text": ""},
        {"kind": "note", "at_s": 2, "text": "end"},
    ]
    names = ("run", "agent", "model", "outcome", "error_kind")
    rows.add_transcript(
        {
            **dict.fromkeys(names, ""),
            "operator": "a",
            "sample": None,
            "cost_usd": None,
            "transcript": {"format": "assay.transcript/1", "steps": steps, "left_out": 2},
        }
    )
    [row] = rows.transcripts
    assert row["left_out"] == 2 and row["sample"] is None
    assert [tuple(one.values()) for one in row["steps"]] == [
        ("prompt", "", "[secret] and [secret]", '{"role":"system"}'),
        ("reply", "", "x", '{"input_tokens":3,"stop_reason":"stop"}'),
        ("tool_call", "submit", "code: x", ""),
        ("tool_result", "submit", "[redacted: hidden case] fails", '{"is_error":true}'),
        tuple(row["steps"][4].values()),
        ("note", "", "end", ""),
    ]
    assert "acme-internal" not in row["steps"][4]["tool"]
    assert redactor.counts["secret in a transcript"] == 2 and redactor.counts["hidden case"] >= 1


def test_verdicts_of_two_suites_are_two_rows_without_a_digest() -> None:
    rows = Rows({"operators": [{"name": "a"}]}, Redactor(), keep_duplicates=False)
    for number in (1, 2, 1):
        one = job("a")
        one["suite"] = {"name": "assay", "version": "1", "number": number}
        rows.add_job(one)
    assert [row["suite_number"] for row in rows.verdicts.values()] == [1, 2]
    assert not any("digest" in name for row in rows.verdicts.values() for name in row)


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
        "provenance": {
            "worker": "gpu-7.internal",
            "recorder": "cpu-7.internal",
            "device_name": "NVIDIA H200",
        },
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
        "suite": {"name": "assay", "version": "1", "number": 1},
        "source": "x = 1\n",
        "finished": "2026-01-01T00:00:00Z",
        "verdict": verdict,
    }
