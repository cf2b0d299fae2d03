"""What tests of the gateway share: a library of two documents in memory, and a client of the
API.
"""

from collections.abc import AsyncIterator

import httpx
import pytest_asyncio

from tests.support.access import client
from tests.support.querying import QueryHarness, library_of_two


@pytest_asyncio.fixture
async def harness() -> QueryHarness:
    """Stores, bus and models in memory, with two documents indexed."""
    return await library_of_two()


@pytest_asyncio.fixture
async def api(harness: QueryHarness) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the API over the harness."""
    async with client(harness.app()) as api:
        yield api
