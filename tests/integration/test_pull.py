"""Every message that is fetched is handled, at once: alone when it comes alone, in full batches when many wait."""

import asyncio
import time
from collections.abc import Sequence

from faststream import AckPolicy
from faststream.nats import JStream, NatsBroker, PullSub

from contracts.topology import declared_consumer
from runtime.bus import topology
from runtime.bus.port import Message
from runtime.subscriptions import BATCH_WINDOW, _gather_fetch
from tests.support.nats_server import Reachable

SUBJECT = "kb.v1.a.b.EntitiesExtracted"
LATE = 3.0
"""Seconds; a message that was fetched and lost comes again only after `ack_wait`, which is longer."""


class Recorder:
    """Stands where the event processor stands: acknowledges, and remembers when and with how many others."""

    def __init__(self) -> None:
        self.seen: dict[int, float] = {}
        self.sizes: list[int] = []

    async def process(self, messages: Sequence[Message]) -> None:
        self.sizes.append(len(messages))
        for message in messages:
            self.seen[message.sequence] = time.monotonic()
            await message.ack()


async def test_no_fetched_message_waits_for_its_redelivery(server: Reachable) -> None:
    declared = declared_consumer("merger")
    assert declared.ack_wait > LATE
    recorder = Recorder()
    broker = NatsBroker(server.url, apply_types=False, logger=None)
    jetstream = (await broker.connect()).jetstream()
    await topology.apply(jetstream)

    async def raw(message: object) -> object:
        return message.raw_message  # type: ignore[attr-defined]

    broker.subscriber(
        declared.filters[0], stream=JStream("KB_EVENTS", declare=False), durable=declared.name,
        pull_sub=PullSub(declared.batch, BATCH_WINDOW), ack_policy=AckPolicy.MANUAL, decoder=raw,
    )(_gather_fetch(recorder))  # type: ignore[arg-type]  # fmt: skip
    await broker.start()
    try:
        sent: dict[int, float] = {}
        for _ in range(80):
            sent[(await jetstream.publish(SUBJECT, b"x")).seq] = time.monotonic()
            # Close to the window, so that some arrive just as a fetch comes to its end.
            await asyncio.sleep(BATCH_WINDOW * 0.26)
        async with asyncio.timeout(LATE):
            while len(recorder.seen) < len(sent):
                await asyncio.sleep(0.01)
        assert max(recorder.seen[sequence] - sent[sequence] for sequence in sent) < LATE

        recorder.sizes.clear()
        await asyncio.gather(*(jetstream.publish(SUBJECT, b"x") for _ in range(5 * declared.batch)))
        async with asyncio.timeout(30):
            while len(recorder.seen) < len(sent) + 5 * declared.batch:
                await asyncio.sleep(0.01)
        assert max(recorder.sizes) > declared.batch // 2
    finally:
        await broker.stop()
