"""Under load a batch waits while more of the same comes: no longer than it may, and not at all when
nothing comes.
"""

import asyncio
from dataclasses import replace

from nats.js import JetStreamContext

from contracts.topology import declared_consumer
from runtime.subscriptions import QUIET_SECONDS, Arrivals

SUBJECT = "kb.v1.a.b.GraphMerged"
CONSUMER = replace(declared_consumer("indexer-graph"), batch=20)
REST = 30.0
"""Seconds: so long that a wait of this length is no accident."""


async def seconds_of(arrivals: Arrivals, seconds: float = 0.01) -> float:
    """How long the next batch is waited for."""
    clock = asyncio.get_running_loop().time
    began = clock()
    await arrivals.wait(seconds)
    return clock() - began


async def test_without_load_nothing_is_waited_for_and_the_bus_is_not_asked() -> None:
    closed = Arrivals(JetStreamContext(object()), CONSUMER, REST)  # pyright: ignore[reportArgumentType]
    assert await seconds_of(closed, 0.0) < REST / 2


async def test_a_batch_is_not_waited_for_when_nothing_comes(jetstream: JetStreamContext) -> None:
    arrivals = Arrivals(jetstream, CONSUMER, REST)
    assert await seconds_of(arrivals) < REST / 2
    await jetstream.publish(SUBJECT, b"x")
    assert QUIET_SECONDS * 0.9 < await seconds_of(arrivals) < REST / 2, "what is there may go"


async def test_a_full_batch_is_not_waited_for(jetstream: JetStreamContext) -> None:
    for _ in range(CONSUMER.batch):
        await jetstream.publish(SUBJECT, b"x")
    assert await seconds_of(Arrivals(jetstream, CONSUMER, REST)) < REST / 2


async def test_what_comes_without_end_is_waited_for_no_longer_than_it_may_be(
    jetstream: JetStreamContext,
) -> None:
    async def publish() -> None:
        while True:
            await jetstream.publish(SUBJECT, b"x")
            await asyncio.sleep(QUIET_SECONDS / 5)

    publishing = asyncio.create_task(publish())
    large = replace(CONSUMER, batch=1_000_000)
    waited = await seconds_of(Arrivals(jetstream, large, 2.0))
    publishing.cancel()
    assert 1.9 < waited < REST / 2
    info = await jetstream.consumer_info("KB_EVENTS", CONSUMER.name)
    assert (info.num_pending or 0) > 2, "they come as one batch"
