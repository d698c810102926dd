"""The fixture `world` of the tests of shadows."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

sys.path.insert(0, os.path.dirname(__file__))
from shadow_world import World


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    with made.shadows.watching():
        yield made
