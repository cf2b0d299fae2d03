"""What failed is tried again on request: only that, and the outcome shows in the document's
status.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from contracts.events import ChunksCreated, EntitiesExtracted, Event, RetryRequested, StageFailed
from publishing.retries import Retries, RetryOutcome, plan_retries, request_retry
from runtime.bus.codec import decode
from runtime.bus.processor import each
from runtime.errors import Poison, Unavailable
from services.extractor.adapters.extraction_cache import ExtractionCache
from services.extractor.adapters.offline import OfflineExtractor
from services.extractor.domain.extraction import Extraction
from services.extractor.handler import on_chunks_created
from tests.support.access import client
from tests.support.events import added, sealed
from tests.support.pipeline import FollowedLog, Worker, workers
from tests.support.querying import QueryHarness


@dataclass
class FailingExtractor(OfflineExtractor):
    """The offline extractor, which cannot take texts that hold the key of one of `errors`. `asked`:
    its texts.
    """

    errors: dict[str, Exception] = field(default_factory=dict[str, Exception])
    asked: list[str] = field(default_factory=list[str])

    async def extract(self, content: str, headings: Sequence[str]) -> Extraction:
        self.asked.append(content)
        for word, error in self.errors.items():
            if word in content:
                raise error
        return await super().extract(content, headings)


class Harness:
    """The services over stores in memory, and an extractor that can fail."""

    def __init__(self) -> None:
        self.harness = QueryHarness(log=FollowedLog())
        self.workers = workers(self.harness)
        self.extractor = FailingExtractor()
        handle: Any = partial(
            on_chunks_created,
            extractor=self.extractor,
            extractions=ExtractionCache(self.harness.rows),
            clock=lambda: 0.0,
        )
        self.worker("extractor").edge.handle = each(handle)
        for worker in self.workers:
            worker.edge.delay = lambda attempt, wait: 0.0

    def worker(self, name: str) -> Worker:
        return next(worker for worker in self.workers if worker.consumer.durable.name == name)

    async def add(self, text: str) -> None:
        how: Any = {"split_by_character": "|"}
        await self.harness.log.publish(
            sealed(added("doc", text, chunking=how, file_path="doc.md"), id="told")
        )

    async def settle(self) -> None:
        """Let all services work until nothing is left."""
        while any([await worker.step() for worker in self.workers]):
            pass

    def events(self, kind: type[Event]) -> list[Any]:
        return [
            decode(message.data, message.subject, message.headers).data
            for message in self.harness.log.messages
            if message.subject.endswith(f".{kind.__name__}")
        ]

    async def status(self) -> tuple[str, str | None]:
        async with client(self.harness.app()) as api:
            (document,) = (await api.post("/documents/paginated", json={})).json()["documents"]
            return document["status"], document["error_msg"]

    async def retry(self, **fields: Any) -> int | None:
        request = RetryRequested(document_id="doc", **fields)
        return await request_retry(self.harness.log, workspace="w", retry=request, source="test")


TEXT = "Ada Smith met Bob Stone.|Carl Poole met Dora Finch.|Emma Hale met Finn Rowe."


async def test_one_failed_chunk_heals_and_its_siblings_are_left_alone() -> None:
    harness = Harness()
    harness.extractor.errors["Carl"] = Poison("the model refused")
    await harness.add(TEXT)
    await harness.settle()
    assert await harness.status() == ("partial", "extractor: the model refused")
    harness.extractor.errors.clear()
    harness.extractor.asked.clear()
    async with client(harness.harness.app()) as api:
        answer = (await api.post("/documents/reprocess_failed")).json()
        assert answer["message"] == "1 documents are tried again."
        await harness.worker("query-status").step()
        assert await harness.status() == ("processing", None)
        await harness.settle()
        assert await harness.status() == ("processed", None)
        assert (
            (await api.post("/documents/reprocess_failed"))
            .json()["message"]
            .startswith("0 documents")
        )
    assert harness.extractor.asked == ["Carl Poole met Dora Finch."]
    assert [event.chunk.order for event in harness.events(EntitiesExtracted)] == [0, 2, 1]
    assert len(harness.events(ChunksCreated)) == 1


async def test_what_fails_again_has_failed_again_and_can_be_retried_once_more() -> None:
    harness = Harness()
    harness.extractor.errors |= {"Carl": Poison("no"), "Emma": Poison("no")}
    await harness.add(TEXT)
    await harness.settle()
    del harness.extractor.errors["Emma"]
    harness.extractor.asked.clear()
    assert await harness.retry()
    await harness.settle()
    assert await harness.status() == ("partial", "extractor: no")
    assert [event.chunks[0].order for event in harness.events(StageFailed)] == [1, 2, 1]
    harness.extractor.errors.clear()
    assert await harness.retry(chunk_id="doc-chunk-001", stage="extractor")
    await harness.settle()
    assert await harness.status() == ("processed", None)
    assert [text[:4] for text in harness.extractor.asked] == ["Carl", "Emma", "Carl"]


async def test_a_retry_waits_for_a_provider_that_is_away() -> None:
    harness = Harness()
    harness.extractor.errors["Carl"] = Poison("no")
    await harness.add(TEXT)
    await harness.settle()
    harness.extractor.errors["Carl"] = Unavailable("the provider is away")
    assert await harness.retry()
    for _ in range(3):
        await harness.worker("query-status").step()
        await harness.worker("extractor").step()
    assert await harness.status() == ("processing", None)
    assert len(harness.events(StageFailed)) == 1
    harness.extractor.errors.clear()
    await harness.settle()
    assert await harness.status() == ("processed", None)


async def test_nothing_is_requested_where_nothing_failed() -> None:
    harness = Harness()
    harness.extractor.errors["Carl"] = Poison("no")
    await harness.add(TEXT)
    await harness.settle()
    log = harness.harness.log
    count = len(log.messages)
    assert await plan_retries(log, Retries("w", ["doc", "other"])) == RetryOutcome(
        ["doc"], ["other"]
    )
    assert len(log.messages) == count
    first = await harness.retry()
    log.ids.clear()
    assert await harness.retry() == first
    harness.extractor.errors.clear()
    await harness.harness.log.publish(sealed(added("doc", "Gil Moore met Hal Nash."), id="anew"))
    await harness.settle()
    assert await harness.retry() is None
    assert await harness.status() == ("processed", None)


async def test_another_stage_has_nothing_to_do() -> None:
    harness = Harness()
    harness.extractor.errors["Carl"] = Poison("no")
    await harness.add(TEXT)
    await harness.settle()
    harness.extractor.asked.clear()
    assert await harness.retry(stage="indexer")
    await harness.settle()
    assert harness.extractor.asked == []
    assert await harness.status() == ("partial", "extractor: no")
