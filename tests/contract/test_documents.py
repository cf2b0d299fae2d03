"""The laws of `Documents` and `Passages`, over a store in memory and over SQLite."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from contracts.graph import Partition
from contracts.values import Validity
from runtime.stores.documents.port import Rows
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.passage import Passage
from services.query.status.document_status import STEPS, DocumentStatus, Failure
from services.query.status.port import Documents, Listing, Passages
from tests.support.rows import document_store
from tests.support.shared_servers import SharedServers


@pytest_asyncio.fixture(params=["memory", "sqlite"])
async def rows(
    request: pytest.FixtureRequest, tmp_path: Path, shared_servers: SharedServers
) -> AsyncIterator[Rows]:
    async with document_store(request.param, tmp_path, shared_servers) as opener:
        rows = opener()
        await rows.prepare()
        yield rows
        await rows.close()


@pytest.fixture
def documents(rows: Rows) -> Documents:
    return RowDocuments(rows)


@pytest.fixture
def passages(rows: Rows) -> Passages:
    return RowPassages(rows)


@pytest.fixture
def partition() -> Partition:
    return Partition(f"w-{uuid4().hex}", 1)


PROCESSED: dict[str, Any] = {"chunk_count": 1, "bits": dict.fromkeys(STEPS, 1)}
FAILED: dict[str, Any] = {"failures": (Failure("chunker", "extracted", None, "no"),)}


async def filled(documents: Documents, partition: Partition, *statuses: DocumentStatus) -> None:
    statuses_written = await documents.update(
        partition, [status.id for status in statuses], lambda _: statuses
    )
    assert {status.id for status in statuses_written} == {status.id for status in statuses}


async def ids(documents: Documents, partition: Partition, **options: Any) -> list[str]:
    return [status.id for status in (await documents.page(partition, Listing(**options))).documents]


async def test_a_state_comes_back_as_it_was_written(
    documents: Documents, partition: Partition
) -> None:
    status = DocumentStatus(
        id="An essay, 文書.pdf",
        file_path="shelf/An essay.pdf",
        track_id="t",
        metadata={"year": 1999, "draft": False, "rate": 0.5, "note": None, "": "x"},
        summary="It begins …",
        length=12,
        created_at="2026-01-01T00:00:00.000000+00:00",
        updated_at="2026-01-02T00:00:00.000000+00:00",
        version=7,
        added_id="event",
        chunk_count=10_000,
        bits={step: (1 << 10_000) - 1 - (1 << n) for n, step in enumerate(STEPS)},
        failures=(
            Failure("merger", "merged", 3, "no"),
            Failure("query", "extracted", None, "no", cause="event"),
        ),
        deleted=5,
        sequence=99,
        text_warnings=("2 pictures were left out", "a.b$c"),
        chunk_warnings={"the answer had no rows. $1": (1 << 10_000) - 1, "cut": 0},
    )
    await filled(documents, partition, status)
    ((result, _),) = (await documents.get(partition, [status.id])).values()
    assert result == status
    assert (await documents.page(partition, Listing(limit=1))).documents == [status]


async def test_only_those_that_exist_are_found(documents: Documents, partition: Partition) -> None:
    await filled(documents, partition, DocumentStatus("a"), DocumentStatus("b"))
    assert set(await documents.get(partition, ["a", "c", "a"])) == {"a"}
    assert await documents.get(partition, []) == {}
    assert await documents.get(Partition(partition.workspace, 2), ["a"]) == {}


async def test_existing_documents_are_changed_and_the_revision_tells(
    documents: Documents, partition: Partition
) -> None:
    await filled(documents, partition, DocumentStatus("a"), DocumentStatus("b"))
    before = await documents.get(partition, ["a", "b"])
    ids: list[set[str]] = []

    def change(statuses: Mapping[str, DocumentStatus]) -> list[DocumentStatus]:
        ids.append(set(statuses))
        return [replace(statuses["a"], length=2), DocumentStatus("c")]

    statuses = await documents.update(partition, ["a", "b", "c"], change)
    assert {status.id: status.length for status in statuses} == {"a": 2, "c": 0}
    after = await documents.get(partition, ["a", "b", "c"])
    assert ids == [{"a", "b"}]
    assert {id: status.length for id, (status, _) in after.items()} == {"a": 2, "b": 0, "c": 0}
    assert (after["a"][1] > before["a"][1], after["b"][1] == before["b"][1]) == (True, True)
    assert await documents.update(partition, [], lambda _: []) == []


async def test_of_many_writers_at_once_none_is_lost(
    documents: Documents, partition: Partition
) -> None:
    await filled(documents, partition, DocumentStatus("a"))

    def add_one(statuses: Mapping[str, DocumentStatus]) -> list[DocumentStatus]:
        return [replace(status, length=status.length + 1) for status in statuses.values()]

    await asyncio.gather(*(documents.update(partition, ["a"], add_one) for _ in range(20)))
    ((status, _),) = (await documents.get(partition, ["a"])).values()
    assert status.length == 20


@pytest.mark.parametrize("order", ["id", "file_path", "created_at", "updated_at"])
async def test_pages_are_in_the_order_that_was_asked_for(
    documents: Documents, partition: Partition, order: str
) -> None:
    for number, id in enumerate("bdac"):
        values = {
            "id": id,
            "file_path": f"{id}.txt",
            "created_at": f"2026-{id}",
            "updated_at": f"2027-{id}",
        }
        await filled(documents, partition, DocumentStatus(**{**values, "version": number}))  # type: ignore[arg-type]
    assert await ids(documents, partition, order=order) == ["a", "b", "c", "d"]
    assert await ids(documents, partition, order=order, descending=True) == ["d", "c", "b", "a"]
    assert await ids(documents, partition, order=order, skip=1, limit=2) == ["b", "c"]
    assert await ids(documents, partition, order=order, skip=9) == []


async def test_pages_and_counts_go_by_status(documents: Documents, partition: Partition) -> None:
    await filled(
        documents,
        partition,
        DocumentStatus("a"),
        DocumentStatus("b", **PROCESSED),
        DocumentStatus("c", **FAILED),
        DocumentStatus("d", **PROCESSED),
    )
    assert await ids(documents, partition, statuses=["processed"]) == ["b", "d"]
    assert await ids(documents, partition, statuses=["failed", "pending"]) == ["a", "c"]
    assert await ids(documents, partition, statuses=["deleting"]) == []
    page = await documents.page(partition, Listing(statuses=["processed"], limit=1))
    assert (len(page.documents), page.total) == (1, 2)
    assert await documents.counts(partition) == {"pending": 1, "processed": 2, "failed": 1}


async def test_documents_are_found_by_a_part_of_their_name(
    documents: Documents, partition: Partition
) -> None:
    names = {"a": "Shelf/Harbour Office.pdf", "b": "harbours.md", "c": "Fähre/ÜBER 100%_x.md"}
    await filled(
        documents, partition, *(DocumentStatus(id, file_path=name) for id, name in names.items())
    )
    assert await ids(documents, partition, names=("HARBOUR",)) == ["a", "b"]
    assert await ids(documents, partition, names=("über 100%_",)) == ["c"]
    assert [
        await ids(documents, partition, names=(text,)) for text in (".*", "e%o", "e_o", "elsewhere")
    ] == [[]] * 4
    page = await documents.page(
        partition, Listing(names=("harbour",), order="file_path", descending=True, limit=1)
    )
    assert ([status.id for status in page.documents], page.total) == (["b"], 2)
    assert await ids(documents, partition, names=("harbour",), statuses=["failed"]) == []


async def test_documents_are_found_by_their_ids_and_by_their_names(
    documents: Documents, partition: Partition
) -> None:
    names = {"a": "port.md", "b": "port.md", "c": "Port.md", "d": "sea.md"}
    statuses = [DocumentStatus(id, file_path=name) for id, name in names.items()]
    await filled(documents, partition, *statuses[:3], replace(statuses[3], **PROCESSED))
    assert await ids(documents, partition, ids=["d", "a", "port.md"]) == ["a", "d"]
    assert await ids(documents, partition, ids=["d", "a"], order="file_path") == ["a", "d"]
    assert await ids(documents, partition, file_paths=["port.md", "d"]) == ["a", "b"]
    assert await ids(documents, partition, file_paths=["port.md"], statuses=["processed"]) == []
    page = await documents.page(
        partition, Listing(file_paths=["port.md", "sea.md"], order="updated_at", limit=1)
    )
    assert (len(page.documents), page.total) == (1, 3)


async def test_a_changed_status_is_counted_where_it_is_now(
    documents: Documents, partition: Partition
) -> None:
    await filled(documents, partition, DocumentStatus("a"))
    await documents.update(partition, ["a"], lambda statuses: [replace(statuses["a"], **PROCESSED)])
    assert await documents.counts(partition) == {"processed": 1}
    assert await documents.counts(Partition(partition.workspace, 2)) == {}


async def test_the_newest_change_is_known_whatever_there_is(
    documents: Documents, partition: Partition
) -> None:
    assert await documents.newest_change(partition) == ("", 0)
    await filled(
        documents,
        partition,
        DocumentStatus("a", updated_at="2026-03-02", version=9),
        DocumentStatus("b", updated_at="2026-03-04", version=5, deleted=8),
    )
    assert await documents.newest_change(partition) == ("2026-03-04", 9)


async def test_the_oldest_document_that_is_worked_on_is_known(
    documents: Documents, partition: Partition
) -> None:
    assert await documents.oldest_unsettled(partition) is None
    await filled(
        documents,
        partition,
        DocumentStatus("done", version=1, **PROCESSED),
        DocumentStatus("no", version=2, **FAILED),
        DocumentStatus("new", version=30, added=300),
        DocumentStatus("old", version=4, added=40),
    )
    assert await documents.oldest_unsettled(partition) == 40
    # By a clock that is behind.
    await filled(documents, partition, DocumentStatus("later", version=31, added=35))
    assert await documents.oldest_unsettled(partition) == 35


async def test_documents_are_found_by_their_track(
    documents: Documents, partition: Partition
) -> None:
    await filled(
        documents,
        partition,
        DocumentStatus("b", track_id="t"),
        DocumentStatus("a", track_id="t"),
        DocumentStatus("c", track_id="u"),
        DocumentStatus("d"),
    )
    assert [status.id for status in await documents.by_track_id(partition, "t")] == ["a", "b"]
    assert await documents.by_track_id(partition, "nobody's") == []


def passage(id: str, content: str, version: int = 1) -> Passage:
    return Passage(id, "d", 0, content, "d.txt", headings=("h1", "h2"), tokens=3, version=version)


async def test_passages_come_back_as_they_were_put(
    passages: Passages, partition: Partition
) -> None:
    located = replace(passage("d-chunk-002", "three"), start=7, end=12, page=3)
    rows_put = [
        passage("d-chunk-000", "文 one"),
        passage("A Document.pdf-chunk-001", "two"),
        located,
    ]
    for _ in range(2):
        await passages.put(partition, rows_put)
    assert await passages.get(partition, [passage.id for passage in rows_put] + ["none"]) == {
        row.id: row for row in rows_put
    }
    assert await passages.get(partition, []) == {}
    await passages.put(partition, [])


async def test_the_newest_version_of_a_passage_stands(
    passages: Passages, partition: Partition
) -> None:
    for version, content in ((2, "two"), (3, "three"), (1, "one")):
        await passages.put(partition, [passage("c", content, version)])
    assert (await passages.get(partition, ["c"]))["c"].content == "three"


async def test_a_document_leads_to_those_that_may_supersede_it(
    documents: Documents, partition: Partition
) -> None:
    validity = Validity(supersedes=("old", "older/\u00e4"))
    state = DocumentStatus("new", version=1, sequence=5, version_validity=validity, **PROCESSED)
    await documents.record_supersessions(partition, [state, DocumentStatus("plain", version=1)])
    asked_ids = ["old", "older/\u00e4", "new", "plain", "unknown"]
    assert await documents.related_by_validity(partition, asked_ids) == {
        "old": {"new"},
        "older/\u00e4": {"new"},
        "new": {"new"},
    }
    # An older state that arrives late changes nothing, a newer one does.
    await documents.record_supersessions(
        partition, [replace(state, version_validity=None, sequence=4)]
    )
    assert "old" in await documents.related_by_validity(partition, asked_ids)
    await documents.record_supersessions(partition, [replace(state, deleted=6, sequence=6)])
    assert await documents.related_by_validity(partition, asked_ids) == {}


@pytest.mark.parametrize("tags", [None, (), ("port", "2026")])
async def test_the_tags_of_a_document_are_read_as_they_were_written(
    documents: Documents, partition: Partition, tags: tuple[str, ...] | None
) -> None:
    state = DocumentStatus("a", tags=tags, tags_set=0 if tags is None else 3)
    await filled(documents, partition, state)
    assert (await documents.get(partition, ["a"]))["a"][0] == state


async def test_the_validity_of_a_document_is_read_as_it_was_written(
    documents: Documents, partition: Partition
) -> None:
    noon = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
    own_validity = Validity(valid_from=noon, supersedes=("old",), authority=-3)
    for stated in (None, Validity()):
        state = DocumentStatus(
            "a", version_validity=own_validity, stated_validity=stated, statement=3
        )
        await filled(documents, partition, state)
        assert (await documents.get(partition, ["a"]))["a"][0] == state
