"""A store is away for a minute while documents are indexed."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.chaos.faults import Machine
from tests.support.outages import outlive

AWAY = {
    "graph": ("freeze", "arcadedb"),
    "vectors": ("freeze", "milvus-lite"),
    "documents": ("lock", "documents.db"),
}
DAILY = ("graph",)
"""The store that most goes through; the others are nightly."""


@pytest.mark.parametrize(
    "away",
    [name if name in DAILY else pytest.param(name, marks=pytest.mark.nightly) for name in AWAY],
)
def test_documents_wait_for_a_store_that_is_away(
    calm: tuple[Machine, Mapping[str, Any]], away: str
) -> None:
    outlive(*calm, *AWAY[away])
