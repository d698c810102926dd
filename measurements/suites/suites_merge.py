"""Combines results of suites_table.py, which ran on several GPUs, or at several times.

    result = merged([first, second])  # of two verdicts on an operator, that of the later run counts
    carry_over(record, earlier)       # into a suite's record, from a record of the same name

A verdict belongs to an operator, not to an import: it is kept if all files of the operator's folder
are the same, whatever else an import has. Results of before that have no digests of operators; they
are kept if the whole import is the same."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]
# Trouble of the server or the device: no verdict on the operator.
OURS = {"internal_error", "device_unhealthy", "cancelled"}
STEPS = ("verdicts", "lint")


def is_trouble(step: str, sample: dict[str, Any]) -> bool:
    """Returns True if this result says nothing about the operator."""
    return bool(sample["error_kind"] in OURS if step == "verdicts" else sample["undecided"])


def carry_over(record: Record, earlier: Record) -> None:
    """Adds the results of `earlier` for operators that are the same and have no result of the same or
    a later run."""
    theirs = {one["name"]: one.get("sha256") for one in earlier["operators"]}
    is_same = record["digest"] == earlier["digest"]
    same = set()
    for one in record["operators"]:
        name, own = one["name"], one.get("sha256")
        if is_same:
            one.update({"sha256": theirs.get(name)} if not own and theirs.get(name) else {})
        if is_same or (own and own == theirs.get(name)):
            same.add(name)
    for step in STEPS:
        known = {sample["operator"]: sample for sample in record[step]}
        for sample in earlier[step]:
            before = known.get(sample["operator"])
            if sample["operator"] in same and (before is None or _counts(step, sample, before)):
                known[sample["operator"]] = sample
        record[step] = list(known.values())


def _counts(step: str, sample: dict[str, Any], before: dict[str, Any]) -> bool:
    """Returns True if `sample` replaces `before`. Trouble replaces nothing."""
    if is_trouble(step, sample) or is_trouble(step, before):
        return not is_trouble(step, sample)
    return bool(sample.get("run", 0) > before.get("run", 0))


def merged(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns one result. A suite has the operators of its last import. The runs of all results
    follow each other, and a run that several results have, because they went on from the same one,
    is there once."""
    devices = sorted({str(result["device"]) for result in results})
    if len(devices) != 1:
        raise SystemExit(f"the results are of several devices: {', '.join(devices) or 'none'}")
    runs: list[Any] = []
    suites: dict[str, Record] = {}
    for result in results:
        runs += [run for run in result["runs"] if run not in runs]
        number = [runs.index(run) for run in result["runs"]]
        for record in result["suites"]:
            for step in STEPS:
                for sample in record[step]:
                    if "run" in sample:
                        sample["run"] = number[sample["run"]]
            if earlier := suites.get(record["name"]):
                carry_over(record, earlier)
            suites[record["name"]] = record
    return {
        "what": results[0]["what"],
        "device": devices[0],
        "runs": runs,
        "suites": [suites[name] for name in sorted(suites)],
    }
