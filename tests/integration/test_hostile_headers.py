"""Headers that no client of ours writes end no reading of the log: what they stand before is
handled like any event.
"""

import asyncio
from pathlib import Path

import pytest
from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig

from contracts import subjects
from runtime.bus.codec import encode
from runtime.bus.nats.connection import connected
from runtime.bus.nats.copies import read_records
from runtime.bus.nats.log import NatsLog
from tests.support.nats_server import RunningNats
from tests.support.trial_log import until_acknowledged, until_answered
from tests.support.trial_service import document, trial_service

pytestmark = pytest.mark.own_nats

BLOCKS = {
    "short": b"X\r\n",
    "bare": b"NATS/1.0",
    "no-utf-8": b"garbage: \xff\xff\xff",
    "looks-like-a-status": b"garbage: 404\r\n\r\n",
    "status": b"NATS/1.0 404\r\n\r\n",
    "named-status": b"NATS/1.0\r\nStatus: 404\r\n\r\n",
    "another-status": b"NATS/1.0\r\nStatus: 500\r\nDescription: no\r\n\r\n",
    "heartbeat": b"NATS/1.0\r\nStatus: 100\r\nDescription: Idle Heartbeat\r\n\r\n",
    "of-the-server": (
        b"NATS/1.0\r\nNats-Sequence: 7\r\nNats-Subject: kb.v1.a.b.C\r\nNats-Time-Stamp: x\r\n\r\n"
    ),
}


async def publish(server: RunningNats, name: str, block: bytes) -> None:
    """Put a good event behind this block of headers, as the protocol allows to whoever may publish
    it at all.
    """
    event = document(name)
    subject = subjects.subject("trial", name, "DocumentAdded")
    data = encode(event)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    head = f"HPUB {subject} {len(block)} {len(block) + len(data)}\r\n".encode()
    writer.write(
        b'CONNECT {"verbose":false,"headers":true}\r\n' + head + block + data + b"\r\nPING\r\n"
    )
    while b"PONG" not in (line := await reader.readline()):
        assert line.startswith(b"INFO"), line
    writer.close()


@pytest.mark.parametrize("name", ["short", "bare", "no-utf-8"])
async def test_the_client_alone_reads_nothing_any_more_after_one(
    server: RunningNats, jetstream: JetStreamContext, name: str
) -> None:
    """On the pinned library, so that an upgrade that mends it is noticed."""
    await publish(server, name, BLOCKS[name])
    await jetstream.add_consumer("KB_EVENTS", ConsumerConfig(durable_name="reader"))
    reader = await jetstream.pull_subscribe_bind(durable="reader", stream="KB_EVENTS")
    with pytest.raises(NatsTimeout):
        await reader.fetch(1, timeout=1)
    with pytest.raises(NatsTimeout):
        await jetstream.account_info()


async def test_a_service_handles_what_stands_behind_any_headers(
    server: RunningNats, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    async with trial_service(server.url, tmp_path) as service:
        for name, block in BLOCKS.items():
            await publish(server, name, block)
        await NatsLog(jetstream).publish(document("last"))
        for name in [*BLOCKS, "last"]:
            await until_answered(jetstream, name)
        await until_acknowledged(jetstream, "chunker")
        assert "encountered error" not in service.tail(500)


async def test_the_log_is_read_whole_with_any_headers_in_it(
    server: RunningNats, jetstream: JetStreamContext
) -> None:
    for name, block in BLOCKS.items():
        await publish(server, name, block)
    async with connected(server.url, name="test") as client:
        bus = client.jetstream()
        records = [record async for page in read_records(bus, "KB_EVENTS") for record in page]
        assert [record.subject.split(".")[3] for record in records] == list(BLOCKS)
        assert not any("Status" in record.headers for record in records)
        for place, name in enumerate(BLOCKS, 1):
            for exact in (True, False):
                message = await NatsLog(bus).newest("trial", name, "DocumentAdded", exact=exact)
                assert message and message.sequence == place
