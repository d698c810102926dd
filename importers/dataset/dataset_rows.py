"""Makes the rows of a dataset: sources, verdicts and transcripts.

    rows = Rows(header, Redactor(), keep_duplicates=False)
    rows.add_job(job)     # adds a verdict, and a source unless it is known
    for table, row in rows.take(): ...

Equal sources become one row. A verdict that says the same of the same source as an earlier one
becomes no row; it raises the count `repeats` of the earlier one."""

from __future__ import annotations

import hashlib
import io
import json
import re
import tokenize
from collections import Counter
from typing import Any

from redaction import Redactor

Row = dict[str, Any]
# The kinds of steps by those of a transcript (docs/reference/transcript.md).
KINDS = {
    "prompt": "prompt",
    "reply": "reply",
    "call": "tool_call",
    "answer": "tool_result",
    "note": "note",
}
TOOL_KINDS = ("call", "answer")  # their name is that of the tool
REMOVED_SECRET = "[secret]"  # what transcripts::Redactor writes in place of a secret
# What a C++ source is made of, as far as comments and layout are concerned. A number is a token,
# because a ' in it begins no text. A line that ends with a backslash continues on the next one. A
# text or a comment without an end is a text, so that each character is read once.
TOKEN_OF_C = re.compile(
    r"""
    (?P<manifest>/\*[ \t]*assay\b.*?\*/)
    |(?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?\*/)
    |(?P<continued>\\\r?\n)
    |(?P<text>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\((?:.*?\)(?P=mark)"|.*)
        |"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|/\*.*)
    |(?P<number>\.?\d(?:'?\w|\.|(?<=[eEpP])[+-])*)
    |(?P<word>\w+)
    |(?P<end>\n)
    |(?P<space>[^\S\n]+)
    |(?P<other>.)
    """,
    re.DOTALL | re.VERBOSE,
)
LAYOUT = frozenset(
    {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def normal_form_of_c(text: str) -> str:
    """Returns a C++ source without comments and layout. The manifest of a submission is a comment
    that stays. The line of a preprocessor directive remains a line."""
    lines: list[list[str]] = [[]]  # the parts of the result between directives, and the directives
    is_first = True  # the token is the first of its line
    in_directive = has_manifest = False
    for token in TOKEN_OF_C.finditer(text):
        kind, piece = token.lastgroup, token.group()
        if kind == "continued":
            continue
        if kind == "end":
            if in_directive:
                lines.append([])
            is_first, in_directive = True, False
        if kind in ("end", "space", "comment") or (kind == "manifest" and has_manifest):
            if lines[-1] and lines[-1][-1] != " ":
                lines[-1].append(" ")
            continue
        has_manifest = has_manifest or kind == "manifest"
        if is_first and piece == "#":
            lines.append([])
            in_directive = True
        is_first = False
        lines[-1].append(piece)
    return "\n".join(line for one in lines if (line := "".join(one).strip()))


def normal_form(text: str, language: str) -> str:
    """Returns the source without comments and layout, so that sources which differ only in them are
    known as equal. A source that cannot be split into tokens is its own form."""
    if language != "python":
        return normal_form_of_c(text)
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return text
    return " ".join(
        f"<{tokenize.tok_name[one.type]}>" if one.type in LAYOUT else one.string
        for one in tokens
        if one.type not in (tokenize.COMMENT, tokenize.NL)
    )


def compact(document: Any) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class Rows:
    """Makes rows. `header` has the operators and the version of Assay."""

    def __init__(self, header: Row, redactor: Redactor, keep_duplicates: bool) -> None:
        self._operators: dict[str, Row] = {one["name"]: one for one in header["operators"]}
        self._redactor = redactor
        self._keep = keep_duplicates
        self.sources: dict[tuple[str, str], Row] = {}
        self.verdicts: dict[tuple[str, ...], Row] = {}
        self.transcripts: list[Row] = []
        self.counts: Counter[str] = Counter()
        self.licences: dict[str, Counter[str]] = {}

    def _operator(self, name: str) -> Row:
        return self._operators.get(name, {"name": name})

    def _hidden_ids(self, name: str) -> tuple[str, ...]:
        return tuple(self._operator(name).get("hidden_ids", ()))

    def _source(self, job: Row, language: str) -> str:
        text = self._redactor.text(job["source"])
        source = digest(text)
        operator = self._operator(job["operator"])
        known = self.sources.get((job["operator"], source))
        if known is None:
            known = self.sources[job["operator"], source] = {
                "source": source,
                "operator": job["operator"],
                "language": language,
                "text": text,
                "normal": digest(normal_form(text, language)),
                "redacted": text != job["source"],
                "operator_licence": operator.get("licence", ""),
                "models": [],
            }
        else:
            self.counts["equal sources"] += 1
        model = self._redactor.text(job["model"])
        if model and model not in known["models"]:
            known["models"].append(model)
        return source

    def add_job(self, job: Row) -> None:
        hidden = self._hidden_ids(job["operator"])
        verdict = self._redactor.document(job["verdict"], hidden)
        operator = self._operator(job["operator"])
        provenance = verdict.get("provenance", {})
        suite = job["suite"]
        # The digest of the original source would identify what was redacted.
        source = self._source(job, verdict.get("language", "python"))
        provenance["source_sha256"] = source
        for worker in ("worker", "recorder"):  # they can name a host
            provenance.pop(worker, None)
        cases = verdict.get("cases", [])
        row: Row = {
            "job": self._redactor.text(job["job"]),
            "run": self._redactor.text(job["run"]),
            "agent": self._redactor.text(job["agent"]),
            "model": self._redactor.text(job["model"]),
            "track": job["track"],
            "operator": job["operator"],
            "split": operator.get("split", ""),
            "family": operator.get("family", ""),
            "dialect": operator.get("dialect", ""),
            "difficulty": operator.get("difficulty", 0),
            "operator_licence": operator.get("licence", ""),
            "suite": suite.get("name", ""),
            "suite_version": suite.get("version", ""),
            "suite_number": suite.get("number", 0),
            "kind": job["kind"],
            "device": provenance.get("device_name") or job["device"],
            "finished": job["finished"],
            "source": source,
            "language": verdict.get("language", ""),
            "outcome": verdict["outcome"],
            "error_kind": verdict["error_kind"],
            "stage": verdict.get("stage", ""),
            "summary": verdict.get("summary", ""),
            "cases": len(cases),
            "cases_passed": sum(case.get("outcome") == "pass" for case in cases),
            "perf": verdict.get("perf"),
            "tier": verdict.get("tier", ""),
            "repeats": 0,
            "verdict": compact(verdict),
        }
        key = tuple(
            str(row[name])
            for name in ("operator", "suite_number", "kind", "device", "source", "outcome")
        ) + (row["error_kind"],)
        if self._keep:
            key += (row["job"],)
        if key in self.verdicts:
            self.verdicts[key]["repeats"] += 1
            self.counts["repeated verdicts"] += 1
            return
        self.verdicts[key] = row
        licence = operator.get("licence") or "unknown"
        self.licences.setdefault(licence, Counter())[row["suite"] or "unknown"] += 1

    def add_transcript(self, one: Row) -> None:
        """Adds a transcript of the format assay.transcript/1. What it says of secrets that were
        removed before is counted."""
        hidden = self._hidden_ids(one["operator"])
        steps: list[Row] = []
        for step in one["transcript"]["steps"]:
            kind, name = step["kind"], step.get("name", "")
            more = {key: step[key] for key in step if key not in ("kind", "at_s", "name", "text")}
            if name and kind not in TOOL_KINDS:
                more["role" if kind == "prompt" else "stop_reason"] = name
            self._redactor.count("secret in a transcript", step["text"].count(REMOVED_SECRET))
            step = self._redactor.document({"text": step["text"], **more}, hidden)
            steps.append(
                {
                    "kind": KINDS[kind],
                    "tool": self._redactor.text(name, hidden) if kind in TOOL_KINDS else "",
                    "text": step.pop("text"),
                    "data": compact(step) if step else "",
                }
            )
        self.transcripts.append(
            {
                "run": self._redactor.text(one["run"]),
                "operator": one["operator"],
                "sample": one["sample"],
                "agent": self._redactor.text(one["agent"]),
                "model": self._redactor.text(one["model"]),
                "outcome": one["outcome"],
                "error_kind": one["error_kind"],
                "cost_usd": one["cost_usd"],
                "left_out": one["transcript"]["left_out"],
                "steps": steps,
            }
        )
