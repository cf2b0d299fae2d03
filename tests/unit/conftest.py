"""What unit tests share: children of parsers that fork from one process of the run."""

from collections.abc import Generator

import pytest

from tests.support.forked_parsers import forking_parsers
from tests.support.shared_servers import SharedServers


@pytest.fixture(scope="module", autouse=True)
def forked_parsers(shared_servers: SharedServers) -> Generator[None]:
    """Read files without the time that the imports of a parser take."""
    with forking_parsers(shared_servers):
        yield
