"""Prints the list of parts (SBOM) of a package, as SPDX 2.3 in JSON.

    python packaging/sbom.py build/packages/assay-0.1.0-py3-none-manylinux_2_36_x86_64.whl

The parts are the package itself, with its SHA-256; the libraries that it carries in lib/, with their
Debian packages if this machine knows them; and the Python packages that `assay setup` installs, by
requirements.txt. Libraries that are compiled in as headers are named by run, and are not listed."""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import uuid
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parent))

from make_python import requirements

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = re.compile(r"(^|/)lib/([^/]+\.so[^/]*)$")
UNKNOWN = "NOASSERTION"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def libraries(package: Path) -> dict[str, bytes]:
    """Returns the libraries in the package by their names."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            return {
                found[2]: wheel.read(name)
                for name in wheel.namelist()
                if (found := LIBRARIES.search(name))
            }
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["dpkg-deb", "-x", package, scratch], check=True)
        folder = Path(scratch) / "usr/lib/assay/lib"
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def debian_package(library: str) -> tuple[str, str]:
    """Returns the name and the version of the Debian package that has the library, or two empty
    texts where dpkg does not know it."""
    try:
        found = subprocess.run(
            ["dpkg", "-S", f"*/{library}"], capture_output=True, text=True, check=True
        )
        name = found.stdout.splitlines()[0].partition(": ")[0].split(",")[0]
        shown = subprocess.run(
            ["dpkg-query", "-W", "-f=${Version}", name], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "", ""
    return name.partition(":")[0], shown.stdout


def part(name: str, version: str, **more: Any) -> dict[str, Any]:
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{name}-{version}"),
        "name": name,
        "versionInfo": version or UNKNOWN,
        "downloadLocation": UNKNOWN,
        "filesAnalyzed": False,
        "licenseConcluded": UNKNOWN,
        "licenseDeclared": UNKNOWN,
        "copyrightText": UNKNOWN,
        **more,
    }


def reference(kind: str, name: str, version: str) -> list[dict[str, str]]:
    """Returns a reference to a package as a package URL."""
    locator = f"pkg:{kind}/{quote(name)}@{quote(version, safe='~:')}"
    return [
        {
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": locator,
        }
    ]


def document(package: Path, version: str) -> dict[str, Any]:
    whole = part(
        package.name,
        version,
        licenseDeclared="Apache-2.0",
        checksums=[{"algorithm": "SHA256", "checksumValue": sha256(package.read_bytes())}],
    )
    inside = []
    for name, data in sorted(libraries(package).items()):
        debian, debian_version = debian_package(name)
        more: dict[str, Any] = {
            "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(data)}]
        }
        if debian:
            more["externalRefs"] = reference("deb/debian", debian, debian_version)
        inside.append(part(name, debian_version, **more))
    needed = []
    for line in requirements((ROOT / "requirements.txt").read_text(), "any"):
        name, _, rest = line.partition("==")
        wanted = rest.partition(";")[0].strip()
        one = part(name, wanted, externalRefs=reference("pypi", name, wanted))
        if one not in needed:
            needed.append(one)
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", datetime.datetime.now().timestamp()))
    created = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    space = uuid.uuid5(uuid.NAMESPACE_URL, whole["checksums"][0]["checksumValue"])
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", whole["SPDXID"])]
    relations += [(whole["SPDXID"], "CONTAINS", one["SPDXID"]) for one in inside]
    relations += [(whole["SPDXID"], "DEPENDS_ON", one["SPDXID"]) for one in needed]
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": package.name,
        "documentNamespace": f"urn:uuid:{space}",
        "creationInfo": {
            "created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: packaging/sbom.py"],
        },
        "packages": [whole, *inside, *needed],
        "relationships": [
            {
                "spdxElementId": one,
                "relationshipType": kind,
                "relatedSpdxElement": other,
            }
            for one, kind, other in relations
        ],
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path, help="a wheel or a Debian package")
    options = parser.parse_args()
    found = re.search(r"(?<=[-_])\d+\.\d+\.\d+", options.package.name)
    if options.package.suffix not in (".whl", ".deb") or found is None:
        parser.error(f"{options.package} is no wheel (.whl) and no Debian package (.deb)")
    print(json.dumps(document(options.package, found[0]), indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
