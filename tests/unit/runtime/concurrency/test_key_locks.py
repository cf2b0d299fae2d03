"""Locks by key, and what they are for: nothing is paid for twice because two asked at the same
time.
"""

import asyncio
from collections.abc import Sequence

from contracts.values import ExtractedEntity
from runtime.concurrency.key_locks import KeyLocks
from runtime.models.port import Vector
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.memory import MemoryRows
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.domain.extraction import Extraction


async def test_holders_of_a_common_key_take_turns_and_never_wait_for_each_other() -> None:
    locks = KeyLocks()
    inside = 0
    peak = 0

    async def holder(*keys: str) -> None:
        nonlocal inside, peak
        async with locks.hold(keys):
            inside += 1
            peak = max(peak, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.wait_for(
        asyncio.gather(*(holder(*pair) for pair in (("a", "b"), ("b", "a"), ("b", "b")) * 20)), 5
    )
    assert peak == 1


async def test_holders_of_different_keys_do_not_wait() -> None:
    locks = KeyLocks()
    async with locks.hold(["a"]), asyncio.timeout(1), locks.hold(["b"]):
        pass


class CountingEmbedder:
    """An embedder that counts how often each text comes."""

    model = "counting"
    dimension = 1

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.seen += texts
        await asyncio.sleep(0)
        return [(float(len(text)),) for text in texts]

    async def close(self) -> None: ...


async def test_a_text_that_is_being_embedded_is_waited_for() -> None:
    inner = CountingEmbedder()
    embeddings = CachedEmbeddings(MemoryRows(), inner)
    result = await asyncio.gather(
        *(embeddings.embed("w", [*["one", "three"][:n], "three"]) for n in (0, 1, 2, 1))
    )
    assert list(map(tuple, result[1])) == [(3.0,), (5.0,)]
    assert sorted(inner.seen) == ["one", "three"]


async def test_an_extraction_that_is_being_made_is_waited_for() -> None:
    cache, count = ExtractionCache(MemoryRows()), 0
    result = Extraction((ExtractedEntity(name="A", type="t", description="d"),), ())

    async def make() -> Extraction:
        nonlocal count
        count += 1
        await asyncio.sleep(0)
        return result

    results = await asyncio.gather(*(cache.once("w", "key", make) for _ in range(5)))
    assert count == 1
    assert sorted(was_known for _, was_known in results) == [False, True, True, True, True]
    assert {extraction.entities for extraction, _ in results} == {result.entities}
