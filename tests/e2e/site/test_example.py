"""Makes a part of the example site again, and compares it with the committed data."""

from __future__ import annotations

from pathlib import Path

from example_site import AGENTS, DATA, OPERATORS, PUBLISHED_MODELS, make, results_of
from site_pages import ROOT, build, parts_of_folder

MOST_BYTES = 1_500_000
AGAIN = ("vector_add",)


def is_published(key: tuple[str, str, int]) -> bool:
    return key[0].startswith(PUBLISHED_MODELS)


def test_the_committed_example_is_complete_and_shows_no_oracle() -> None:
    parts = parts_of_folder(DATA.parent)
    results = results_of(parts)
    wanted = {(agent, name, 1) for agent in (*AGENTS, "oracles") for name in OPERATORS}
    assert {key for key in results if not is_published(key)} == wanted
    judged = {result for (agent, _, _), result in results.items() if agent == "oracles"}
    assert judged == {("pass", "interpreter"), ("needs a GPU", "none")}
    index = parts["index"]
    assert index["sources"] == "models"
    for group in index["groups"]:
        assert ("no_model" in group["unranked"]) == (group["provenance"] == "")
        assert group["suite"] == (0 if group["provenance"] else 1)
    details = [
        entry for part in range(index["details_parts"]) for entry in parts[f"details-{part}"]
    ]
    assert {source["text"] for entry in details for source in entry["sources"]} == {None}
    text = "".join(path.read_text() for path in DATA.iterdir())
    assert str(ROOT) not in text and str(Path.home()) not in text
    assert len(text.encode()) < MOST_BYTES


def test_the_data_of_the_example_can_be_made_again(binary: str, tmp_path: Path) -> None:
    build()
    made = make(binary, tmp_path / "site", ["one_shot"], AGAIN)
    committed = parts_of_folder(DATA.parent)
    known = results_of(committed)
    assert results_of(made) == {
        key: result
        for key, result in known.items()
        if is_published(key) or (key[0] in ("one_shot", "oracles") and key[1] in AGAIN)
    }
    published = sum(is_published(key) for key in known)
    assert published > 3_000
    for key in ("format", "metrics", "attempt_columns"):
        assert made["index"][key] == committed["index"][key], "run tests/common/example_site.py"
    pairs = [(made["index"], committed["index"])]
    pairs.append((pairs[0][0]["groups"][0], pairs[0][1]["groups"][0]))
    with_calls = [
        next(entry for entry in parts["details-0"] if entry["calls"]) for parts in (made, committed)
    ]
    pairs.append((with_calls[0], with_calls[1]))
    pairs.append((with_calls[0]["calls"][0], with_calls[1]["calls"][0]))
    for new, old in pairs:
        assert set(new) == set(old), "run tests/common/example_site.py"
