"""The status projection over a store in memory."""

import asyncio
from random import Random
from typing import Any

import pytest

from contracts.events import DocumentDeleted, GraphEdited, StageFailed
from contracts.graph import Generations, Partition
from contracts.subjects import token
from runtime.bus.event_summary import short_text
from runtime.bus.port import Delivery
from runtime.errors import Poison, Unavailable
from runtime.stores.documents.port import Table
from services.query.status.document_status import DocumentStatus
from services.query.status.port import Listing
from services.query.status.projection import on_events
from tests.support.events import (
    NOON,
    added,
    chunked,
    delivered,
    document,
    extracted,
    indexed,
    merged,
    sealed,
)
from tests.support.processors import bench
from tests.support.querying import LIVE, QueryHarness
from tests.support.shares import share

SPACE = Partition("w", 1)


def life(name: str, chunks: int, version: int = 1, workspace: str = "w") -> list[Delivery[Any]]:
    of = document(name, version, file_path=f"{name}.txt")
    orders = range(chunks)
    events = [
        added(name, "text"),
        chunked(of, *(f"passage {order}" for order in orders)),
        *(extracted(of, order) for order in orders),
        merged(of, *orders),
        indexed(of, "chunks", *orders),
        indexed(of, "graph", *orders),
    ]
    correlation = f"{name}-{version}"
    return [
        delivered(
            event,
            version + n,
            id=correlation if not n else "",
            workspace=workspace,
            correlation=correlation,
        )
        for n, event in enumerate(events)
    ]


def stores(harness: QueryHarness) -> dict[str, Any]:
    """What the projection writes to."""
    return {"documents": harness.documents, "passages": harness.passages, "ledger": harness.ledger}


async def states(harness: QueryHarness, partition: Partition = SPACE) -> dict[str, Any]:
    page = await harness.documents.page(partition, Listing())
    return {status.id: status for status in page.documents}


async def test_a_document_goes_from_pending_to_processed() -> None:
    harness = QueryHarness()
    statuses = []
    for delivery in life("d", 2):
        await harness.project(delivery)
        statuses.append((await states(harness))["d"].status)
    assert statuses == ["pending", *["processing"] * 5, "processed"]


async def test_events_give_rise_to_no_events() -> None:
    harness = QueryHarness()
    batch = life("d", 1)
    assert await on_events(batch, LIVE, **stores(harness)) == [[] for _ in batch]


@pytest.mark.parametrize("seed", share(range(8), daily=5))
async def test_batches_of_any_size_and_order_and_repetition_give_the_same_states(seed: int) -> None:
    r = Random(seed)
    events = [*life("a", 3), *life("b", 2), *life("a", 1, version=100)]
    ordered_harness = QueryHarness()
    shuffled_harness = QueryHarness()
    await ordered_harness.project(*events)
    arrivals = events + r.choices(events, k=10)
    r.shuffle(arrivals)
    while arrivals:
        size = r.randint(1, 7)
        await shuffled_harness.project(*arrivals[:size])
        del arrivals[:size]
    assert await states(shuffled_harness) == await states(ordered_harness)
    passages = [f"{name}-chunk-{n:03d}" for name in "ab" for n in range(3)]
    assert await shuffled_harness.passages.get(
        SPACE, passages
    ) == await ordered_harness.passages.get(SPACE, passages)


async def test_passages_can_be_read_before_a_document_counts_them() -> None:
    harness = QueryHarness()

    async def down(*_: Any) -> Any:
        raise Unavailable("no")

    harness.passages.put = down  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        await harness.project(*life("d", 2))
    assert await states(harness) == {}


async def test_workspaces_and_generations_never_mix() -> None:
    harness = QueryHarness()
    await harness.project(*life("d", 1, workspace="one"), *life("d", 1, workspace="two"))
    assert (
        set(await states(harness, Partition("one", 1)))
        == set(await states(harness, Partition("two", 1)))
        == {"d"}
    )
    await on_events(
        life("e", 1),
        Generations(status=2),
        documents=harness.documents,
        passages=harness.passages,
        ledger=harness.ledger,
    )
    assert set(await states(harness, Partition("w", 2))) == {"e"}
    assert await states(harness) == {}


async def test_an_event_about_no_document_changes_nothing() -> None:
    harness = QueryHarness()
    edit = GraphEdited(operation="delete_entity", names=("A",))
    await harness.project(
        delivered(edit, 1),
        delivered(merged(document(), 0).model_copy(update={"document": None}), 2),
    )
    assert await states(harness) == {}


async def test_an_edit_that_was_given_up_is_in_the_log_and_no_document_also_after_a_rebuild() -> (
    None
):
    async def refuse(*_: Any) -> Any:
        raise Poison("this edit can never be made")

    harness = QueryHarness()
    table = bench(refuse, stage="merger", on="merger-edits")
    table.append(sealed(GraphEdited(operation="delete_entity", names=("A",)), id="edit"))
    await table.deliver()
    (failure,) = table.published("StageFailed")
    assert list(table.log.dead) == ["dead:1:merger-edits"]
    assert (failure.data.aggregate_id, "can never be made" in short_text(failure)) == (
        "_graph",
        True,
    )
    older_status = DocumentStatus("_graph")
    assert await harness.documents.update(SPACE, ["_graph"], lambda _: [older_status]), (
        "what an older version made of it"
    )
    events = [Delivery(failure, 2, 1, NOON)]
    await harness.project(*events)
    await on_events(events, Generations(status=2), **stores(harness))
    assert await states(harness, Partition("w", 2)) == {}


async def test_two_projectors_at_the_same_time_lose_nothing() -> None:
    harness = QueryHarness()
    events = life("d", 4)
    await asyncio.gather(*(harness.project(event) for event in (*events[4:], *events[:4])))
    assert (await states(harness))["d"].status == "processed"


async def test_a_batch_is_one_read_and_one_write_of_all_its_documents() -> None:
    harness = QueryHarness()
    updates: list[set[str]] = []
    update = harness.documents.update

    async def noted(partition: Partition, ids: Any, change: Any) -> Any:
        updates.append(set(ids))
        return await update(partition, ids, change)

    harness.documents.update = noted  # type: ignore[method-assign]
    await harness.project(*life("d", 3), *life("e", 2))
    assert updates == [{"d", "e"}]
    assert {id: state.status for id, state in (await states(harness)).items()} == {
        "d": "processed",
        "e": "processed",
    }


async def test_a_backlog_of_deletions_takes_one_read_and_one_removal_of_passages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = QueryHarness()
    names = [f"d{number}" for number in range(40)]
    for number, name in enumerate(names):
        await harness.project(*life(name, 2, version=number + 1))
    calls: list[str] = []
    delete_older = harness.rows.delete_older

    async def noted(table: Table, *arguments: Any) -> None:
        calls.append(table.name)
        await delete_older(table, *arguments)

    monkeypatch.setattr(harness.rows, "delete_older", noted)
    deletions = [
        delivered(DocumentDeleted(document_id=name), 1000 + number)
        for number, name in enumerate(names)
    ]
    await harness.project(*deletions)
    assert calls == ["chunks"]
    assert await harness.rows.scan(Table("chunks", SPACE)) == []


async def test_what_changes_nothing_is_not_written_again() -> None:
    harness = QueryHarness()
    await harness.project(*life("d", 2))
    ((_, before),) = (await harness.documents.get(SPACE, ["d"])).values()
    await harness.project(*life("d", 2))
    ((_, after),) = (await harness.documents.get(SPACE, ["d"])).values()
    assert after == before


async def test_a_failure_without_a_document_s_version_is_shown() -> None:
    harness = QueryHarness()
    failure = StageFailed(
        stage="chunker",
        document_id="d",
        cause_type="DocumentAdded",
        error_type="Undecodable",
        message="not JSON",
        attempt=1,
        retry_may_help=False,
    )
    await harness.project(delivered(failure, 3))
    state = (await states(harness))["d"]
    assert (state.status, state.open_failures[0].message) == ("failed", "not JSON")


async def test_a_passage_knows_where_it_stands() -> None:
    harness = QueryHarness()
    event = chunked(document("d"), "one", "two")
    place = {"start": 4, "end": 7, "page": 2, "page_breaks": (2,)}
    located_chunk = event.chunks[1].model_copy(update=place)
    await harness.project(
        delivered(event.model_copy(update={"chunks": (event.chunks[0], located_chunk)}))
    )
    result = await harness.passages.get(SPACE, ["d-chunk-000", "d-chunk-001"])
    assert [(p.start, p.end, p.page, p.page_breaks) for p in result.values()] == [
        (None, None, None, ()),
        (4, 7, 2, (2,)),
    ]


async def test_rows_of_older_and_newer_versions_can_be_read() -> None:
    harness = QueryHarness()
    row = {
        "id": "c",
        "document_id": "d",
        "order": 0,
        "content": "one",
        "file_path": "d.txt",
        "headings": ["h"],
        "tokens": 1,
        "version": 1,
    }
    await harness.rows.put(
        Table("chunks", SPACE), {token("c"): row, token("e"): {**row, "id": "e", "novelty": 1}}
    )
    result = await harness.passages.get(SPACE, ["c", "e"])
    assert {(p.id, p.content, p.headings, p.page) for p in result.values()} == {
        ("c", "one", ("h",), None),
        ("e", "one", ("h",), None),
    }
