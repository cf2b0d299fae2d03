"""The stack of a file, with documents that were indexed undisturbed."""

from collections.abc import Generator, Mapping
from typing import Any

import pytest

from tests.chaos.faults import Machine
from tests.chaos.trial import machine


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[Machine, Mapping[str, Any]]]:
    """A machine, and the digest that indexing in peace leads to."""
    with machine(tmp_path_factory.mktemp("outages") / "data") as made:
        yield made
