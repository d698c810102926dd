"""Tests attempt 82 of the escape suite: hosts that lack a mechanism of the jail. With `strict` the
server refuses to run. With `best-effort` every verdict names the missing isolation layer.

A mutation build stands in for such a host, because it can leave out a layer. Code outside of the
jail cannot see whether the build or the host lacks the layer."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from case_file import Case
from escape_server import ROOT

LAYERS = [
    "user_namespace",
    "network_namespace",
    "mount_namespace",
    "job_mount_namespace",
    "pid_namespace",
    "seccomp",
    "landlock",
    "cgroup_memory",
    "slot_user",
]
BUILT_ON = {
    "mount_namespace": {"root_filesystem", "proc"},
    "job_mount_namespace": {"job_tmp", "job_shm", "job_proc", "job_proc_facts"},
}
UNPRIVILEGED_UID = 65_534


@pytest.fixture(scope="module")
def mutation_binary() -> str:
    path = os.environ.get("ASSAY_MUTATION_BIN")
    if not path:
        pytest.skip(
            "ASSAY_MUTATION_BIN names no build with ASSAY_JAIL_MUTATIONS=ON; ./run escapes makes one"
        )
    return path


def evaluate(
    binary: str, folder: Path, control: Case, *options: str
) -> subprocess.CompletedProcess[str]:
    source = folder / "submission.py"
    source.write_text(control.source({}))
    command = [binary, "eval", "vector_add", str(source), "--mode", "test", "--json", *options]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=180,
        env={**os.environ, "ASSAY_STATE_DIR": str(folder / "state")},
    )


@pytest.mark.parametrize("layer", LAYERS)
def test_a_missing_layer_is_never_silent(
    mutation_binary: str, tmp_path: Path, control_cases: tuple[Case, Case], layer: str
) -> None:
    loose = evaluate(mutation_binary, tmp_path, control_cases[0], "--without", layer)
    verdict = json.loads(loose.stdout)
    assert verdict["outcome"] == "pass", verdict
    assert {layer} | BUILT_ON.get(layer, set()) <= set(verdict["provenance"]["missing_layers"]), (
        verdict["provenance"]
    )
    strict = evaluate(
        mutation_binary, tmp_path, control_cases[0], "--without", layer, "--isolation", "strict"
    )
    refused = json.loads(strict.stdout)
    assert (refused["outcome"], refused["error_kind"]) == ("error", "internal_error"), refused
    assert f"strict isolation needs the layer {layer}" in refused["detail"] + refused["summary"], (
        refused
    )


@pytest.mark.short
def test_a_release_build_leaves_nothing_out(
    binary: str, tmp_path: Path, control_cases: tuple[Case, Case]
) -> None:
    if os.environ.get("ASSAY_WITHOUT"):
        pytest.skip("this is a mutation run")
    done = evaluate(binary, tmp_path, control_cases[0], "--without", "seccomp")
    assert done.returncode == 64 and "--without" in done.stderr, done


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_an_ordinary_user(binary: str, control_cases: tuple[Case, Case]) -> None:
    """Checks a server without root, which cannot have slot users or control groups. The verdict
    names both as missing, and the other layers still work."""
    with tempfile.TemporaryDirectory(prefix="escapes-user-", dir="/dev/shm") as name:
        folder = Path(name)
        os.chown(folder, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
        source = folder / "submission.py"
        source.write_text(control_cases[0].source({}))
        environment = {**os.environ, "ASSAY_STATE_DIR": str(folder / "state"), "HOME": str(folder)}
        as_user = [
            "setpriv",
            f"--reuid={UNPRIVILEGED_UID}",
            f"--regid={UNPRIVILEGED_UID}",
            "--clear-groups",
        ]
        command = [*as_user, binary, "eval", "vector_add", str(source), "--mode", "test", "--json"]
        python = os.environ.get("ASSAY_PYTHON", str(ROOT / ".venv/bin/python"))
        for program in (binary, python):
            if subprocess.run([*as_user, "test", "-x", program], check=False).returncode != 0:
                pytest.skip(f"an ordinary user may not run {program}")
        loose = subprocess.run(
            command, capture_output=True, text=True, timeout=180, env=environment
        )
        verdict = json.loads(loose.stdout)
        assert verdict["outcome"] == "pass", verdict
        assert {"slot_user", "cgroup_memory", "cgroup_pids"} <= set(
            verdict["provenance"]["missing_layers"]
        ), verdict["provenance"]
        strict = subprocess.run(
            [*command, "--isolation", "strict"],
            capture_output=True,
            text=True,
            timeout=180,
            env=environment,
        )
        assert json.loads(strict.stdout)["error_kind"] == "internal_error", strict.stdout
