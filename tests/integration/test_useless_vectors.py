"""Documents whose vectors do not come: they wait for a provider that is ill, and fail only for a
text of their own.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from contracts.events import StageFailed, VectorsIndexed
from runtime.bus.port import BUG_ATTEMPTS
from runtime.models.limits import Limits
from runtime.models.rate_limiter import RateLimiter
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.vectors.memory import MemoryVectors
from services.indexer.handler import on_chunks
from tests.support.events import chunked, document, sealed
from tests.support.openai_provider import DIMENSION, Provider, serving
from tests.support.processors import ProcessorBench, bench
from tests.support.waiting import PATIENCE


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with serving() as provider:
        yield provider


@asynccontextmanager
async def indexer(
    provider: Provider, how: str, limiter: RateLimiter
) -> AsyncIterator[ProcessorBench]:
    """An indexer of passages that asks this provider, with three documents waiting."""
    rows = MemoryRows()
    embedder = provider.embedder(f"picky:{how}", limiter=limiter)
    handle = partial(
        on_chunks,
        vectors=MemoryVectors(embedder.model, DIMENSION),
        embeddings=CachedEmbeddings(rows, embedder),
        extents=RowDocumentBounds(rows, "vector_extents"),
    )
    table = bench(handle, stage="indexer", on="indexer-chunks")
    for name in ("sea", "bitcoin", "sky"):
        table.append(sealed(chunked(document(name), f"about {name}"), id=name))
    try:
        yield table
    finally:
        await embedder.close()


@pytest.mark.parametrize("how", ["nan", "infinite", "zeros", "short", "long", "not-json"])
async def test_no_document_fails_for_a_provider_that_is_ill_and_all_are_done_when_it_is_well(
    provider: Provider, how: str
) -> None:
    limiter, provider.bad = RateLimiter("m", Limits(calls=2)), ""
    async with indexer(provider, how, limiter) as table:
        for _ in range(BUG_ATTEMPTS + 2):
            await table.deliver()
        assert (table.unacknowledged, table.published(), table.log.dead) == ([1, 2, 3], [], {})
        assert "is paused since" in str(await limiter.note())
        provider.bad = "\0"
        async with asyncio.timeout(PATIENCE):
            while table.unacknowledged:
                await asyncio.sleep(0.1)
                await table.deliver()
        assert sorted(event.data.aggregate_id for event in table.published("VectorsIndexed")) == [
            "bitcoin",
            "sea",
            "sky",
        ]
        assert table.published("StageFailed") == []


async def test_only_the_document_of_a_text_that_fails_alone_fails(provider: Provider) -> None:
    limiter, provider.bad = RateLimiter("m", Limits(calls=2)), "bitcoin"
    async with indexer(provider, "nan", limiter) as table:
        await table.deliver()
        assert table.unacknowledged == []
        counts = {
            event.data.aggregate_id: len(event.data.chunks)
            for event in table.published("VectorsIndexed")
            if isinstance(event.data, VectorsIndexed)
        }
        assert counts == {"sea": 1, "bitcoin": 0, "sky": 1}
        (failure,) = table.published("StageFailed")
        assert isinstance(failure.data, StageFailed)
        assert failure.data.aggregate_id == "bitcoin"
        assert "not 'about bitcoin'" in failure.data.message
        assert await limiter.note() is None
