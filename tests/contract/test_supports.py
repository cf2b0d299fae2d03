"""The contracts of `ProvenanceReader` and `StoredContributions`, over every document store, as the
merger fills it: all that chunks say of a thing, in pages, nothing gone; and all that chunks say.
"""

from collections.abc import AsyncIterator, Sequence
from typing import Any, TypeVar
from uuid import uuid4

import pytest
import pytest_asyncio

from contracts.events import DocumentDeleted, GraphEdited
from contracts.graph import Entity, Generations, Partition, Provenance, Relation
from contracts.graph_edits import EditedValues
from services.merger.handler import on_entities_extracted, on_extents, on_graph_edited
from services.query.adapters import contributions
from services.query.adapters.contributions import RowContributions
from services.query.adapters.provenance import RowProvenance
from services.query.visibility.kept_supports import KeptSupports
from services.query.visibility.restricted_items import RestrictedItems
from services.query.visibility.restricted_reads import key_of, restrict_item, restrict_items
from tests.support.events import delivered, document, entity, extracted, relation
from tests.support.merging import Merger
from tests.support.rows import Opener

T = TypeVar("T", Entity, Relation)

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Harness:
    """A merger and what supports its graph, in a workspace of the test's own."""

    def __init__(self, rows: Any) -> None:
        self.merger = Merger(rows)
        self.supports = RowProvenance(rows)
        self.contributions = RowContributions(rows)
        self.workspace, self.place = f"w-{uuid4().hex}", 10

    @property
    def partition(self) -> Partition:
        return Partition(self.workspace, 1)

    async def take(self, handler: Any, *events: Any) -> None:
        """Hand events to a handler of the merger, each with the next place in the log."""
        batch = [
            delivered(event, self.place + n, workspace=self.workspace)
            for n, event in enumerate(events)
        ]
        self.place += len(events)
        await handler(batch, Generations(), dependencies=self.merger.dependencies)

    async def says(self, count: int, *names: str, first: int = 0) -> None:
        """So many documents of one chunk each name these, tied to each other."""
        ties = [relation(*names, "a tie")] if len(names) == 2 else []
        events: list[Any] = []
        for number in range(first, first + count):
            of = document(f"d{number}", self.place + number, file_path=f"{number}.txt")
            events.append(
                extracted(of, 0, [entity(name, "t", f"{name} in {number}") for name in names], ties)
            )
        await self.take(on_entities_extracted, *events)
        self.place += first + count

    async def edit(self, operation: Any, *names: str, target: str | None = None) -> None:
        edit = GraphEdited(operation=operation, names=names, target=target, values=EditedValues())
        await self.take(on_graph_edited, edit)

    async def all(self, *names: str, limit: int = 100, among: Any = None) -> list[Provenance]:
        """Page by page, as a reader does."""
        result: list[Provenance] = []
        while page := await self.supports.of(
            self.partition,
            names,
            after=result[-1].cursor if result else "",
            limit=limit,
            among=among,
        ):
            assert len(page) <= limit
            result += page
        return result

    async def documents(self, *names: str, among: Any = None) -> list[str]:
        return sorted(support.document_id for support in await self.all(*names, among=among))


@pytest_asyncio.fixture(loop_scope="module")
async def harness(opener: Opener) -> AsyncIterator[Harness]:
    rows = opener()
    await rows.prepare()
    yield Harness(rows)
    await rows.close()


async def test_a_support_says_which_chunk_of_which_document_and_what_it_said(
    harness: Harness,
) -> None:
    await harness.says(1, "A", "B")
    (support,) = await harness.all("A")
    assert (support.names, support.chunk_id, support.document_id, support.order) == (
        ("A",),
        "d0-chunk-000",
        "d0",
        0,
    )
    assert (support.description, support.file_path, support.version) == ("A in 0", "0.txt", 10)
    assert support.added_at == 1772366400 * 1_000_000
    (tie,) = await harness.all("A", "B")
    assert (tie.names, tie.description) == (("A", "B"), "a tie")


async def test_what_nobody_named_has_no_support(harness: Harness) -> None:
    assert await harness.all("A") == await harness.all("A", "B") == []
    await harness.says(2, "A", "B")
    assert await harness.all("C") == []
    assert await harness.supports.of(harness.partition, ["A"], limit=0) == []
    assert await harness.supports.of(Partition(harness.workspace, 2), ["A"]) == []


@pytest.mark.parametrize("limit", [1, 7, 50, 1000])
async def test_pages_give_each_of_many_once(harness: Harness, limit: int) -> None:
    await harness.says(250 if limit > 1 else 30, "A", "B")
    result = await harness.all("A", limit=limit)
    assert sorted(s.document_id for s in result) == sorted(
        f"d{n}" for n in range(250 if limit > 1 else 30)
    )
    assert [s.cursor for s in result] == sorted(s.cursor for s in result)
    assert (await harness.merger.entities(harness.partition))["A"].support == len(result)


async def test_what_was_taken_back_never_shows(harness: Harness) -> None:
    await harness.says(120, "A")
    await harness.take(
        on_extents, *(DocumentDeleted(document_id=f"d{number}") for number in range(1, 120))
    )
    assert await harness.documents("A") == ["d0"]
    assert await harness.documents("A", among=["d0", "d1"]) == ["d0"]
    await harness.says(1, "B")
    assert await harness.documents("A") == []


async def test_only_those_in_some_documents_can_be_asked_for(harness: Harness) -> None:
    await harness.says(30, "A")
    assert await harness.documents("A", among={"d3", "d7", "nobody"}) == ["d3", "d7"]
    assert await harness.documents("A", among=[]) == []
    result = await harness.all("A", limit=1, among=["d3", "d7"])
    assert len(result) == 2


async def test_a_merged_entity_has_the_supports_of_all_its_names(harness: Harness) -> None:
    await harness.says(3, "A", "C")
    await harness.says(2, "B", "C", first=10)
    await harness.edit("merge_entities", "A", "B", target="Both")
    assert await harness.documents("Both") == ["d0", "d1", "d10", "d11", "d2"]
    assert (
        len(await harness.all("Both", limit=2)) == len(await harness.all("Both", "C", limit=2)) == 5
    )
    assert await harness.all("A") == await harness.all("A", "C") == []
    await harness.says(1, "A", first=20)
    assert await harness.documents("Both", among=["d20", "d10"]) == ["d10", "d20"]
    await harness.edit("rename_entity", "Both", target="A")
    assert len(await harness.all("A")) == 6
    assert await harness.all("Both") == []


async def test_what_somebody_deleted_by_hand_does_not_support_what_comes_later(
    harness: Harness,
) -> None:
    await harness.says(3, "A", "B")
    await harness.edit("delete_entity", "A")
    assert await harness.all("A") == await harness.all("A", "B") == []
    await harness.says(1, "A", first=40)
    assert await harness.documents("A") == ["d40"]
    assert (await harness.merger.entities(harness.partition))["A"].support == 1
    assert len(await harness.all("B")) == 3


async def test_every_chunk_is_read_with_what_it_says_and_a_deleted_one_says_nothing(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contributions, "PAGE", 2)
    await harness.says(5, "A", "B")
    await harness.take(on_extents, DocumentDeleted(document_id="d3"))
    chunks = {
        chunk.chunk_id: chunk async for chunk in harness.contributions.chunks(harness.partition)
    }
    assert sorted(chunks) == [f"d{number}-chunk-000" for number in range(5)]
    assert chunks.pop("d3-chunk-000").contributions == ()
    for number, chunk in zip((0, 1, 2, 4), (chunks[name] for name in sorted(chunks)), strict=True):
        statements = {(c.kind, c.names, c.description) for c in chunk.contributions}
        assert {
            ("entity", ("A",), f"A in {number}"),
            ("entity", ("B",), f"B in {number}"),
        } <= statements
        assert ("relation", ("A", "B"), "a tie") in statements
        assert {c.version for c in chunk.contributions} == {chunk.version}
    empty_partition = Partition(harness.workspace, 2)
    assert [chunk async for chunk in harness.contributions.chunks(empty_partition)] == []


async def test_lists_of_chunks_tell_what_all_contributions_tell(harness: Harness) -> None:
    await harness.says(4, "A", "B")
    await harness.says(3, "B", "C", first=20)
    await harness.edit("merge_entities", "B", target="C")
    await harness.take(on_extents, DocumentDeleted(document_id="d21"))
    reader = harness.supports
    partition = harness.partition
    entities = list((await harness.merger.entities(partition)).values())
    relations = list((await harness.merger.relations(partition)).values())
    edited_keys = await reader.edited_keys(partition, [("A",), ("C",), ("A", "C"), ("D",)])
    assert edited_keys == {("C",), ("A", "C")}
    for documents in map(frozenset, ({"d0"}, {"d1", "d2", "d20"}, {"d22"}, {"d0", "d1", "d2"})):
        await assert_lists_tell(entities, documents, harness)
        await assert_lists_tell(relations, documents, harness)


async def assert_lists_tell(
    items: Sequence[T], documents: frozenset[str], harness: Harness
) -> None:
    """Restrict by lists, and by all contributions to each."""
    reader = harness.supports
    partition = harness.partition
    by_lists = await restrict_items(items, documents, partition, reader, KeptSupports())
    by_all = [await restrict_item(item, documents, partition, reader) for item in items]
    assert by_lists == by_all
    weights = await RestrictedItems().weights(items, documents, partition, reader)
    assert weights.keys() == {key_of(result.item) for result in by_all if result.item}
