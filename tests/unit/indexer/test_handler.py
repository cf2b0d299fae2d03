"""The indexer over stores in memory: what changed is embedded, what is gone is removed, the newest
text stands.
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from contracts.events import (
    ChunksCreated,
    DocumentDeleted,
    EntitiesExtracted,
    Event,
    VectorsIndexed,
)
from contracts.graph import DocumentBounds, Entity, Generations, Partition, Relation, VectorKind
from offline.embeddings.lexical import LexicalEmbedder
from runtime.bus.port import Delivery
from runtime.errors import Retryable
from runtime.models.scripted import CountingEmbedder
from runtime.projections.cached_embeddings import CachedEmbeddings
from runtime.stores.documents.document_bounds import RowDocumentBounds
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors
from services.indexer.graph_index import MAX_ROUNDS, GraphKeys, index_graph
from services.indexer.handler import on_chunks, on_graph_merged
from tests.support.events import chunked, delivered, document, entity, extracted, relation
from tests.support.merging import Merger

SPACE = Partition("w", 1)


class Harness:
    """Both handlers with their stores, and the merger that feeds one of them."""

    def __init__(self, graph: MemoryGraph | None = None) -> None:
        self.embedder = CountingEmbedder(LexicalEmbedder(16))
        self.embeddings = CachedEmbeddings(MemoryRows(), self.embedder)
        self.vectors = MemoryVectors(self.embedder.model, 16)
        self.extents = RowDocumentBounds(MemoryRows(), "vector_extents")
        self.merger = Merger(graph=graph or MemoryGraph())

    async def chunks(self, *events: ChunksCreated, workspace: str = "w") -> list[VectorsIndexed]:
        return await self.handle(
            [delivered(event, n, workspace=workspace) for n, event in enumerate(events, 1)]
        )

    async def handle(
        self, batch: Sequence[Delivery[ChunksCreated | DocumentDeleted]]
    ) -> list[VectorsIndexed]:
        events = await on_chunks(
            batch,
            Generations(),
            vectors=self.vectors,
            embeddings=self.embeddings,
            extents=self.extents,
        )
        return [event for (event,) in events if isinstance(event, VectorsIndexed)]

    async def merged(self, *events: EntitiesExtracted) -> list[VectorsIndexed]:
        """Merge, then index what was merged."""
        results: Sequence[Sequence[Event]] = await self.merger.merge(*events)
        batch = [delivered(result, n) for n, (result,) in enumerate(results, 1)]
        event_lists = await on_graph_merged(
            batch,
            Generations(),
            graph=self.merger.graph,
            vectors=self.vectors,
            embeddings=self.embeddings,
        )
        return [result for (result,) in event_lists if isinstance(result, VectorsIndexed)]

    async def index(self, names: set[str], pairs: set[tuple[str, str]]) -> set[str]:
        indexed_ids = await index_graph(
            "w",
            GraphKeys(names, pairs),
            Generations(),
            self.merger.graph,
            self.vectors,
            self.embeddings,
        )
        return indexed_ids.embedded_ids

    async def texts(self, kind: VectorKind, partition: Partition = SPACE) -> set[str]:
        return {row.text for row in await self.vectors.scan(partition, kind)}


async def test_passages_can_be_found_as_soon_as_they_are_cut() -> None:
    harness = Harness()
    (event,) = await harness.chunks(chunked(document("d", 7), "one", "two"))
    assert await harness.texts("chunks") == {"one", "two"}
    assert (event.kind, event.embedded, event.document) == ("chunks", 2, document("d", 7))
    assert [chunk.order for chunk in event.chunks] == [0, 1]
    assert (event.model, event.dimension) == (harness.embedder.model, 16)


async def test_a_second_delivery_embeds_nothing() -> None:
    harness = Harness()
    await harness.chunks(chunked(document(), "one", "two"))
    (event,) = await harness.chunks(chunked(document(), "one", "two"))
    assert (harness.embedder.count, event.embedded) == (2, 0)
    await harness.merged(extracted(document(), 0, [entity("A")], [relation("A", "B")]))
    before = harness.embedder.count
    (event,) = await harness.merged(extracted(document(), 0, [entity("A")], [relation("A", "B")]))
    assert (harness.embedder.count, event.embedded) == (before, 0)


async def test_a_new_version_embeds_only_what_changed() -> None:
    harness = Harness()
    await harness.chunks(chunked(document("d", 1), "one", "two", "three"))
    (event,) = await harness.chunks(chunked(document("d", 2), "one", "changed", "three"))
    assert harness.embedder.texts == ["one", "two", "three", "changed"]
    assert event.embedded == 1
    assert await harness.texts("chunks") == {"one", "changed", "three"}


@pytest.mark.parametrize(
    "order", [(1, 2, 3), (1, 3, 2), (3, 2, 1), (2, 1, 3), (3, 1, 2), (2, 3, 1)]
)
async def test_the_newest_version_stands_in_whatever_order_they_arrive(
    order: Sequence[int],
) -> None:
    texts = {1: "first", 2: "second", 3: "first"}
    harness = Harness()
    for version in order:
        await harness.chunks(chunked(document("d", version), texts[version]))
    assert await harness.texts("chunks") == {"first"}
    assert harness.embedder.count <= 2


async def test_of_two_versions_in_one_batch_the_newer_stands() -> None:
    harness = Harness()
    events = await harness.chunks(
        chunked(document("d", 2), "new"), chunked(document("d", 1), "old")
    )
    assert await harness.texts("chunks") == {"new"}
    assert len(events) == 2


async def test_entities_and_relations_are_indexed_as_they_stand_in_the_graph() -> None:
    harness = Harness()
    (event,) = await harness.merged(
        extracted(document(), 0, [entity("A", "t", "one")], [relation("B", "A", "tie", "k")])
    )
    assert await harness.texts("entities") == {"A\none", "B\ntie"}
    assert await harness.texts("relations") == {"k\tA\nB\ntie"}
    assert (event.kind, event.embedded) == ("graph", 3)


async def test_what_many_chunks_of_a_batch_touch_is_embedded_once() -> None:
    harness = Harness()
    await harness.merged(
        *(
            extracted(document(), order, [entity("Hub", "t", f"text {order}")])
            for order in range(20)
        )
    )
    assert harness.embedder.count == 1


async def test_what_is_gone_from_the_graph_is_gone_from_the_index() -> None:
    harness = Harness()
    await harness.merged(extracted(document("d", 1), 0, [entity("A")], [relation("A", "B")]))
    await harness.merged(extracted(document("d", 2), 0, [entity("C")]))
    assert await harness.texts("entities") == {"C\nC is there"}
    assert await harness.texts("relations") == set()


async def test_workspaces_never_mix() -> None:
    harness = Harness()
    await harness.chunks(chunked(document(), "one"), workspace="one")
    await harness.chunks(chunked(document(), "two"), workspace="two")
    assert await harness.texts("chunks", Partition("one", 1)) == {"one"}
    assert await harness.texts("chunks", Partition("two", 1)) == {"two"}


async def test_the_same_text_is_paid_once_per_workspace() -> None:
    harness = Harness()
    await harness.chunks(chunked(document("d"), "same"), chunked(document("e"), "same"))
    assert harness.embedder.count == 1
    await harness.chunks(chunked(document("d"), "same"), workspace="other")
    assert harness.embedder.count == 2


class ChangingGraph(MemoryGraph):
    """A graph that somebody else changes right after it was read."""

    def __init__(self, change: Callable[["ChangingGraph"], Any], times: int) -> None:
        super().__init__()
        self._change, self._left = change, times

    async def excerpts(self, partition: Partition, names: Any, pairs: Any, *, longest: int) -> Any:
        result = await super().excerpts(partition, names, pairs, longest=longest)
        if self._left:
            self._left -= 1
            await self._change(self)
        return result


def rewrite(graph: ChangingGraph) -> Any:
    """One more revision of A, with its number in the text."""
    revision = 1000 - graph._left
    return graph.put(SPACE, [Entity("A", revision, description=f"revision {revision}")], [])


async def test_a_graph_that_changes_while_it_is_indexed_ends_with_its_newest_text() -> None:
    harness = Harness(ChangingGraph(rewrite, 3))
    await harness.merger.graph.put(SPACE, [Entity("A", 1, description="old")], [])
    await harness.index({"A"}, set())
    assert await harness.texts("entities") == {"A\nrevision 1000"}


async def test_an_entity_that_goes_while_it_is_indexed_is_not_left_behind() -> None:
    harness = Harness(
        ChangingGraph(lambda graph: graph.put(SPACE, [Entity("A", 9, is_gone=True)], []), 1)
    )
    await harness.merger.graph.put(SPACE, [Entity("A", 1, description="old")], [])
    await harness.index({"A"}, set())
    assert await harness.texts("entities") == set()


async def test_a_graph_that_never_rests_is_tried_again_later() -> None:
    harness = Harness(ChangingGraph(rewrite, 10 * MAX_ROUNDS))
    await harness.merger.graph.put(SPACE, [Entity("A", 1, description="old")], [])
    with pytest.raises(Retryable, match="faster than it can be indexed"):
        await harness.index({"A"}, set())


async def test_a_replica_that_wrote_an_older_text_last_looks_again_and_corrects_it() -> None:
    harness = Harness()
    graph = harness.merger.graph
    vectors = harness.vectors
    await graph.put(
        SPACE, [Entity("A", 1, description="old")], [Relation("A", "B", 1, description="tie")]
    )
    await harness.index({"A"}, {("A", "B")})
    stale = await vectors.get(
        SPACE, "entities", [r.id for r in await vectors.scan(SPACE, "entities")], vectors=True
    )
    await graph.put(SPACE, [Entity("A", 2, description="new")], [])
    await harness.index({"A"}, set())
    await vectors.put(SPACE, "entities", list(stale.values()))
    await harness.index({"A"}, set())
    assert await harness.texts("entities") == {"A\nnew"}


async def test_nothing_to_index_costs_nothing_and_is_said() -> None:
    harness = Harness()
    (event,) = await harness.merged(extracted(document(), 0))
    assert (event.embedded, harness.embedder.calls) == (0, 0)


def deletion(id: str, place: int) -> Delivery[DocumentDeleted]:
    return delivered(DocumentDeleted(document_id=id), place)


async def test_chunks_of_a_deleted_document_are_removed_and_no_others() -> None:
    harness = Harness()
    await harness.chunks(
        chunked(document("d", 1), *(f"passage {n}" for n in range(120))),
        chunked(document("e", 2), "e"),
    )
    (event,) = await harness.handle([deletion("d", 50)])
    assert [row.document_id for row in await harness.vectors.scan(SPACE, "chunks")] == ["e"]
    assert (event.document and event.document.deleted, event.chunks, event.kind) == (
        True,
        (),
        "chunks",
    )


async def test_chunks_that_come_after_their_deletion_stay_away() -> None:
    harness = Harness()
    await harness.handle([deletion("d", 50)])
    await harness.chunks(chunked(document("d", 1), "late"))
    assert await harness.vectors.count(SPACE, "chunks") == 0
    await harness.chunks(chunked(document("d", 60), "anew"))
    assert await harness.vectors.count(SPACE, "chunks") == 1


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("newest_first", [True, False])
async def test_a_shorter_version_leaves_nothing_behind_its_end(
    together: bool, newest_first: bool
) -> None:
    harness = Harness()
    events = [
        chunked(document("d", 1), "one", "two", "three"),
        chunked(document("d", 9), "one", "2"),
    ]
    events = events[::-1] if newest_first else events
    for batch in [events] if together else [[event] for event in events]:
        await harness.chunks(*batch)
    rows = await harness.vectors.scan(SPACE, "chunks")
    assert [(row.text, row.version) for row in rows] == [("one", 9), ("2", 9)]


async def test_a_removal_that_was_interrupted_is_made_up_for() -> None:
    harness = Harness()
    await harness.chunks(chunked(document("d", 1), "one", "two"))
    await harness.extents.put(SPACE, {"d": DocumentBounds(9, 1)})  # and there it was killed
    await harness.chunks(chunked(document("d", 9), "one"))
    assert await harness.vectors.count(SPACE, "chunks") == 1
