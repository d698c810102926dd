"""Removes secrets, names of this machine's users, and facts about hidden cases from what is exported.

    redactor = Redactor(["my-company.example"])
    redactor.text("key sk-proj-0123456789abcdef0123")  # "key [redacted: api key]"
    redactor.counts                                    # Counter({"api key": 1})

A handle of a run or a job is replaced by another text of the same form, which is the same wherever
the handle stands. So rows and transcripts still refer to each other, and nobody can use the handle
at the server."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

# Each kind of secret and how it looks. A kind that contains another one stands before it.
SECRETS: tuple[tuple[str, str], ...] = (
    ("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*KEY-----|\Z)"),
    ("token of Assay", r"\bassay_[0-9a-z]{26}\b"),
    ("api key", r"\b(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}"),
    ("api key", r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("api key", r"\bAIza[0-9A-Za-z_-]{30,}"),
    ("api key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("access token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})"),
    ("access token", r"\bglpat-[A-Za-z0-9_-]{16,}"),
    ("access token", r"\bhf_[A-Za-z0-9]{20,}"),
    ("access token", r"\bnpm_[A-Za-z0-9]{30,}"),
    ("access token", r"\bpypi-[A-Za-z0-9_-]{40,}"),
    ("access token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("access token", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("access token", r"(?i)(?<=\bbearer )[A-Za-z0-9._~+/-]{12,}=*"),
    ("password", r"(?<=://)[^\s/:@'\"]+:[^\s/@'\"]+(?=@)"),
    (
        "password",
        r"(?i)(?<![A-Za-z0-9])(?:[A-Z0-9]+_)*(?:API_?KEY|ACCESS_?KEY|SECRET|PASSWORD|PASSWD|TOKEN)"
        r"['\"]?\s*[=:]\s*['\"][^'\"\s]{8,}['\"]",
    ),
    ("address", r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}\b"),
)
HOME = re.compile(r"(?<![\w.])(/home/|/Users/)([A-Za-z0-9._-]+)")
HANDLE = re.compile(r"\b([a-z]+)_([0-9a-hjkmnp-tv-z]{26})\b")
PUBLIC_HIDDEN_ID = re.compile(r"hidden(_\d+)?")
HANDLE_CHARACTERS = 26
MOST_KEPT, MOST_KEPT_CHARACTERS = 10_000, 200  # for each operator


def _other_handle(handle: re.Match[str]) -> str:
    digits = hashlib.sha256(b"assay.dataset/1 " + handle[0].encode()).hexdigest()
    return f"{handle[1]}_{digits[:HANDLE_CHARACTERS]}"


class Redactor:
    """`values` are texts that must not be exported. Counts what it removes, by kind."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.counts: Counter[str] = Counter()
        self._secrets = [(kind, re.compile(pattern)) for kind, pattern in SECRETS]
        # Short texts in which nothing is to be replaced, because verdicts repeat them very often.
        self._clean: dict[tuple[str, ...], set[str]] = {}
        own = [re.escape(value) for value in sorted(set(values), key=len, reverse=True) if value]
        if own:
            self._secrets.insert(0, ("named value", re.compile("|".join(own))))

    def text(self, text: str, hidden_ids: tuple[str, ...] = ()) -> str:
        """`hidden_ids` are the names of hidden cases, which are replaced as whole words."""
        if len(text) > MOST_KEPT_CHARACTERS:
            return self._redacted(text, hidden_ids)
        clean = self._clean.setdefault(hidden_ids, set())
        if text in clean:
            return text
        shown = self._redacted(text, hidden_ids)
        if shown == text and len(clean) < MOST_KEPT:
            clean.add(text)
        return shown

    def _redacted(self, text: str, hidden_ids: tuple[str, ...]) -> str:
        for kind, pattern in self._secrets:
            text = pattern.sub(self._counted(kind), text)
        text = HOME.sub(r"\1user", text)
        ids = [re.escape(one) for one in hidden_ids]
        if ids:
            text = re.sub(rf"\b(?:{'|'.join(ids)})\b", self._counted("hidden case"), text)
        return HANDLE.sub(_other_handle, text)

    def document(self, value: Any, hidden_ids: tuple[str, ...] = ()) -> Any:
        """Returns the JSON value with every text redacted. Of a hidden case, only its public name
        and its outcome stay."""
        if isinstance(value, str):
            return self.text(value, hidden_ids)
        if isinstance(value, list):
            return [self.document(one, hidden_ids) for one in value]
        if not isinstance(value, dict):
            return value
        if value.get("hidden") is True:
            value = self._public_part(value)
        return {
            self.text(key, hidden_ids): self.document(one, hidden_ids) for key, one in value.items()
        }

    def _public_part(self, case: dict[str, Any]) -> dict[str, Any]:
        name = case.get("id")
        if not (isinstance(name, str) and PUBLIC_HIDDEN_ID.fullmatch(name)):
            self.counts["hidden case"] += 1
            name = "hidden"
        return {"id": name, "hidden": True, "outcome": case.get("outcome")}

    def _counted(self, kind: str) -> Callable[[re.Match[str]], str]:
        def replaced(_: re.Match[str]) -> str:
            self.counts[kind] += 1
            return f"[redacted: {kind}]"

        return replaced
