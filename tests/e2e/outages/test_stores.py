"""A store is away for a minute while documents are indexed."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.chaos.faults import Machine
from tests.support.outages import outlive

pytestmark = pytest.mark.nightly  # without a stack: tests/contract/test_graph_outages.py

AWAY = {
    "graph": ("lock", "graph"),
    "vectors": ("lock", "vectors"),
    "documents": ("lock", "documents"),
}


@pytest.mark.parametrize(
    "away",
    AWAY,
)
def test_documents_wait_for_a_store_that_is_away(
    calm: tuple[Machine, Mapping[str, Any]], away: str
) -> None:
    outlive(*calm, *AWAY[away])
