"""A rebuild loads the log in bulk and handles what comes later event by event: the digests are the
same.
"""

import json
from collections import Counter
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from contracts.graph import PROJECTIONS, Entity, Generations, Partition, Projection, Relation
from offline.embeddings.lexical import LexicalEmbedder
from operations import retries
from operations.digest import Stores, digest
from operations.rebuild import Rebuild
from runtime.bus.memory import MemoryLiveGenerations, MemoryLog
from runtime.bus.port import Message
from runtime.errors import Poison, Unavailable
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Change, Row, Table
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.merger.settings import MergerSettings
from tests.unit.operations.test_recorded_digests import DIGESTS, EVENTS


@dataclass
class GrowingLog(MemoryLog):
    """A log that shows `first` messages until they have been read, and all of them from then on."""

    first: int = 0
    grown: bool = False

    async def last_sequence(self) -> int:
        return len(self.messages) if self.grown else self.first

    async def read(
        self, after: int = 0, subjects: Sequence[str] = (), *, page: int = 500
    ) -> AsyncGenerator[list[Message]]:
        end = await self.last_sequence()
        self.grown = True
        async for messages in super().read(after, subjects, page=page):
            if visible := [message for message in messages if message.sequence <= end]:
                yield visible


class CountingRows(MemoryRows):
    """Counts the rows written to each table, and the calls that write them."""

    def __init__(self) -> None:
        super().__init__()
        self.written, self.calls = Counter[str](), Counter[str]()

    async def put(self, table: Table, rows: Mapping[str, Row]) -> None:
        self.written[table.name] += len(rows)
        self.calls[table.name] += 1
        await super().put(table, rows)

    async def update(self, table: Table, keys: Collection[str], change: Change) -> dict[str, Row]:
        rows = await super().update(table, keys, change)
        self.written[table.name] += len(rows)
        self.calls[table.name] += 1
        return rows


class GuardedGraph(MemoryGraph):
    """Refuses entities of one name, as a store does what it can never hold; and is silent the first
    times.
    """

    def __init__(self, *, refused_name: str = "", silent: int = 0) -> None:
        super().__init__()
        self.refused, self.silent = refused_name, silent
        self.puts: list[int] = []

    async def put(
        self, partition: Partition, entities: Sequence[Entity], relations: Sequence[Relation]
    ) -> None:
        if self.silent:
            self.silent -= 1
            raise Unavailable("silent")
        if partition.workspace == "w" and any(entity.name == self.refused for entity in entities):
            raise Poison("refused")
        self.puts.append(len(entities) + len(relations))
        await super().put(partition, entities, relations)


def recorded(log: MemoryLog) -> MemoryLog:
    for line in EVENTS.read_text("utf-8").splitlines():
        message = json.loads(line)
        log.append(
            message["subject"],
            json.dumps(message["event"], ensure_ascii=False).encode(),
            message["id"],
        )
    return log


async def rebuilt(
    log: MemoryLog, stores: Stores, targets: Collection[Projection] = PROJECTIONS, **pointers: Any
) -> dict[str, Any]:
    embedder = LexicalEmbedder(64)
    generations = pointers.get("generations") or MemoryLiveGenerations()
    settings = MergerSettings()
    return await Rebuild(
        log, generations, stores, embedder, list(targets), lambda _: None, settings
    ).run("w")


def stores(rows: MemoryRows | None = None, graph: MemoryGraph | None = None) -> Stores:
    embedder = LexicalEmbedder(64)
    return Stores(
        rows or MemoryRows(),
        graph or MemoryGraph(),
        MemoryVectors(embedder.model, embedder.dimension),
    )


async def digests(of: Stores, generations: Generations) -> dict[tuple[str, Projection], str]:
    return {
        (workspace, projection): (await digest(projection, workspace, generations, of)).sha256
        for workspace, projection in DIGESTS
    }


TOTAL = len(EVENTS.read_text("utf-8").splitlines())
BOUNDS = 8
"""Events that tell the bounds of documents: seven ChunksCreated, one DocumentDeleted."""


@pytest.mark.parametrize("first", [0, 1, TOTAL // 4, TOTAL // 2, 3 * TOTAL // 4, TOTAL - 1, TOTAL])
async def test_what_enters_the_log_meanwhile_counts_too(first: int) -> None:
    memory_stores = stores()
    log = GrowingLog(first=first)
    result = await rebuilt(recorded(log), memory_stores)
    assert await digests(memory_stores, Generations(2, 2, 2)) == DIGESTS
    assert (result["events"], result["skipped"]) == (TOTAL, 0)


@pytest.mark.parametrize("max_chunks", [1, 20, 10_000])
async def test_groups_of_a_few_events_and_documents_give_the_same(
    monkeypatch: pytest.MonkeyPatch, max_chunks: int
) -> None:
    monkeypatch.setattr("operations.bulk_load.PAGE", 3)
    monkeypatch.setattr("operations.bulk_load.GROUP_EVENTS", 7)
    monkeypatch.setattr("services.merger.replay.PAGE", 2)
    monkeypatch.setattr("services.merger.replay.MAX_CHUNKS", max_chunks)
    monkeypatch.setattr("services.merger.replay.CHUNKS_PER_NOTE", 1)
    monkeypatch.setattr("services.indexer.replay.BATCH_SIZE", 2)
    monkeypatch.setattr("services.query.replay.MAX_DOCUMENTS", 1)
    memory_stores = stores()
    await rebuilt(recorded(MemoryLog()), memory_stores)
    assert await digests(memory_stores, Generations(2, 2, 2)) == DIGESTS


async def test_one_projection_after_the_other_gives_the_same() -> None:
    memory_stores = stores()
    generations = MemoryLiveGenerations()
    log = recorded(MemoryLog())
    for target in PROJECTIONS:
        result = await rebuilt(log, memory_stores, [target], generations=generations)
        assert result["events"] == TOTAL, "also those that this projection does not need"
    assert await digests(memory_stores, Generations(2, 2, 2)) == DIGESTS


async def test_each_document_is_written_once_and_each_entity_and_relation_once() -> None:
    rows = CountingRows()
    graph = GuardedGraph()
    memory_stores = stores(rows, graph)
    await rebuilt(recorded(MemoryLog()), memory_stores)
    documents = sum(
        [len(await rows.scan(Table("documents", Partition(w, 2)))) for w in ("w", "other")]
    )
    assert rows.written["documents"] == documents
    assert rows.calls["documents"] == 2, "one call for each workspace"
    assert rows.calls["extractions"] <= 2
    assert len(graph.puts) == 2, "all entities and relations of a workspace in one call"


async def test_an_entity_that_can_never_be_stored_is_left_out_alone() -> None:
    complete_stores = stores()
    await rebuilt(recorded(MemoryLog()), complete_stores)
    names = [entity.name for entity in await complete_stores.graph.scan_entities(Partition("w", 2))]
    memory_stores = stores(graph=GuardedGraph(refused_name=names[0]))
    result = await rebuilt(recorded(MemoryLog()), memory_stores)
    assert result["skipped"] == 1
    assert [
        entity.name for entity in await memory_stores.graph.scan_entities(Partition("w", 2))
    ] == names[1:]


async def test_a_silent_store_delays_it_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retries, "BACKOFF", retries.Backoff(first=0.001, longest=0.001))
    memory_stores = stores(graph=GuardedGraph(silent=2))
    await rebuilt(recorded(MemoryLog()), memory_stores)
    assert await digests(memory_stores, Generations(2, 2, 2)) == DIGESTS
