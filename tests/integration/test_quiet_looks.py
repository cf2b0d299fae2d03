"""What a service asks the bus at each look while nothing happens, and that it asks again once
something does.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from nats.aio.msg import Msg
from nats.js import JetStreamContext

from contracts.partitions import LOG
from contracts.topology import CHECKPOINTS_BUCKET
from runtime.bus import topology
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.write_status import WriteStatus
from runtime.projections.integrity import Integrity
from runtime.projections.verdicts import Verdict, write_verdict
from runtime.stores.documents.checkpoints import RowCheckpoints
from runtime.stores.documents.sqlite.store import SqliteRows
from tests.support.nats_server import BusServer, connected, until
from tests.support.trial_service import document

DURABLE = "query-status"


@asynccontextmanager
async def counted_requests(
    server: BusServer, jetstream: JetStreamContext
) -> AsyncGenerator[Counter[str]]:
    """Count the requests to JetStream, by their subject without `$JS.API.`.

    They are counted from when one of that client, for `INFO`, was heard: beside many other tests
    the server once told the watcher nothing of the first, although it had answered the watcher's
    flush.
    """
    requests = Counter[str]()
    is_heard = asyncio.Event()

    async def heard() -> bool:
        await jetstream.account_info()
        await watcher.flush()
        return is_heard.is_set()

    async def count(message: Msg) -> None:
        if message.subject == "$JS.API.INFO":
            is_heard.set()
        else:
            requests[message.subject.removeprefix("$JS.API.")] += 1

    async with connected(server) as watcher:
        await watcher.subscribe("$JS.API.>", cb=count)
        await watcher.flush()
        await until(heard, "a request of the client")
        yield requests
        await watcher.flush()


@pytest.fixture
async def integrity(server: BusServer, tmp_path: Path) -> AsyncGenerator[Integrity]:
    rows = SqliteRows(tmp_path / "rows.db")
    await rows.prepare()
    async with connected(server) as client:
        jetstream = client.jetstream()
        await topology.apply(jetstream)
        service = Integrity(
            "query",
            jetstream,
            await NatsLiveGenerations.bind(jetstream),
            await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET),
            WriteStatus(is_watched=True),
            mark_store=rows,
        )
        service.watch("status", {"documents": RowCheckpoints(rows, "status")}, (DURABLE,))
        yield service
    await rows.close()


async def test_a_look_at_a_quiet_log_is_three_questions(
    server: BusServer, integrity: Integrity
) -> None:
    for _ in range(2):
        await integrity.look()
    async with counted_requests(server, integrity.jetstream) as requests:
        await integrity.look()
        await integrity.jetstream.stream_info("KB_DEAD")
    assert requests == {
        f"STREAM.INFO.{LOG}": 1,
        f"STREAM.INFO.KV_{CHECKPOINTS_BUCKET}": 1,
        "STREAM.MSG.GET.KV_KB_GENERATIONS": 1,
        "STREAM.INFO.KB_DEAD": 1,
    }


async def test_a_durable_with_something_to_do_is_asked_again(
    server: BusServer, integrity: Integrity
) -> None:
    for _ in range(2):
        await integrity.look()
    await NatsLog(integrity.jetstream, integrity.writes).publish(document("new"))
    async with counted_requests(server, integrity.jetstream) as requests:
        for _ in range(2):
            await integrity.look()
    assert requests[f"CONSUMER.INFO.{LOG}.{DURABLE}"] == 2


async def test_what_another_service_found_is_read_at_the_next_look(
    server: BusServer, integrity: Integrity
) -> None:
    for _ in range(2):
        await integrity.look()
    await write_verdict(integrity.values, "merger", Verdict("it ends too early"))
    await integrity.look()
    assert "it ends too early" in integrity.writes.refusal
