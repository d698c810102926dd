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

# A secret begins where no word goes on. A letter after a backslash is an escape of JSON.
BEGIN = r"(?:(?<![A-Za-z0-9_-])|(?<=\\[nrtbf]))"
# Each kind of secret and how it looks. A kind that contains another one stands before it. The lengths
# of repeated parts are limited, so that the search takes linear time. tests/common/secrets.json has
# examples; server/transcripts/redact.cc knows them too.
SECRETS: tuple[tuple[str, str], ...] = (
    (
        "private key",
        r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*KEY-----|\Z)",
    ),
    ("token of Assay", BEGIN + r"assay_[0-9a-z]{26}\b"),
    ("api key", BEGIN + r"(?:sk|rk|pk)-(?=[A-Za-z_-]{0,256}[0-9])[A-Za-z0-9_-]{16,}"),
    ("api key", BEGIN + r"gsk_[A-Za-z0-9]{30,}"),
    ("api key", BEGIN + r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("api key", BEGIN + r"AIza[0-9A-Za-z_-]{30,}"),
    ("api key", BEGIN + r"(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("access token", BEGIN + r"(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,})"),
    ("access token", BEGIN + r"glpat-[A-Za-z0-9_-]{16,}"),
    ("access token", BEGIN + r"hf_[A-Za-z0-9]{20,}"),
    ("access token", BEGIN + r"npm_[A-Za-z0-9]{30,}"),
    ("access token", BEGIN + r"pypi-[A-Za-z0-9_-]{40,}"),
    ("access token", BEGIN + r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("access token", BEGIN + r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    ("access token", r"(?i)(?<=\bbearer )[A-Za-z0-9._~+/-]{16,}=*"),
    ("password", r"(?<=://)[^\s/:@'\"]{1,256}:[^\s/@'\"]{1,256}(?=@)"),
    (
        "password",
        r"(?i)(?:API_?KEY|ACCESS_?KEY|SECRET|PASSWORD|PASSWD|TOKEN)"
        r"['\"]?\s{0,4}[=:]\s{0,4}['\"][^'\"\s]{8,}['\"]",
    ),
    (
        "password",
        r"(?:API_?KEY|ACCESS_?KEY|SECRET|PASSWORD|PASSWD)="
        r"(?=[A-Za-z_/+.-]{0,256}[0-9])[A-Za-z0-9_/+.-]{16,}",
    ),
    (
        "address",
        r"\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8}"
        r"\.[A-Za-z]{2,24}\b",
    ),
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

    def count(self, kind: str, number: int) -> None:
        """Counts what was removed elsewhere."""
        if number:
            self.counts[kind] += number

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
