"""The bus or the models are away for a minute while documents are indexed."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.chaos.faults import Machine
from tests.support.outages import outlive

AWAY = {
    "bus": ("freeze", "nats-server"),
    "models": ("refuse", "the model"),
}


@pytest.mark.nightly
@pytest.mark.parametrize("away", AWAY)
def test_documents_wait_for_bus_and_models_that_are_away(
    calm: tuple[Machine, Mapping[str, Any]], away: str
) -> None:
    outlive(*calm, *AWAY[away])
