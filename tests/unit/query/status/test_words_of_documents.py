"""The words that walks read are a projection of the log: a rebuild writes the same ones, and those
of an erased document are gone from both generations.
"""

from typing import Any

from contracts.envelope import Envelope
from contracts.events import DocumentDeleted, Event
from contracts.graph import Generations, Partition
from contracts.topology import declared_consumer
from runtime.bus.codec import decode
from runtime.bus.memory import MemoryConsumer
from runtime.bus.port import Delivery
from runtime.stores.documents.port import Row, Table
from services.query.adapters.documents import WORDS_FIELD, RowPassages
from services.query.replay import StatusReplay
from services.query.retrieval.passage_index.passage_words import words_of
from tests.support.events import added, sealed
from tests.support.pipeline import workers
from tests.support.querying import QueryHarness

REBUILT = Generations(status=2)
TEXTS = {
    "gull": "Ada Marsh flew the Gray Gull. It was a quizzical aeroplane.",
    "ship": "The Blue Harbour is a ship.",
}


async def publish(harness: QueryHarness, event: Event, number: int) -> None:
    """Publish an event, and let all services handle what follows from it."""
    await harness.log.publish(sealed(event, id=f"command-{number}"))
    services = workers(harness)
    while any([await service.step() for service in services]):
        pass


async def rebuild(harness: QueryHarness) -> None:
    """Write generation 2 of the status projection from the log."""
    replay = StatusReplay(harness.rows)
    messages = MemoryConsumer(harness.log, declared_consumer("query-status")).fetch(1000)
    deliveries: list[Any] = []
    for message in messages:
        envelope: Envelope[Event] = decode(message.data, message.subject)
        deliveries.append(Delivery(envelope, message.sequence, 1, message.published_at))
    await replay.take(deliveries, REBUILT)
    await replay.finish(REBUILT)


async def chunk_rows(harness: QueryHarness, generation: int) -> list[Row]:
    """Return all rows of passages."""
    rows = await harness.rows.scan(Table("chunks", Partition("w", generation)))
    return [row for _, row in rows]


async def test_a_rebuild_writes_the_same_words_and_an_erasure_removes_them() -> None:
    harness = QueryHarness()
    for number, (name, text) in enumerate(TEXTS.items()):
        await publish(harness, added(name, text), number)
    await rebuild(harness)
    live_rows = await chunk_rows(harness, 1)
    assert live_rows == await chunk_rows(harness, 2)
    assert [bool(row[WORDS_FIELD]) for row in live_rows] == [True, True]
    reader = RowPassages(harness.rows)
    ids = [row["id"] for row in live_rows]
    for generation in (1, 2):
        partition = Partition("w", generation)
        passages = await reader.get(partition, ids)
        words = await reader.words(partition, ids)
        assert words == [words_of(passages[entry.id]) for entry in words]
    await publish(harness, DocumentDeleted(document_id="gull"), 9)
    await rebuild(harness)
    for generation in (1, 2):
        (row,) = await chunk_rows(harness, generation)
        assert row["document_id"] == "ship"
        assert "quizzical" not in str(row)
        words = await reader.words(Partition("w", generation), ids)
        assert [entry.document_id for entry in words] == ["ship"]
