"""The fixtures `world` of the tests of shadows, and `given` of the tests of origins."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
import torch

sys.path.insert(0, os.path.dirname(__file__))
from origin_world import Given
from shadow_world import World


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    with made.shadows.watching():
        yield made


@pytest.fixture
def given() -> Iterator[Given]:
    made = Given()
    with torch.no_grad(), made.shadows.watching(), made.origins.watching():
        yield made
