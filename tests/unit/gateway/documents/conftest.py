"""Tests of the routes about documents begin with empty stores."""

import pytest

from tests.support.querying import QueryHarness


@pytest.fixture
def harness() -> QueryHarness:
    """Empty stores, bus and models in memory."""
    return QueryHarness()
