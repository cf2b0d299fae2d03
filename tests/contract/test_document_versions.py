"""Which versions of documents are still wanted, in memory and on a real server; and work that is
dropped for others.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import pytest
import pytest_asyncio

from contracts.events import ChunksCreated, DocumentCancelled, DocumentDeleted, EntitiesExtracted
from contracts.graph import Generations
from runtime.bus.document_versions import LogVersions
from runtime.bus.port import Message
from runtime.errors import Unavailable
from runtime.models.limits import Limits
from runtime.models.rate_limiter import RateLimiter
from runtime.stores.documents.memory import MemoryRows
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.adapters.model import ModelExtractor
from services.extractor.domain.guidance import ExtractionConfig
from services.extractor.handler import on_chunks_created
from tests.support.buses import Bus, memory_bus, numbered
from tests.support.events import chunked, delivered, document, sealed
from tests.support.openai_provider import Provider, serving

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def provider() -> AsyncIterator[Provider]:
    async with serving() as provider:
        yield provider


async def delete(bus: Bus, id: str, workspace: str = "w") -> int:
    return await bus.log.publish(
        sealed(DocumentDeleted(document_id=id), id=f"deleted-{workspace}-{id}", workspace=workspace)
    )


async def cut(bus: Bus, id: str, version: int) -> int:
    return await bus.log.publish(
        sealed(chunked(document(id, version), "one"), id=f"cut-{id}-{version}")
    )


def chatting(provider: Provider, calls: int) -> tuple[ModelExtractor, Callable[[], Any]]:
    """An extractor whose calls take a tenth of a second, so many at once, and what closes it."""
    chat = provider.chat("slow", limiter=RateLimiter("slow", Limits(calls=calls)))
    return ModelExtractor(chat, ExtractionConfig(gleaning=0), len), chat.close


def many(id: str, count: int) -> ChunksCreated:
    return chunked(document(id, 1), *(f"{id} passage {number}" for number in range(count)))


async def test_a_version_that_is_cancelled_is_not_wanted_and_a_later_one_is(bus: Bus) -> None:
    versions = LogVersions(bus.log, look_again=0.0)
    at = await cut(bus, "stopped", 1)
    assert await versions.obsolete("w", document("stopped", at)) is None
    await bus.log.publish(sealed(DocumentCancelled(document=document("stopped", at)), id="stopped"))
    assert await versions.obsolete("w", document("stopped", at)) == "cancelled"
    assert await versions.obsolete("w", document("stopped", at + 100)) is None
    assert await versions.obsolete("v", document("stopped", at)) is None


async def test_a_version_is_wanted_until_it_is_deleted_or_another_one_is_cut(bus: Bus) -> None:
    versions = LogVersions(bus.log, look_again=0.0)
    first = await bus.log.publish(numbered(1, "A b.pdf"))
    await cut(bus, "A b.pdf", first)
    assert await versions.obsolete("w", document("A b.pdf", first)) is None
    second = await bus.log.publish(numbered(2, "A b.pdf"))
    assert await versions.obsolete("w", document("A b.pdf", first)) is None, (
        "the newer one may turn out to be unusable"
    )
    # What is still being cut of the old one does not make it obsolete.
    await bus.log.publish(sealed(chunked(document("A b.pdf", first), "two", part=1), id="late"))
    assert await versions.obsolete("w", document("A b.pdf", first)) is None
    await cut(bus, "A b.pdf", second)
    assert await versions.obsolete("w", document("A b.pdf", first)) == "superseded"
    assert await versions.obsolete("w", document("A b.pdf", second)) is None
    await delete(bus, "A b.pdf", "other")
    assert await versions.obsolete("w", document("A b.pdf", second)) is None
    await delete(bus, "A b.pdf")
    assert await versions.obsolete("w", document("A b.pdf", second)) == "deleted"
    third = await bus.log.publish(numbered(3, "A b.pdf"))
    assert await versions.obsolete("w", document("A b.pdf", third)) is None
    assert await versions.obsolete("w", document("A b.pdf", second)) == "deleted"


async def test_a_version_is_asked_about_once_a_moment_and_not_at_all_when_the_log_is_silent() -> (
    None
):
    bus = memory_bus()
    reads = 0
    down = False

    async def counted(*place: str, exact: bool = True) -> Message | None:
        nonlocal reads
        reads += 1
        if down:
            raise Unavailable("the bus does not answer")
        return await type(bus.log).newest(bus.log, *place, exact=exact)

    bus.log.newest = counted  # type: ignore[method-assign]
    versions = LogVersions(bus.log)
    await asyncio.gather(*(versions.obsolete("w", document("d", 1)) for _ in range(100)))
    assert reads == 3
    down = True
    answers = await asyncio.gather(
        *(versions.obsolete("w", document(f"d{n}", 1)) for n in range(100))
    )
    assert (set(answers), reads <= 303) == ({None}, True), "three reads at once of each"
    before = reads
    await versions.obsolete("w", document("e", 1))
    assert reads == before


async def test_extraction_of_a_deleted_document_ends_with_the_calls_under_way(
    bus: Bus, provider: Provider
) -> None:
    extractor, close = chatting(provider, calls=2)
    extract = partial(
        on_chunks_created,
        extractor=extractor,
        extractions=ExtractionCache(MemoryRows()),
        clock=lambda: 0.0,
        versions=LogVersions(bus.log, look_again=0.05),
    )
    assert await bus.log.publish(numbered(1, "d")) == 1
    event = many("d", 40)
    task = asyncio.create_task(extract(delivered(event), Generations()))
    while len(provider.requests) < 4:
        await asyncio.sleep(0.005)
    await delete(bus, "d")
    call_count = len(provider.requests)
    results = await task
    await close()
    assert len(provider.requests) <= call_count + 2
    assert len(results) == len(provider.requests)
    assert all(isinstance(result, EntitiesExtracted) for result in results), "nothing failed"
    assert await extract(delivered(event, attempt=2), Generations()) == []


async def test_calls_of_a_workspace_queue_behind_its_own(bus: Bus, provider: Provider) -> None:
    extractor, close = chatting(provider, calls=2)
    extractions = ExtractionCache(MemoryRows())

    async def extract(event: ChunksCreated, workspace: str) -> float:
        await on_chunks_created(
            delivered(event, workspace=workspace),
            Generations(),
            extractor=extractor,
            extractions=extractions,
            clock=lambda: 0.0,
            versions=LogVersions(bus.log),
        )
        return asyncio.get_running_loop().time()

    start = asyncio.get_running_loop().time()
    flood = [asyncio.create_task(extract(many(f"f{number}", 20), "flood")) for number in range(2)]
    while len(provider.requests) < 2:
        await asyncio.sleep(0.005)
    quiet = await extract(many("q", 2), "quiet")
    end = max(await asyncio.gather(*flood))
    await close()
    # 42 calls of 0.1 s, two at once: the last two of one queue would come after 2 s.
    assert quiet - start < (end - start) / 3
