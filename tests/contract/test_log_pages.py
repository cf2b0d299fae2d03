"""Pages of the log on a real server: the next one comes while the caller works on one, and none is
lost.
"""

from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from contracts.partitions import LOG
from runtime.bus.nats.messages import place_of
from runtime.errors import Unavailable
from tests.support.buses import nats_bus, numbered
from tests.support.nats_server import connected, running_nats, until


async def reader_of(jetstream: JetStreamContext) -> str:
    """The name of the consumer that reads the log."""
    (name,) = [
        info.name for info in await jetstream.consumers_info(LOG) if info.name.startswith("read-")
    ]
    return name


async def test_the_next_page_comes_while_one_is_worked_on_and_no_other(tmp_path: Path) -> None:
    async with running_nats(tmp_path) as server, connected(server) as client:
        bus = await nats_bus(client.jetstream())
        for number in range(9):
            await bus.log.publish(numbered(number))
        async with aclosing(bus.log.read(page=2)) as pages:
            sequences = [message.sequence for message in await anext(pages)]
            name = await reader_of(bus.jetstream)

            async def delivered() -> int:
                info = await bus.jetstream.consumer_info(LOG, name)
                return info.delivered.stream_seq if info.delivered else 0

            async def two_pages_came() -> bool:
                return await delivered() == 4

            await until(two_pages_came, "the page behind the first")
            async for page in pages:
                assert len(page) <= 2
                sequences += [message.sequence for message in page]
        assert sequences == list(range(1, 10))
        assert not [
            info
            for info in await bus.jetstream.consumers_info(LOG)
            if info.name.startswith("read-")
        ]


async def test_a_reader_that_the_server_has_lost_is_an_outage_and_reading_goes_on_behind_what_came(
    tmp_path: Path,
) -> None:
    async with running_nats(tmp_path) as server, connected(server) as client:
        bus = await nats_bus(client.jetstream())
        for number in range(9):
            await bus.log.publish(numbered(number))
        sequences = list[int]()
        with pytest.raises(Unavailable):
            async with aclosing(bus.log.read(page=2)) as pages:
                async for page in pages:
                    sequences += [message.sequence for message in page]
                    if len(sequences) == 2:
                        await bus.jetstream.delete_consumer(LOG, await reader_of(bus.jetstream))
        assert sequences == list(range(1, len(sequences) + 1))
        assert len(sequences) < 9
        async for page in bus.log.read(sequences[-1], page=2):
            sequences += [message.sequence for message in page]
        assert sequences == list(range(1, 10))


@pytest.mark.parametrize(
    "reply", ["$JS.ACK.LOG.reader", "$JS.ACK._.hash.LOG.reader", "$JS.ACK.hub.hash.LOG.reader"]
)
def test_the_place_of_a_delivery_is_told_to_the_microsecond(reply: str) -> None:
    delivery_time = datetime(2026, 11, 23, 12, 0, 0, 123457, UTC)
    nanoseconds = int(delivery_time.timestamp()) * 10**9 + 123_457_999
    place = place_of(f"{reply}.2.41.7.{nanoseconds}.500")
    assert (place.attempt, place.sequence, place.pending) == (2, 41, 500)
    assert place.delivered_count == nanoseconds // 1000


@pytest.mark.parametrize("reply", ["", "_INBOX.a", "$JS.ACK.LOG.reader.1.x.3.4.5"])
def test_what_acknowledges_no_delivery_has_no_place(reply: str) -> None:
    with pytest.raises(ValueError, match="acknowledges no delivery"):
        place_of(reply)
