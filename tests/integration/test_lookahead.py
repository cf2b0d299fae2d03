"""Looking ahead goes on when the bus was away while a reader was to be made anew, and does not wait
for what is seldom there.
"""

import asyncio

import pytest
from nats.js import JetStreamContext

from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.lookahead import Lookahead
from runtime.errors import Unavailable
from tests.support.nats_server import RunningNats, connected
from tests.support.trial_service import document
from tests.support.waiting import PATIENCE

ADDED = "kb.v1.*.*.DocumentAdded"
RETRIES = "kb.v1.*.*.RetryRequested"


@pytest.mark.own_nats
async def test_a_reader_that_could_not_be_made_anew_is_made_when_the_bus_is_back(
    server: RunningNats, jetstream: JetStreamContext
) -> None:
    async with connected(server) as client:
        lookahead = Lookahead(client.jetstream(timeout=0.5), "KB_EVENTS", [ADDED])
        for name in ("first", "second"):
            await NatsLog(jetstream).publish(document(name))
        assert [sequence for sequence, *_ in await lookahead.headers(0)] == [1, 2]
        await server.kill()
        for place in (5, 6):  # ordinary delivery goes on: each look begins behind it
            with pytest.raises(Unavailable):
                await lookahead.headers(place)
        await server.restart()
        assert await lookahead.headers(7) == []
        await lookahead.close()


async def test_a_reader_that_the_server_has_forgotten_is_made_anew(
    jetstream: JetStreamContext,
) -> None:
    lookahead = Lookahead(jetstream, "KB_EVENTS", [ADDED])
    await NatsLog(jetstream).publish(document("first"))
    assert [sequence for sequence, *_ in await lookahead.headers(0)] == [1]
    (reader,) = [
        info
        for info in await jetstream.consumers_info("KB_EVENTS")
        if info.name.startswith("read-")
    ]
    await jetstream.delete_consumer("KB_EVENTS", reader.name)
    with pytest.raises(Unavailable):
        await lookahead.headers(0)
    await NatsLog(jetstream).publish(document("second"))
    assert [sequence for sequence, *_ in await lookahead.headers(0)] == [2]
    await lookahead.close()


@pytest.mark.parametrize("filters", [(ADDED, RETRIES), (RETRIES, ADDED)])
async def test_what_is_there_of_one_filter_does_not_wait_for_another_one(
    jetstream: JetStreamContext, filters: tuple[str, str]
) -> None:
    lookahead = Lookahead(jetstream, "KB_EVENTS", filters)
    for name in ("first", "second", "third"):
        await NatsLog(jetstream).publish(document(name))
    async with asyncio.timeout(PATIENCE):
        sequences = [
            sequence
            for _ in range(3)
            for sequence, *_ in await lookahead.headers(0, 1, wait=2 * PATIENCE)
        ]
    assert sequences == [1, 2, 3]
    await lookahead.close()
