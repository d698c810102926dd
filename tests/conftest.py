"""Gives each process of a test run its own state folder, in which Assay keeps its store, logs and the
results of lint. So the tests read nothing that earlier runs left in the user's folder, they write
nothing there, and two processes of one run share nothing."""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest

VARIABLE = "ASSAY_STATE_DIR"


def pytest_configure(config: pytest.Config) -> None:
    # A process of pytest-xdist inherits the environment of the process that started it.
    folder = tempfile.mkdtemp(prefix="assay-tests-")
    earlier = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = folder

    def clean_up() -> None:
        if earlier is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = earlier
        shutil.rmtree(folder, ignore_errors=True)

    config.add_cleanup(clean_up)
