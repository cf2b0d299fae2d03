"""What an older program left incomplete is not answered from, and nothing is added to it, until a
rebuild paid.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nats.js import JetStreamContext

from contracts.graph import Generations, Projection
from contracts.partitions import LOG
from contracts.topology import CHECKPOINTS_BUCKET
from runtime.bus import topology
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.port import Delivery, Events
from runtime.bus.write_status import WriteStatus
from runtime.errors import StoreBehind, Unavailable
from runtime.health import Health
from runtime.projections.checkpoints import write_note
from runtime.projections.integrity import Integrity
from runtime.projections.verdicts import combined_verdict
from runtime.stores.documents import schema
from runtime.stores.documents.checkpoints import RowCheckpoints
from runtime.stores.documents.sqlite.store import SqliteRows
from runtime.stores.port import Checkpoint
from tests.support.nats_server import connected, running_nats

MERGER = "merger"


@pytest.fixture
async def jetstream(tmp_path: Path) -> AsyncGenerator[JetStreamContext]:
    async with running_nats(tmp_path) as server, connected(server) as client:
        await topology.apply(client.jetstream())
        yield client.jetstream()


@pytest.fixture
async def rows(tmp_path: Path) -> AsyncGenerator[SqliteRows]:
    rows = SqliteRows(tmp_path / "documents.db")
    await rows.prepare()
    yield rows
    await rows.close()


async def merger(jetstream: JetStreamContext, rows: SqliteRows) -> Integrity:
    """The watch of a service that fills the graph; its first look is taken."""
    pointers = await NatsLiveGenerations.bind(jetstream)
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    integrity = Integrity(
        "merger", jetstream, pointers, values, WriteStatus(is_watched=True), schema_store=rows
    )
    integrity.watch(
        "graph",
        {"the document store": RowCheckpoints(rows, "graph")},
        (MERGER,),
        held_durables=(MERGER,),
    )
    await integrity.look()
    return integrity


async def older(rows: SqliteRows) -> None:
    """Leave the stores as a program did that had no checkpoints yet."""
    await rows.put(schema.TABLE, {schema.KEY: {"version": 2}})
    await rows.prepare()


class Handler:
    """A handler that counts its batches."""

    def __init__(self) -> None:
        self.batches = 0

    async def __call__(
        self, batch: Sequence[Delivery[Any]], generations: Generations, /
    ) -> Sequence[Events]:
        self.batches += 1
        return [[] for _ in batch]


async def test_a_debt_is_told_and_nothing_is_answered_until_the_generation_is_made_anew(
    jetstream: JetStreamContext, rows: SqliteRows
) -> None:
    await older(rows)
    integrity = await merger(jetstream, rows)
    for _ in range(2):  # looking again, as a service does for days, makes nothing whole
        with pytest.raises(
            StoreBehind, match=r"graph: .*since an upgrade.*`lightstream rebuild graph`"
        ):
            integrity.require("graph")
        assert set((await combined_verdict(integrity.values)).stores) == {"graph"}
        await integrity.look()
    again = await merger(jetstream, rows)
    with pytest.raises(StoreBehind):
        again.require("graph")

    await schema.complete(rows, "graph", 1)
    await again.look()
    again.require("graph")
    assert not (await combined_verdict(again.values)).stores


async def test_events_wait_for_the_rebuild_and_are_delivered_again_after_it(
    jetstream: JetStreamContext, rows: SqliteRows
) -> None:
    await older(rows)
    integrity = await merger(jetstream, rows)
    handler = Handler()
    held_handler = integrity.hold(MERGER, handler, Health("merger", stage=None))
    waiting = asyncio.create_task(_outcome(held_handler([], Generations())))
    with suppress(TimeoutError):
        await asyncio.wait_for(asyncio.shield(waiting), 1.0)
    assert (waiting.done(), handler.batches) == (False, 0)

    await schema.complete(rows, "graph", 1)
    await integrity.look()
    assert isinstance(await waiting, Unavailable), (
        "it is delivered again: the live generation is another one now"
    )
    await held_handler([], Generations())
    assert handler.batches == 1


async def test_a_service_that_stops_does_not_wait_for_the_rebuild(
    jetstream: JetStreamContext, rows: SqliteRows
) -> None:
    await older(rows)
    integrity = await merger(jetstream, rows)
    health = Health("merger", stage=None)
    waiting = asyncio.create_task(
        _outcome(integrity.hold(MERGER, Handler(), health)([], Generations()))
    )
    await asyncio.sleep(0)
    health.stage = "stopping"
    assert isinstance(await asyncio.wait_for(waiting, 5), Unavailable)


async def test_until_the_record_was_read_nothing_counts_as_complete(
    jetstream: JetStreamContext, rows: SqliteRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(_: object) -> None:
        raise Unavailable("the document store does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(schema, "read", silent)
        integrity = await merger(jetstream, rows)
    with pytest.raises(Unavailable, match="not looked at yet"):
        integrity.require("graph")
    await integrity.look()
    integrity.require("graph")


async def test_a_program_that_runs_while_a_newer_one_prepares_the_stores_stops(
    jetstream: JetStreamContext, rows: SqliteRows
) -> None:
    integrity = await merger(jetstream, rows)
    handler = Handler()
    health = Health("merger", stage=None)
    held_handler = integrity.hold(MERGER, handler, health)
    await held_handler([], Generations())
    await rows.put(schema.TABLE, {schema.KEY: {"version": schema.VERSION + 1}})
    await integrity.look()
    with pytest.raises(Unavailable, match="run the newer program"):
        integrity.require("graph")
    health.stage = "stopping"
    with pytest.raises(Unavailable, match="run the newer program"):
        await held_handler([], Generations())
    assert handler.batches == 1


async def test_what_was_made_from_a_graph_that_was_lost_meanwhile_is_owed(
    jetstream: JetStreamContext, rows: SqliteRows
) -> None:
    """The indexer goes on for seconds before anybody notices that the graph is empty."""
    pointers = await NatsLiveGenerations.bind(jetstream)
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    created_at = (await jetstream.stream_info(LOG)).created
    assert created_at
    checkpoint = Checkpoint(0, created_at.isoformat())
    graph = Store(checkpoint)
    integrity = Integrity(
        "indexer", jetstream, pointers, values, WriteStatus(is_watched=True), schema_store=rows
    )
    vectors = RowCheckpoints(rows, "vectors")
    integrity.watch(
        "vectors",
        {"the document store": vectors},
        ("indexer-graph",),
        held_durables=("indexer-graph",),
    )
    integrity.watch("graph", {"the graph store": graph}, held_durables=("indexer-graph",))
    await write_note(values, "graph", 1, checkpoint)
    await integrity.look()
    assert not await owed(rows)

    held_handler = integrity.hold("indexer-graph", Handler(), Health("indexer", stage=None))
    await held_handler([], Generations())
    await integrity.look()
    assert not await owed(rows), "the graph was there all the time"

    await held_handler([], Generations())
    graph.kept = None
    await integrity.look()
    assert await owed(rows) == {"vectors"}


@dataclass
class Store:
    """A store of checkpoints that can be lost."""

    kept: Checkpoint | None

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        return self.kept

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        self.kept = checkpoint


async def owed(rows: SqliteRows) -> set[Projection]:
    record = await schema.read(rows)
    projections: tuple[Projection, ...] = ("graph", "vectors")
    return {projection for projection in projections if record.is_owed(projection, 1)}


async def _outcome(handling: Any) -> BaseException | None:
    try:
        await handling
    except Exception as error:
        return error
    return None
