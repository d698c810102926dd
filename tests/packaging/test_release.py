"""Tests what a release has besides the packages: lists of parts, and the workflow's references to
files and versions."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
WORKFLOW = ROOT / ".github/workflows/release.yml"
SBOM = ROOT / "packaging/sbom.py"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dist") / "assay-0.1.0-py3-none-manylinux_2_36_x86_64.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("assay/_bundle/lib/libsqlite3.so.0", b"bytes of a library")
        wheel.writestr("assay/_bundle/bin/assay", b"a program")
    return path


@pytest.fixture(scope="module")
def parts(package: Path) -> dict[str, Any]:
    done = subprocess.run([sys.executable, SBOM, package], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def test_the_list_names_the_package_its_libraries_and_what_setup_installs(
    package: Path, parts: dict[str, Any]
) -> None:
    named = {one["name"]: one for one in parts["packages"]}
    digest = hashlib.sha256(package.read_bytes()).hexdigest()
    assert named[package.name]["checksums"] == [{"algorithm": "SHA256", "checksumValue": digest}]
    library = named["libsqlite3.so.0"]["checksums"][0]["checksumValue"]
    assert library == hashlib.sha256(b"bytes of a library").hexdigest()
    torch = re.search(r"^torch==(\S+)", (ROOT / "requirements.txt").read_text(), re.M)
    assert torch is not None and named["torch"]["versionInfo"] == torch[1]
    assert "pytest" not in named and "assay" not in named


def test_the_list_is_whole(parts: dict[str, Any]) -> None:
    """The rules of SPDX 2.3 that a reader relies on."""
    assert parts["spdxVersion"] == "SPDX-2.3" and parts["dataLicense"] == "CC0-1.0"
    known = [one["SPDXID"] for one in parts["packages"]]
    assert len(set(known)) == len(known)
    assert all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", one) for one in known)
    related = {one["relatedSpdxElement"] for one in parts["relationships"]}
    assert related == set(known)
    for one in parts["packages"]:
        for key in ("versionInfo", "downloadLocation", "licenseConcluded", "copyrightText"):
            assert one[key]


def test_another_file_is_refused(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, SBOM, tmp_path / "x.zip"], capture_output=True, text=True
    )
    assert done.returncode == 2 and ".whl" in done.stderr


def test_the_workflow_names_files_that_exist_and_versions() -> None:
    text = WORKFLOW.read_text()
    for name in set(re.findall(r"(?:packaging|docs)/[\w./-]+\w", text)):
        assert (ROOT / name).exists(), name
    uses = re.findall(r"uses: (\S+)", text)
    assert uses and all(re.search(r"@(v\d|release/v\d)", one) for one in uses)
    assert re.search(r"^permissions: \{\}$", text, re.M)  # each job asks for what it needs
    assert "gh-action-pypi-publish" in text and "attest-build-provenance" in text
    sed = re.search(r"sed -n '(s/.*/p)' CMakeLists", text)
    assert sed is not None
    found = subprocess.run(
        ["sed", "-n", sed[1], ROOT / "CMakeLists.txt"], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", found.stdout)


@pytest.mark.parametrize(
    ("job", "user"), [("packages", "./run package-test"), ("image", "docker run --rm")]
)
def test_ordinary_users_may_make_namespaces_before_the_demo_runs(job: str, user: str) -> None:
    """Ubuntu 24.04 restricts them, so the demo of an ordinary user would fail there."""
    jobs = re.split(r"^  (\w+):$", WORKFLOW.read_text().partition("\njobs:\n")[2], flags=re.M)
    steps = dict(zip(jobs[1::2], jobs[2::2], strict=True))[job]
    before = steps[: steps.index(user)]
    setting = r"^ +run: .*kernel[./]apparmor_restrict_unprivileged_userns(=0)?$"
    assert re.search(setting, before, re.M)
