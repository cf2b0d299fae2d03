"""Every message that is fetched is handled, at once: alone when it comes alone, in full batches
when many wait.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import pytest
from faststream.nats import NatsBroker
from nats.js import JetStreamContext
from nats.js.errors import ServiceUnavailableError

from contracts.topology import Consumer, declared_consumer
from runtime.bus.nats.pulling import CONNECTION_SECONDS, opened_pull
from runtime.bus.port import Message
from runtime.subscriptions import BATCHES_AT_ONCE, FETCH_SECONDS, pull
from runtime.workarounds.faststream import fetch_by_one_request
from tests.support.nats_server import BusServer, RunningNats, connected, until

SUBJECT = "kb.v1.a.b.EntitiesExtracted"
NEXT = "$JS.API.CONSUMER.MSG.NEXT.KB_EVENTS.merger"
ALONE = int(BATCHES_AT_ONCE) - 2
"""Messages one after another, of which none waits for company."""
LATE = 3.0
"""Seconds; a message that was fetched and lost comes again only after `ack_wait`, which is
longer.
"""


class Recorder:
    """Stands where the event processor stands: acknowledges, and remembers the batches."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.running = self.most_running = 0
        self.open = asyncio.Event()
        self.open.set()

    async def process(self, messages: Sequence[Message]) -> None:
        self.batches.append([message.sequence for message in messages])
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await self.open.wait()
        for message in messages:
            await message.ack()
        self.running -= 1

    @property
    def seen(self) -> list[int]:
        return [sequence for batch in self.batches for sequence in batch]


@asynccontextmanager
async def consuming(
    server: BusServer, recorder: Recorder, durable: str, workers: int = 1
) -> AsyncGenerator[Consumer]:
    consumer = declared_consumer(durable)
    broker = NatsBroker(
        server.url, apply_types=False, logger=None, graceful_timeout=LATE, max_reconnect_attempts=-1
    )
    pull(broker, consumer, recorder.process, workers=workers)
    await broker.connect()
    fetch_by_one_request(broker.config.connection_state.stream)
    await broker.start()
    try:
        yield consumer
    finally:
        await broker.stop()


async def fill(jetstream: JetStreamContext, count: int, subject: str = SUBJECT) -> None:
    await asyncio.gather(*(jetstream.publish(subject, b"x") for _ in range(count)))


async def test_a_lone_message_is_handled_alone_and_an_idle_consumer_asks_seldom(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    recorder = Recorder()
    fetches = list[str]()

    async def note(message: object) -> None:
        fetches.append("fetch")

    async with connected(server) as watcher:
        await watcher.subscribe(NEXT, cb=note)
        await watcher.flush()
        since = asyncio.get_running_loop().time()
        async with consuming(server, recorder, "merger"):
            for number in range(ALONE):
                await jetstream.publish(SUBJECT, b"x")

                async def handled(count: int = number + 1) -> bool:
                    return len(recorder.seen) == count

                await until(handled, "a message that came alone", seconds=LATE)
        assert [len(batch) for batch in recorder.batches] == [1] * ALONE
        # One request for each message, the one that waits for the next, and one whenever a fetch
        # has ended without any.
        idle = (asyncio.get_running_loop().time() - since) / FETCH_SECONDS
        assert ALONE < len(fetches) <= ALONE + 1 + idle


async def test_what_comes_without_end_comes_in_fewer_and_larger_batches(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    recorder = Recorder()
    count = 0
    async with consuming(server, recorder, "merger") as consumer:
        clock = asyncio.get_running_loop().time
        since = clock()
        while len(recorder.batches) < BATCHES_AT_ONCE + 4:
            await jetstream.publish(SUBJECT, b"x")
            count += 1
        limit = BATCHES_AT_ONCE + 1 + consumer.batches_per_second * (clock() - since)

        async def handled() -> bool:
            return len(recorder.seen) == count

        assert (
            sum(len(batch) < consumer.batch for batch in recorder.batches) <= limit
        )  # full ones wait for nothing
        await until(handled, "the last ones", seconds=LATE)
    assert recorder.seen == sorted(recorder.seen)
    assert max(map(len, recorder.batches)) > 1


async def test_no_request_outlives_its_fetch(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    fetches = list[str]()

    async def note(message: object) -> None:
        fetches.append("fetch")

    async with connected(server) as watcher:
        await watcher.subscribe(NEXT, cb=note)
        await watcher.flush()
        async with opened_pull(jetstream, "KB_EVENTS", "merger") as pull:
            for number in range(1, 6):
                assert await pull.fetch(9, 0.05) == []
                assert (await jetstream.consumer_info("KB_EVENTS", "merger")).num_waiting == 0
                await fill(jetstream, 3)
                assert len(await pull.fetch(2, 5.0)) == 2
                assert len(await pull.fetch(9, 5.0)) == 1
                assert (await jetstream.consumer_info("KB_EVENTS", "merger")).num_waiting == 0
                await watcher.flush()
                assert len(fetches) == 3 * number


async def test_the_clients_own_fetch_ends_with_a_bare_timeout(jetstream: JetStreamContext) -> None:
    """On the pinned library, so that an upgrade that mends it is noticed: FastStream takes such a
    timeout for the failure of a loop. It comes to some of the fetches that bring nothing.
    """
    subscriptions = [
        await jetstream.pull_subscribe_bind("merger", stream="KB_EVENTS") for _ in range(20)
    ]
    kinds = set[type[BaseException]]()
    for _ in range(30):
        fetches = (subscription.fetch(9, timeout=0.3) for subscription in subscriptions)
        results = await asyncio.gather(*fetches, return_exceptions=True)
        kinds |= {type(result) for result in results if isinstance(result, BaseException)}
        if TimeoutError in kinds:
            break
    assert TimeoutError in kinds
    assert all(issubclass(kind, TimeoutError) for kind in kinds)


async def test_a_message_that_comes_when_its_fetch_has_ended_is_given_by_the_next(
    jetstream: JetStreamContext,
) -> None:
    async with opened_pull(jetstream, "KB_EVENTS", "merger") as pull:
        await pull.ask(3, 5.0)
        await fill(jetstream, 1)
        assert len(await pull.answer(0.2)) == 1  # it waits for all three, which do not come in time
        await fill(jetstream, 2)

        async def delivered() -> bool:
            info = await jetstream.consumer_info("KB_EVENTS", "merger")
            return info.num_ack_pending == 3

        await until(delivered, "the server sent the other two")
        assert [len(await pull.fetch(1, 0.05)) for _ in range(3)] == [1, 1, 0]


async def test_a_request_that_is_refused_is_an_error_and_a_loop_goes_on(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    async with connected(server) as client:
        context = client.jetstream()
        fetch_by_one_request(context)
        loop = await context.pull_subscribe(SUBJECT, durable="merger", stream="KB_EVENTS")
        async with opened_pull(jetstream, "KB_EVENTS", "merger") as pull:
            await jetstream.delete_consumer("KB_EVENTS", "merger")
            with pytest.raises(ServiceUnavailableError):
                await pull.fetch(9, 5.0)
        assert await loop.fetch(9, timeout=5.0) == []
        await loop.unsubscribe()


async def test_what_waits_comes_in_full_batches_and_nothing_waits_for_its_redelivery(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    recorder = Recorder()
    count = 5 * declared_consumer("merger").batch + 3
    await fill(jetstream, count)
    async with consuming(server, recorder, "merger") as consumer:
        assert consumer.ack_wait > LATE

        async def handled() -> bool:
            return len(recorder.seen) == count

        await until(handled, "everything", seconds=LATE)
        assert [len(batch) for batch in recorder.batches] == [consumer.batch] * 5 + [3]


async def test_as_many_messages_are_taken_as_there_are_workers_and_no_more(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    recorder = Recorder()
    recorder.open.clear()
    await fill(jetstream, 20, "kb.v1.a.b.ChunksCreated")
    async with consuming(server, recorder, "extractor", workers=8):

        async def busy() -> bool:
            return recorder.running == 8

        await until(busy, "eight messages side by side", seconds=LATE)
        info = await jetstream.consumer_info("KB_EVENTS", "extractor")
        assert info.num_ack_pending == 8, "nothing is fetched ahead"
        recorder.open.set()

        async def handled() -> bool:
            return len(recorder.seen) == 20

        await until(handled, "the others", seconds=LATE)
    assert recorder.most_running == 8
    assert sorted(recorder.seen) == sorted(set(recorder.seen))


@pytest.mark.own_nats
async def test_after_a_restart_of_the_server_deliveries_go_on_with_the_next_fetch(
    server: RunningNats, jetstream: JetStreamContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.subscriptions.FETCH_SECONDS", 600.0)
    recorder = Recorder()
    async with consuming(server, recorder, "merger"):
        await jetstream.publish(SUBJECT, b"x")

        async def first() -> bool:
            return len(recorder.seen) == 1

        await until(first, "the first message")
        await server.kill()
        await server.restart()
        async with connected(server) as other_client:
            await other_client.jetstream().publish(SUBJECT, b"x")

        async def second() -> bool:
            return len(set(recorder.seen)) == 2

        # A fetch that the server has forgotten is not waited for.
        await until(second, "the message after the restart", seconds=CONNECTION_SECONDS + LATE)


async def test_a_consumer_that_ends_finishes_what_it_works_on(
    server: BusServer, jetstream: JetStreamContext
) -> None:
    recorder = Recorder()
    recorder.open.clear()
    await fill(jetstream, 3)
    async with connected(server) as client:
        async with consuming(server, recorder, "merger"):

            async def busy() -> bool:
                return recorder.running == 1

            await until(busy, "a batch at work")
            asyncio.get_running_loop().call_soon(recorder.open.set)
        await client.flush()
        info = await jetstream.consumer_info("KB_EVENTS", "merger")
        assert (info.num_pending, info.num_ack_pending, recorder.running) == (0, 0, 0)
