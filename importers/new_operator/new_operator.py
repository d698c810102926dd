"""Implements `assay operators new`: writes the folder of an operator, from a function in PyTorch or
from a simple kind of operator.

    python importers/new_operator/new_operator.py '{"name": "swish_gate", ...}'

The command runs the author's reference, with the rights of the user, as `operators lint` does. The
folder is written under another name and then renamed, so it is never there in part. The exit status
is that of the command; an error is one line on stderr."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "sandbox"))

from operator_cases import axes_of, cases_of  # noqa: E402
from operator_forms import forms_of  # noqa: E402
from operator_kinds import source_of  # noqa: E402
from operator_request import Refused, Request  # noqa: E402
from operator_scales import scales_of  # noqa: E402
from operator_sources import oracle_text  # noqa: E402
from operator_texts import check_names, reference_text, spec_text  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("request", help="what to write, as JSON (operator_request.py)")
    options = parser.parse_args()
    try:
        folder = write(Request.read(json.loads(options.request)))
    except Refused as error:
        print(f"assay operators new: {error}", file=sys.stderr)
        return error.status
    print(f"wrote {folder}")
    for note in places_to_fill_in(folder):
        print(note)
    return 0


def write(request: Request) -> Path:
    """Writes the operator's folder and returns its path. Raises Refused if it cannot be written;
    then nothing is left."""
    check_names(request, axes_of(request))
    cases = cases_of(request)
    oracle = request.oracle.source() if request.oracle else ""
    if request.reference is not None:
        source, function = request.reference.source(), request.reference.function
    else:
        source, kernel = source_of(request.kind, request.name, request.inputs)
        function = request.name
        oracle = oracle or kernel
    forms = forms_of(request.inputs, function, source, cases)
    texts = {
        "spec.toml": spec_text(request, forms, cases, {}),
        "reference.py": reference_text(request, forms, source, function),
        "oracle.py": oracle_text(request, request.oracle, oracle),
    }
    final = request.suite / request.split / request.name
    missing = [one for one in final.parents if not one.exists()]
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{request.name}-", dir=request.suite) as scratch:
            made = Path(scratch) / request.name
            made.mkdir()
            for name, text in texts.items():
                (made / name).write_text(text, encoding="utf-8")
            scales = scales_of(made, cases)
            spec = spec_text(request, forms, cases, scales)
            (made / "spec.toml").write_text(spec, encoding="utf-8")
            shutil.rmtree(made / "__pycache__", ignore_errors=True)
            os.rename(made, final)
    except OSError as error:
        raise Refused(f"{error.filename2 or error.filename}: {error.strerror}") from error
    finally:
        for folder in missing:
            if folder.exists() and not any(folder.iterdir()):
                folder.rmdir()
    return final


def places_to_fill_in(folder: Path) -> list[str]:
    """Returns the marked places as FILE:LINE: TEXT. `operators lint` lists them too."""
    return [
        f"{folder / name}:{number}: {line.strip().lstrip('# ')}"
        for name in ("spec.toml", "reference.py", "oracle.py")
        for number, line in enumerate((folder / name).read_text(encoding="utf-8").splitlines(), 1)
        if "FILL IN" in line
    ]


if __name__ == "__main__":
    sys.exit(main())
