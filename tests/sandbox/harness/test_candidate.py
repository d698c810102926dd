"""Zygote and candidate over a real socket pair, without the native jail."""

from __future__ import annotations

import os
import signal
import time

import pytest
import torch

from conftest import Supervisor
from sources import VECTOR_ADD
