"""One workspace's flood does not hold up another: real services on a real server."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import Event
from contracts.graph import Generations
from contracts.topology import TURNS_BUCKET, declared_consumer
from runtime.bus.fairness.scheduler import FairScheduler
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.lookahead import Lookahead
from runtime.bus.nats.messages import NatsMessage
from runtime.bus.port import Delivery
from runtime.bus.processor import EventProcessor, each
from runtime.errors import Unavailable
from tests.support.nats_server import BusServer, until
from tests.support.trial_service import document, trial_service

FLOOD = 600


async def publish(log: NatsLog, workspace: str, names: Sequence[str]) -> None:
    for start in range(0, len(names), 100):
        part = names[start : start + 100]
        await asyncio.gather(
            *(
                log.publish(document(name, id=f"{workspace}-{name}", workspace=workspace))
                for name in part
            )
        )


async def handled_count(log: NatsLog, workspace: str) -> int:
    """Documents of this workspace that the service has handled."""
    pages = [
        page async for page in log.read(0, [subjects.of_type_in(workspace, "DocumentDeleted")])
    ]
    return sum(map(len, pages))


async def test_a_document_of_a_quiet_workspace_overtakes_the_flood_of_another(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    log = NatsLog(jetstream)
    await publish(log, "flood", [f"brief-{number}" for number in range(FLOOD)])
    await publish(log, "quiet", ["a", "b"])
    async with trial_service(server.url, tmp_path):

        async def quiet_is_done() -> bool:
            return await handled_count(log, "quiet") == 2

        await until(quiet_is_done, "the quiet workspace's documents")
        assert await handled_count(log, "flood") < FLOOD / 2, "they waited for the flood"

        await publish(log, "late", ["c"])

        async def late_is_done() -> bool:
            return await handled_count(log, "late") == 1

        await until(late_is_done, "a document that came while the flood was handled")
        assert await handled_count(log, "flood") < FLOOD * 0.9

        async def all_is_done() -> bool:
            info = await jetstream.consumer_info("KB_EVENTS", "chunker")
            return (info.num_pending, info.num_ack_pending) == (0, 0)

        await until(all_is_done, "the flood")
    assert (
        await handled_count(log, "flood"),
        await handled_count(log, "quiet"),
        await handled_count(log, "late"),
    ) == (
        FLOOD,
        2,
        1,
    )


class Recorder:
    """A handler that counts its deliveries, and refuses the first one of the documents `refuse`."""

    def __init__(self, refuse: set[str] | None = None) -> None:
        self.handled = Counter[str]()
        self.refuse = refuse or set()

    async def __call__(self, delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        name = delivery.event.document_id
        if name in self.refuse:
            self.refuse.discard(name)
            raise Unavailable("not yet")
        self.handled[name] += 1
        return []


def short_delay(*_: object) -> float:
    """Return a tenth of a second, whatever failed."""
    return 0.1


async def scheduler(jetstream: JetStreamContext, handler: Recorder) -> FairScheduler:
    """A scheduler on the chunker's consumer, as one replica has it."""
    consumer = declared_consumer("chunker")
    processor = EventProcessor(
        "chunker",
        consumer,
        each(handler),
        NatsLog(jetstream),
        await NatsLiveGenerations.bind(jetstream),
        delay=short_delay,
    )
    lookahead = Lookahead(jetstream, consumer.stream, consumer.filters)
    return FairScheduler(processor, lookahead, await NatsSharedValues.bind(jetstream, TURNS_BUCKET))


async def next_messages(jetstream: JetStreamContext, count: int) -> list[NatsMessage]:
    """The next messages that the chunker's consumer delivers."""
    reader = await jetstream.pull_subscribe_bind(consumer="chunker", stream="KB_EVENTS")
    messages: list[NatsMessage] = []
    while len(messages) < count:
        raw_messages = await reader.fetch(count - len(messages), timeout=5)
        messages += [NatsMessage(raw) for raw in raw_messages]
    await reader.unsubscribe()
    return messages


async def test_replicas_do_not_take_the_same_turn_and_its_messages_are_not_handled_again(
    jetstream: JetStreamContext,
) -> None:
    log = NatsLog(jetstream)
    await publish(log, "flood", [f"flood-{number}" for number in range(100)])
    await publish(log, "quiet", [f"quiet-{number}" for number in range(40)])
    handlers = [Recorder(), Recorder(refuse={"quiet-7"})]
    schedulers = [await scheduler(jetstream, handler) for handler in handlers]
    for replica in schedulers:
        await replica.process(await next_messages(jetstream, 1))
    tasks = [asyncio.create_task(replica.run()) for replica in schedulers]

    def handled() -> Counter[str]:
        return handlers[0].handled + handlers[1].handled

    async def all_taken() -> bool:
        return len(handled()) == 42

    await until(all_taken, "every document of the quiet workspace")
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert set(handled().values()) == {1}
    assert all(handler.handled for handler in handlers), "both replicas took turns"

    names = set(handlers[0].handled)
    await schedulers[0].process(await next_messages(jetstream, 138))
    assert {name for name in handled() if name.startswith("flood-")} == {
        f"flood-{number}" for number in range(100)
    }
    assert {handlers[0].handled[name] for name in names} == {1}, (
        "what was taken ahead is only acknowledged"
    )


async def test_a_workspace_behind_one_long_batch_does_not_wait_for_its_end(
    jetstream: JetStreamContext,
) -> None:
    log = NatsLog(jetstream)
    release = asyncio.Event()

    class Long(Recorder):
        async def __call__(
            self, delivery: Delivery[Any], generations: Generations
        ) -> Sequence[Event]:
            if delivery.workspace == "busy":
                await release.wait()
            return await super().__call__(delivery, generations)

    handler = Long()
    replica = await scheduler(jetstream, handler)
    await publish(log, "busy", ["long"])
    turns = asyncio.create_task(replica.run())
    ordinary = asyncio.create_task(replica.process(await next_messages(jetstream, 1)))
    await publish(log, "busy", ["later"])
    await publish(log, "quiet", ["a"])

    async def quiet_is_done() -> bool:
        return handler.handled["a"] == 1

    await until(quiet_is_done, "the document behind the long one")
    assert set(handler.handled) == {"a"}, "who has its turn in ordinary delivery has no second one"
    release.set()
    await ordinary
    await replica.process(await next_messages(jetstream, 2))
    turns.cancel()
    await asyncio.gather(turns, return_exceptions=True)
    assert handler.handled == {"long": 1, "later": 1, "a": 1}


LARGE_PART = "Port Elm is large. " * 2500
"""Of a document that four of these make a large one."""


async def publish_parts(log: NatsLog, name: str, parts: range) -> None:
    """Publish so many events about one document, which is large from the fourth on."""
    for number in parts:
        await log.publish(document(name, id=f"{name}-{number}", workspace="busy", text=LARGE_PART))


async def test_a_small_document_behind_a_large_one_of_its_workspace_does_not_wait_for_its_end(
    jetstream: JetStreamContext,
) -> None:
    log = NatsLog(jetstream)
    release = asyncio.Event()

    class Long(Recorder):
        async def __call__(
            self, delivery: Delivery[Any], generations: Generations
        ) -> Sequence[Event]:
            if delivery.event.document_id == "book":
                await release.wait()
            return await super().__call__(delivery, generations)

    handler = Long()
    replica = await scheduler(jetstream, handler)
    await publish_parts(log, "book", range(4))
    turns = asyncio.create_task(replica.run())
    ordinary = asyncio.create_task(replica.process(await next_messages(jetstream, 4)))
    await publish_parts(log, "book", range(4, 6))
    await publish(log, "busy", ["note"])

    async def note_is_done() -> bool:
        return handler.handled["note"] == 1

    await until(note_is_done, "the small document behind the large one")
    assert set(handler.handled) == {"note"}, "the rest of the large document has no turn of its own"
    release.set()
    await ordinary
    await replica.process(await next_messages(jetstream, 3))
    turns.cancel()
    await asyncio.gather(turns, return_exceptions=True)
    assert handler.handled == {"book": 6, "note": 1}


async def test_of_one_batch_the_small_documents_are_done_before_the_large_one(
    jetstream: JetStreamContext,
) -> None:
    log = NatsLog(jetstream)
    acknowledged: list[int] = []

    class InOrder(Recorder):
        async def __call__(
            self, delivery: Delivery[Any], generations: Generations
        ) -> Sequence[Event]:
            if delivery.event.document_id == "book":
                info = await jetstream.consumer_info("KB_EVENTS", "chunker")
                acknowledged.append(6 - (info.num_ack_pending or 0))
            return await super().__call__(delivery, generations)

    handler = InOrder()
    replica = await scheduler(jetstream, handler)
    await publish_parts(log, "book", range(4))
    await publish(log, "busy", ["note", "letter"])
    await replica.process(await next_messages(jetstream, 6))
    assert handler.handled == {"book": 4, "note": 1, "letter": 1}
    assert acknowledged[0] == 2, "both were acknowledged when the large one began"
