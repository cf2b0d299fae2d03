"""A rebuild makes what lives at the end of the log, and nothing of what was deleted or replaced on
the way there.
"""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import NamedTuple

import pytest

from contracts.graph import PROJECTIONS, VECTOR_KINDS, Generations, Partition, Projection
from offline.embeddings.lexical import LexicalEmbedder
from operations.digest import Stores, digest
from operations.rebuild import Rebuild
from runtime.bus.memory import MemoryLiveGenerations
from runtime.bus.port import ALL_WANTED
from runtime.models.scripted import CountingEmbedder
from runtime.stores.documents.sqlite.store import SqliteRows
from runtime.stores.vectors.memory import MemoryVectors
from services.merger.settings import MergerSettings
from tests.unit.operations.test_bulk_load import GuardedGraph
from tests.unit.pipeline.test_dropped_work import STORY, Harness

REBUILT = Generations(2, 2, 2)
PARTITION = Partition("w", 2)


class Rebuilt(NamedTuple):
    """The stores that a rebuild has filled, and what it embedded."""

    stores: Stores
    graph: GuardedGraph
    embedder: CountingEmbedder

    async def rows(self) -> int:
        """The vectors that are there."""
        pages = [await self.stores.vectors.scan(PARTITION, kind, "", 1000) for kind in VECTOR_KINDS]
        return sum(map(len, pages))

    async def elements(self) -> int:
        """The entities and relations that are there."""
        entities = await self.graph.scan_entities(PARTITION, "", 1000)
        return len(entities) + len(await self.graph.scan_relations(PARTITION, ("", ""), 1000))


@pytest.fixture
async def rows(tmp_path: Path) -> AsyncGenerator[SqliteRows]:
    rows = SqliteRows(tmp_path / "documents.db")
    await rows.prepare()
    yield rows
    await rows.close()


async def rebuilt(harness: Harness, rows: SqliteRows, *targets: Projection) -> Rebuilt:
    embedder = CountingEmbedder(LexicalEmbedder(64))
    graph = GuardedGraph()
    stores = Stores(rows, graph, MemoryVectors(embedder.model, embedder.dimension))
    settings = MergerSettings()
    log = harness.harness.log
    await Rebuild(
        log, MemoryLiveGenerations(), stores, embedder, targets, lambda _: None, settings
    ).run("w")
    return Rebuilt(stores, graph, embedder)


async def handled_story(*, deleted: bool = False) -> Harness:
    """The story with every step handled before the next one; then, perhaps, all of it deleted."""
    harness = Harness(lambda _: ALL_WANTED)
    if deleted:
        steps = [*STORY, ("a", None), ("c", None)]
        harness.left = list(enumerate(steps))
    while harness.left:
        await harness.tell()
        await harness.settle()
    return harness


@pytest.mark.parametrize("group", [1, 2000])
async def test_only_what_lives_is_embedded_and_written(
    group: int, rows: SqliteRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operations.bulk_load.GROUP_EVENTS", group)
    harness = await handled_story()
    result = await rebuilt(harness, rows, *PROJECTIONS)
    digests = [(await digest(name, "w", REBUILT, result.stores)).sha256 for name in PROJECTIONS]
    assert digests == await harness.digests()
    assert result.embedder.count == await result.rows() > 0
    assert sum(result.graph.puts) == await result.elements() > 0


async def test_of_a_log_without_living_documents_nothing_is_made(rows: SqliteRows) -> None:
    harness = await handled_story(deleted=True)
    result = await rebuilt(harness, rows, *PROJECTIONS)
    digests = [(await digest(name, "w", REBUILT, result.stores)).sha256 for name in PROJECTIONS]
    assert digests == await harness.digests()
    assert (result.embedder.count, sum(result.graph.puts)) == (0, 0)


async def test_entities_that_were_written_before_they_went_are_taken_back(
    rows: SqliteRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a later group of events replaces may stand in the graph already: memory is bounded."""
    monkeypatch.setattr("operations.bulk_load.GROUP_EVENTS", 3)
    monkeypatch.setattr("services.merger.replay.MAX_CHUNKS", 1)
    harness = await handled_story()
    result = await rebuilt(harness, rows, *PROJECTIONS)
    digests = [(await digest(name, "w", REBUILT, result.stores)).sha256 for name in PROJECTIONS]
    assert digests == await harness.digests()
