"""A store that is lost right after its first documents, before any look at it, is noticed all the
same.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from contracts.events import DocumentAdded, Event
from contracts.graph import Generations, Partition
from contracts.topology import CHECKPOINTS_BUCKET, declared_consumer
from runtime.bus import topology
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.messages import NatsMessage
from runtime.bus.port import Delivery
from runtime.bus.processor import EventProcessor, each
from runtime.bus.write_status import WriteStatus
from runtime.errors import StoreBehind
from runtime.projections.checkpoints import WatchedProjection, advance, read_note, state_of
from runtime.projections.integrity import Integrity
from runtime.stores.documents.checkpoints import RowCheckpoints
from runtime.stores.documents.port import Table
from runtime.stores.documents.sqlite.store import SqliteRows
from runtime.stores.port import Checkpoint
from tests.support.nats_server import connected, running_nats, until
from tests.support.trial_service import document

DURABLE = "query-status"


Stores = tuple[SqliteRows, SqliteRows]
"""One that is used first, and an empty one that somebody puts in its place."""


@dataclass
class Life:
    """A service from its start to its end, with the first look that it takes. Nobody looks again
    unless told to.
    """

    jetstream: JetStreamContext
    integrity: Integrity
    processor: EventProcessor
    rows: SqliteRows

    @classmethod
    async def begin(cls, jetstream: JetStreamContext, rows: SqliteRows) -> "Life":
        pointers = await NatsLiveGenerations.bind(jetstream)
        values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
        integrity = Integrity(
            "query", jetstream, pointers, values, WriteStatus(is_watched=True), mark_store=rows
        )
        integrity.watch(
            "status", {"the document store": RowCheckpoints(rows, "status")}, (DURABLE,)
        )

        async def handle(
            delivery: Delivery[DocumentAdded], generations: Generations
        ) -> Sequence[Event]:
            there = Table("documents", Partition("w", generations.status))
            await rows.put(
                there,
                {delivery.event.document_id: {"version": delivery.sequence, "status": "processed"}},
            )
            return []

        noting = integrity.note_beginnings(DURABLE, each(handle))
        log = NatsLog(jetstream, integrity.writes)
        durable = declared_consumer(DURABLE)
        await integrity.look()
        return cls(
            jetstream,
            integrity,
            EventProcessor("query", durable, noting, log, pointers, _at_once),
            rows,
        )

    async def add(self, *names: str) -> None:
        """Publish documents, and handle what the durable has."""
        for name in names:
            await self.processor.log.publish(document(name))
        await self.handle()

    async def handle(self) -> None:
        """Handle a batch of what the durable has."""
        subscription = await self.jetstream.pull_subscribe_bind(DURABLE, stream="KB_EVENTS")
        with suppress(TimeoutError):  # the client lets those of asyncio through, too
            await self.processor.process(
                [NatsMessage(message) for message in await subscription.fetch(9, timeout=2)]
            )
        await subscription.unsubscribe()

    async def waiting(self) -> int:
        """How many events are not acknowledged."""
        info = await self.jetstream.consumer_info("KB_EVENTS", DURABLE)
        return (info.num_pending or 0) + (info.num_ack_pending or 0)

    async def done(self) -> bool:
        """Whether the bus has every acknowledgement, for which nobody waits."""
        return not await self.waiting()

    async def checkpoints(self, generation: int = 1) -> tuple[int | None, int | None]:
        """The sequences that the store and the bus have."""
        checkpoint = await RowCheckpoints(self.rows, "status").checkpoint(generation)
        note, _ = await read_note(self.integrity.values, "status", generation)
        return checkpoint and checkpoint.sequence, note and note.sequence


def _at_once(attempts: int, retry_after: float | None) -> float:
    return 0.0


@pytest.fixture
async def jetstream(tmp_path: Path) -> AsyncGenerator[JetStreamContext]:
    async with running_nats(tmp_path) as server, connected(server) as client:
        await topology.apply(client.jetstream())
        yield client.jetstream()


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncGenerator[Stores]:
    adapters = SqliteRows(tmp_path / "first.db"), SqliteRows(tmp_path / "second.db")
    for rows in adapters:
        await rows.prepare()
    yield adapters
    for rows in adapters:
        await rows.close()


async def test_a_store_lost_before_its_first_look_is_refused_until_a_rebuild(
    jetstream: JetStreamContext, stores: Stores
) -> None:
    first = await Life.begin(jetstream, stores[0])
    await first.add("a", "b")
    await until(first.done, "the documents are acknowledged")
    assert await first.checkpoints() == (0, 0), "no look has moved it yet"

    second = await Life.begin(jetstream, stores[1])
    for _ in range(2):
        with pytest.raises(
            StoreBehind,
            match=r"the document store lost what was in there.*lightstream rebuild status",
        ):
            second.integrity.require("status")
        await second.add("c")  # what is handled meanwhile does not make the store whole
        assert await second.checkpoints() == (None, 0)
        await second.integrity.look()

    # As a rebuild does: fill the next generation, give it its checkpoint, make it the live one.
    values = second.integrity.values
    pointers = await NatsLiveGenerations.bind(jetstream)
    projection = WatchedProjection(
        "status", {"the document store": RowCheckpoints(stores[1], "status")}
    )
    log = (await jetstream.stream_info("KB_EVENTS")).created
    assert log
    await advance(await state_of(projection, 2, values), values, Checkpoint(3, log.isoformat()))
    states, revision = await pointers.read()
    await pointers.write({**states, "status": replace(states["status"], live=2)}, revision)
    await second.integrity.look()
    second.integrity.require("status")


async def test_the_same_life_and_a_restart_go_on_with_a_store_that_is_whole(
    jetstream: JetStreamContext, stores: Stores
) -> None:
    first = await Life.begin(jetstream, stores[0])
    await first.add("a")
    await until(first.done, "the document is acknowledged")
    again = await Life.begin(jetstream, stores[0])
    again.integrity.require("status")
    assert await again.checkpoints() == (1, 1), "its first look has moved the checkpoint"
    await again.add("b")
    await first.add("c")
    await until(again.done, "the documents are acknowledged")
    assert await again.checkpoints() == (1, 1), "and no beginning is put in its place"
    await first.integrity.look()
    assert await first.checkpoints() == (3, 3)


async def test_a_store_that_nothing_was_written_to_may_be_replaced(
    jetstream: JetStreamContext, stores: Stores
) -> None:
    first = await Life.begin(jetstream, stores[0])
    assert await first.checkpoints() == (None, None)
    second = await Life.begin(jetstream, stores[1])
    second.integrity.require("status")


async def test_nothing_is_acknowledged_before_the_bus_has_noted_it(
    jetstream: JetStreamContext, stores: Stores
) -> None:
    life = await Life.begin(jetstream, stores[0])
    await jetstream.delete_stream(f"KV_{CHECKPOINTS_BUCKET}")
    await life.add("a", "b")
    assert await life.waiting() == 2
    await topology.apply(jetstream)
    await life.handle()
    await until(life.done, "the documents are acknowledged")
    assert await life.checkpoints() == (0, 0)


async def test_stores_of_another_log_are_told_by_their_beginning(
    jetstream: JetStreamContext, stores: Stores
) -> None:
    life = await Life.begin(jetstream, stores[0])
    await RowCheckpoints(stores[0], "status").put_checkpoint(
        1, Checkpoint(0, "2020-01-01T00:00:00+00:00")
    )
    await life.integrity.look()
    assert "was filled from another log" in life.integrity.writes.refusal
