"""A handler that does not get on is told, with what it is at; one that waits for a model is not."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from nats.js import JetStreamContext

from contracts.events import Event
from contracts.graph import Generations
from embedded.stack import check_ready
from offline.embeddings.lexical import LexicalEmbedder
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import Delivery
from runtime.bus.processor import each
from runtime.concurrency.key_locks import KeyLocks
from runtime.errors import Unavailable
from runtime.models.limits import Limits
from runtime.models.port import Message
from runtime.models.rate_limiter import RateLimiter
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.memory import MemoryRows
from tests.support.events import added, chunked, document, sealed
from tests.support.nats_server import BusServer, until
from tests.support.openai_provider import serving
from tests.support.processors import ProcessorBench, bench
from tests.support.services import page
from tests.support.trial_service import document as trial_document
from tests.support.trial_service import trial_service

LIMIT = 1.0
"""Seconds without progress that count as a stall in this process."""
LONG = 1.5 * LIMIT


async def test_a_service_whose_handler_is_stuck_is_not_ready_and_says_what_it_is_at(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    (tmp_path / "hold").touch()
    async with trial_service(server.url, tmp_path, TRIAL_STALLED="1") as service:
        for name in ("first", "second"):
            await NatsLog(jetstream).publish(trial_document(name))

        async def stuck() -> bool:
            return (await page(service, "ready"))[0] == 503

        await until(stuck, "a page that says that the handler is stuck")
        problems = (await page(service, "ready"))[1]["problems"]
        assert (
            "1 messages, the first of them DocumentAdded of 'first' in workspace 'trial', number 1"
            in str(problems)
        )
        # What the doctor tells of each service.
        with pytest.raises(
            Unavailable, match=r"chunker: its handler has not moved for .* since 20.*'first'"
        ):
            await check_ready("chunker", int(service.env["PORT"]))
        (tmp_path / "hold").unlink()
        await service.ready()


class WatchedProcessor:
    """An event processor with one message, whose handler does this; and whether it ever seemed
    stuck.
    """

    def __init__(self, work: Callable[[], Awaitable[Any]]) -> None:
        async def handle(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
            await work()
            return []

        self.bench = bench(each(handle))
        self.bench.append(sealed(added("stuck")))

    async def said(self, table: ProcessorBench | None = None) -> list[str]:
        """What was told while the message was handled."""
        table = table or self.bench
        reports = list[str]()
        task = asyncio.create_task(table.deliver())
        while not task.done():
            await asyncio.wait([task], timeout=0.02)
            reports += filter(None, [table.processor.activity.stalled(LIMIT)])
        assert table.unacknowledged == [] and table.log.dead == {}
        assert table.processor.activity.stalled(0.0) is None, "nothing is left of it"
        return reports


async def test_going_round_in_circles_in_a_store_is_no_progress() -> None:
    rows = MemoryRows()

    async def circles() -> None:
        end = asyncio.get_running_loop().time() + LONG
        while asyncio.get_running_loop().time() < end:
            await rows.ping()
            await asyncio.sleep(0.01)

    reports = await WatchedProcessor(circles).said()
    assert "DocumentAdded of 'stuck'" in reports[0]


async def test_a_document_is_not_named_where_everybody_may_read() -> None:
    processor = WatchedProcessor(lambda: asyncio.sleep(LONG))
    task = asyncio.create_task(processor.bench.deliver())
    await asyncio.sleep(1.2 * LIMIT)
    report = processor.bench.processor.activity.stalled(LIMIT, public=True)
    assert report and "number 1" in report and "stuck" not in report and "'w'" not in report
    await task


async def test_a_model_that_takes_its_time_and_a_turn_that_is_waited_for_are_no_stall() -> None:
    async with serving() as provider:
        guard = RateLimiter("slow", Limits(calls=1))
        chat = provider.chat("hang", limiter=guard)

        async def two_calls() -> None:
            await asyncio.gather(*(chat.complete([Message("user", "?")]) for _ in range(2)))

        assert await WatchedProcessor(two_calls).said() == []
        await chat.close()
    assert len(provider.requests) == 2


async def test_a_handler_that_is_stuck_after_its_model_has_answered_is_told() -> None:
    async with serving() as provider:
        chat = provider.chat("slow")

        async def call_and_hang() -> None:
            await chat.complete([Message("user", "?")])
            await asyncio.sleep(LONG)

        assert await WatchedProcessor(call_and_hang).said()
        await chat.close()


async def test_waiting_for_the_work_of_another_batch_is_no_stall() -> None:
    locks = KeyLocks()

    async def wait() -> None:
        async with locks.hold(["a"]):
            pass

    async with locks.hold(["a"]):
        processor = WatchedProcessor(wait)
        task = asyncio.create_task(processor.said())
        await asyncio.sleep(LONG)
    assert await task == []


async def test_texts_that_are_embedded_and_events_that_are_published_are_progress() -> None:
    class SlowEmbedder(LexicalEmbedder):
        async def embed(self, texts: Sequence[str]) -> Any:
            await asyncio.sleep(LIMIT / 20)
            return await super().embed(texts)

    embeddings = CachedEmbeddings(MemoryRows(), SlowEmbedder())

    async def embed() -> None:
        for number in range(30):
            await embeddings.embed("w", [f"text {number}"])

    assert await WatchedProcessor(embed).said() == []

    async def pieces() -> AsyncGenerator[Event]:
        for part in range(30):
            await asyncio.sleep(LIMIT / 20)
            yield chunked(document(), "text", part=part, parts=30)

    async def handle(delivery: Delivery[Any], _: Generations) -> Any:
        return pieces()

    table = bench(each(handle))
    table.append(sealed(added()))
    assert await WatchedProcessor(embed).said(table) == []
