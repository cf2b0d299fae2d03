"""Real servers for tests: what happens when this machine lacks one, and where downloaded parts are
kept.
"""

import os
from pathlib import Path
from typing import NoReturn

import pytest

CACHE = Path(__file__).resolve().parents[2] / ".cache"
"""Ignored folder for jars and unpacked servers; a test run may leave it for the next."""


def missing(reason: str) -> NoReturn:
    """Skip on a laptop, with the reason; fail in CI, where every server is to be had."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must have it: {reason}")
    pytest.skip(reason)
