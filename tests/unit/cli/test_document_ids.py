"""Commands take documents by their ids or their file names."""

from collections.abc import AsyncGenerator

import httpx
import pytest

from cli.document_ids import document_id, document_ids
from lightstream_rag.client import AsyncLightstream
from runtime.errors import InvalidInput
from tests.support.events import added, delivered
from tests.support.querying import QueryHarness

PATHS = {"a": "policy.md", "b": "rules.md", "c": "rules.md", "policy.md": "other.md"}
"""File names by id."""


@pytest.fixture
async def client() -> AsyncGenerator[AsyncLightstream]:
    harness = QueryHarness()
    for number, (id, path) in enumerate(PATHS.items(), start=1):
        await harness.project(delivered(added(id, file_path=path), number))
    transport = httpx.ASGITransport(harness.app())
    async with AsyncLightstream("http://localhost", workspace="w", transport=transport) as client:
        yield client


async def test_names_become_ids_and_what_nothing_is_called_stays(client: AsyncLightstream) -> None:
    assert await document_ids(client, ["other.md", "b", "gone"]) == ["policy.md", "b", "gone"]
    # An id is meant before a name.
    assert await document_id(client, "policy.md") == "policy.md"


async def test_the_name_of_several_is_refused(client: AsyncLightstream) -> None:
    with pytest.raises(InvalidInput, match=r"several documents are called 'rules.md'.*'b', 'c'"):
        await document_id(client, "rules.md")
