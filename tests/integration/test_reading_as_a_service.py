"""A service that may only import JetStream's answers reads the log without losing what a publisher
would hide.
"""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from contracts import subjects
from contracts.topology import CHECKPOINTS_BUCKET
from operations.bus_accounts import IMPORTED_API
from runtime.bus import topology
from runtime.bus.nats import copies, reading
from runtime.bus.nats.connection import connected
from runtime.bus.nats.feed import NatsEventFeed
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.projections.log_archive import LogArchive, archived_records
from runtime.stores.documents.memory import MemoryRows
from tests.support.deployed_bus import deployed_bus
from tests.support.events import added, sealed
from tests.support.waiting import PATIENCE


async def test_the_query_service_may_read_the_log_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "PAGE", 4)
    monkeypatch.setattr(reading, "PAGE", 4)
    later = [f"later-{number}" for number in range(8)]
    async with deployed_bus(tmp_path / "bus") as bus:
        async with connected(bus.operator, name="test") as operator:
            jetstream = operator.jetstream()
            subject = subjects.of_document("archived", "gone")
            await topology.apply(jetstream)
            for name in ("gone", "kept"):
                await NatsLog(jetstream).publish(sealed(added(name), id=name, workspace="archived"))
            # Without headers and data: the account that reads takes it for the end of the server's
            # answer.
            await jetstream.publish(subjects.subject("archived", "empty", "DocumentAdded"), b"")
            for name in later:
                await NatsLog(jetstream).publish(sealed(added(name), id=name, workspace="archived"))
            # A hole: whether an erasure explains it is read, too.
            await jetstream.purge_stream("KB_EVENTS", subject=subject)
        async with connected(bus.url("query"), name="test") as client, asyncio.timeout(PATIENCE):
            own_stream = client.jetstream(prefix=IMPORTED_API, timeout=5)
            rows = MemoryRows()
            values = await NatsSharedValues.bind(own_stream, CHECKPOINTS_BUCKET)
            assert await LogArchive(own_stream, rows, values).extend(subjects.ALL)
            archived_subjects = [
                record.subject
                async for record in archived_records(rows)
                if ".archived." in record.subject
            ]
            expected_subjects = [
                subjects.subject("archived", name, "DocumentAdded")
                for name in ("kept", "empty", *later)
            ]
            assert archived_subjects == expected_subjects
            history = [
                message.subject
                async for message in NatsLog(own_stream).history("archived", None, "DocumentAdded")
            ]
            assert history == expected_subjects
            feed = NatsEventFeed(own_stream)
            all_subjects = subjects.of_workspace("archived")
            page, remaining = await feed.page(all_subjects, 0, 9)
            assert ([message.subject for message in page], remaining) == (expected_subjects[:9], 1)
            followed_subjects = list[str]()
            async with aclosing(feed.follow(all_subjects, 0, PATIENCE)) as pages:
                while len(followed_subjects) < len(expected_subjects):
                    followed_subjects += [message.subject for message in await anext(pages)]
            assert followed_subjects == expected_subjects
