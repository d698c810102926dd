"""Writes the data card of a dataset: what it has, where it comes from, its licences, what was
removed, and what it must not be used for.

    (folder / "README.md").write_text(card(manifest))"""

from __future__ import annotations

import json
from typing import Any

UNCHOSEN = "other"
MEANINGS = {
    "sources": "one row for each different source of an operator",
    "verdicts": "one row for each judged call, and the count of calls that repeat it",
    "transcripts": "one row for each attempt of an agent: prompts, replies, calls and results",
}


def _front_matter(manifest: dict[str, Any]) -> str:
    """Returns the header in YAML that hubs of datasets read. JSON is valid YAML."""
    licence = manifest["licence"]
    lines = [
        f"license: {json.dumps(licence.lower() if licence else UNCHOSEN)}",
        f"pretty_name: {json.dumps(manifest['title'], ensure_ascii=False)}",
        'tags: ["code", "gpu", "triton", "kernels"]',
        "configs:",
    ]
    for table, facts in manifest["tables"].items():
        lines += [
            f"- config_name: {table}",
            f"  data_files: {json.dumps(facts['files'][-1]['path'])}",
        ]
    return "---\n" + "\n".join(lines) + "\n---\n"


def _table(heads: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    def line(cells: tuple[Any, ...]) -> str:
        texts = (" ".join(str(cell).split()).replace("|", "\\|") for cell in cells)
        return "| " + " | ".join(texts) + " |\n"

    return line(heads) + line(("---",) * len(heads)) + "".join(line(row) for row in rows)


def _licences(manifest: dict[str, Any]) -> str:
    chosen = manifest["licence"] or "nobody has chosen one, so ask the author before you use it"
    text = f"- The dataset as a whole: {chosen}.\n"
    text += (
        "- Prompts quote references of the operators. A reference has the licence of its suite, "
        "in the column `operator_licence`:\n\n"
    )
    rows = [
        (one["licence"], one["suite"], one["verdicts"]) for one in manifest["operator_licences"]
    ]
    text += _table(("licence", "suite", "verdicts"), rows)
    return text + (
        "\n- Sources were written by the models in the column `models`, or by clients that named no "
        "model. The terms of a model's provider may limit what you train on its replies.\n"
    )


def card(manifest: dict[str, Any]) -> str:
    removed = [(kind, count) for kind, count in sorted(manifest["redactions"].items())]
    tables = [
        (f"`{name}`", facts["rows"], MEANINGS[name], ", ".join(x["path"] for x in facts["files"]))
        for name, facts in manifest["tables"].items()
    ]
    dropped = manifest["dropped"]
    return (
        _front_matter(manifest)
        + f"\n# {manifest['title']}\n\n"
        + "GPU kernels that were written for operators, and how "
        + f"Assay {manifest['assay']} judged them. The format is `{manifest['format']}`.\n\n"
        + _table(("table", "rows", "what a row is", "files"), tables)
        + '\n```python\nimport assay\n\nfor row in assay.read_dataset(".").verdicts():\n'
        + '    print(row["operator"], row["outcome"], row["perf"])\n```\n\n'
        + "A verdict refers to its source by `operator` and `source`, the SHA-256 of the source's "
        + "text. Sources whose `normal` is equal differ only in comments and layout, so put them "
        + "into the same part when you split the data. `verdict` is the public verdict as JSON.\n"
        + "\n## Licences\n\n"
        + _licences(manifest)
        + "\n## What was removed\n\n"
        + "Handles are replaced by pseudonyms, names of home folders by `user`, and these texts by "
        + "`[redacted: KIND]`. A pattern finds secrets of known forms only, so read the data before "
        + "you publish it.\n\n"
        + (
            _table(("kind", "places"), removed)
            if removed
            else "No secret of a known form was found.\n"
        )
        + "\nVerdicts are public verdicts: of the hidden cases they say only whether all of them are "
        + "right.\n\n"
        + f"Left out: {dropped['equal sources']} equal sources, "
        + f"{dropped['repeated verdicts']} verdicts that repeat another (column `repeats`), "
        + f"{dropped['without a model']} jobs of runs in which no model answered, "
        + f"{dropped['unfinished']} unfinished jobs and {dropped['infrastructure']} verdicts that "
        + "say nothing about the source because the machine failed.\n"
        + "\n## What it is not for\n\n"
        + "- Do not compare scores of rows with different `suite_number`, `device` or `tier`.\n"
        + "- A row with the outcome `pass` can still be a cheat that nobody has found. "
        + "Do not use it as a proof of speed; judge the source again.\n"
        + "- Whoever trains on these rows has seen the operators. Say so when you publish a score "
        + "for them.\n"
    )
