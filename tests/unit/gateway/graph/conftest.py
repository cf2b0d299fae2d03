"""Tests of the routes about the graph have a merger, which makes edits show."""

from collections.abc import AsyncIterator

import httpx
import pytest_asyncio

from tests.support.access import client
from tests.support.graph_editing import merger
from tests.support.querying import QueryHarness


@pytest_asyncio.fixture
async def api(harness: QueryHarness) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the API over the harness, with a merger at work."""
    async with merger(harness), client(harness.app()) as api:
        yield api
