"""What a viewer sees is what the log says, whatever the projection has seen of it."""

import random
from datetime import timedelta

import pytest

from contracts.access import Access
from contracts.events import AccessChanged, DocumentAdded, DocumentDeleted, Event
from contracts.graph import Generations, Partition
from runtime.bus.memory import MemoryLog
from runtime.stores.documents.port import Table
from services.query.status.document_status import DocumentStatus
from services.query.status.folding import RecordedEvent, apply
from services.query.visibility.followed_log import FollowedVisibility
from services.query.visibility.viewer import Viewer
from tests.support.events import (
    NOON,
    added,
    chunked,
    delivered,
    document,
    extracted,
    failed,
    indexed,
    merged,
    sealed,
)
from tests.support.querying import QueryHarness

LEGAL = Access(allow=("group:legal",))
NOT_BO = Access(deny=("user:bo",))
BO = Viewer(("group:legal", "user:bo"))
PARTITION = Partition("w", Generations().status)


async def publish(harness: QueryHarness, event: Event, *, is_projected: bool = True) -> None:
    """Append an event, and let the projection see it."""
    number = len(harness.log.messages) + 1
    envelope = sealed(event, id=f"{number}", workspace="w")
    sequence = await harness.log.publish(envelope)
    if is_projected:
        await harness.project(delivered(event, sequence, workspace="w", id=f"{number}"))


async def test_the_log_hides_before_the_projection_knows() -> None:
    harness = QueryHarness()
    await publish(harness, added("a"))
    visible = await harness.visibility.of("w", BO)
    assert (visible.ids, visible.hides, visible.restriction) == ({"a"}, False, None)
    change = AccessChanged(document_id="a", access=NOT_BO)
    await publish(harness, change, is_projected=False)
    visible_later = await harness.visibility.of("w", BO)
    assert (visible_later.ids, visible_later.restriction) == (set(), set())
    assert not visible.shows_no_more_than(visible_later)
    assert visible_later.shows_no_more_than(visible_later)
    assert (await harness.visibility.of("w", Viewer(("group:legal",)))).ids == {"a"}


async def test_a_new_text_keeps_who_may_see_it_and_a_deletion_forgets_it() -> None:
    harness = QueryHarness()
    await publish(harness, added("a", access=LEGAL))
    await publish(harness, added("a", "another text"))
    nobody = Viewer()
    assert (await harness.visibility.of("w", nobody)).ids == set()
    await publish(harness, DocumentDeleted(document_id="a"))
    assert (await harness.visibility.of("w", nobody)).hides is False
    await publish(harness, added("a"))
    # Of the text that was deleted something may be left.
    assert (await harness.visibility.of("w", nobody)).ids == set()
    await publish(harness, AccessChanged(document_id="a", access=None))
    assert (await harness.visibility.of("w", nobody)).ids == set()


async def test_a_new_text_for_fewer_hides_the_old_one_before_it_is_cut() -> None:
    harness = QueryHarness()
    await harness.index("a", "The old text.", version=1)
    await publish(harness, added("a", "The old text."), is_projected=False)
    nobody = Viewer()
    assert (await harness.visibility.of("w", nobody)).ids == {"a"}
    await publish(harness, added("a", "The new text.", access=LEGAL), is_projected=False)
    assert (await harness.passages.get(PARTITION, ["a-chunk-000"]))["a-chunk-000"].version == 1
    assert (await harness.visibility.of("w", nobody)).ids == set()
    assert (await harness.visibility.of("w", Viewer(("group:legal",)))).ids == {"a"}


async def test_a_new_text_of_which_a_part_failed_opens_nothing_of_the_old_one() -> None:
    harness = QueryHarness()
    await publish(harness, added("a", access=LEGAL))
    await publish(harness, added("a", "another text", access=Access()))
    new_text = document("a", 2)
    for event in (
        chunked(new_text, "one", "two"),
        extracted(new_text),
        failed("extractor", "ChunksCreated", new_text, 1),
        merged(new_text, 0),
        indexed(new_text, "graph", 0),
        indexed(new_text, "chunks", 0, 1),
    ):
        await publish(harness, event)
    status, _ = (await harness.documents.get(PARTITION, ["a"]))["a"]
    assert status.status == "partial"
    nobody = Viewer()
    assert (await harness.visibility.of("w", nobody)).ids == set()
    await publish(harness, AccessChanged(document_id="a", access=Access()))
    assert (await harness.visibility.of("w", nobody)).ids == {"a"}


def random_event(choice: random.Random) -> Event:
    """Any event that moves what is visible."""
    id = choice.choice("abc")
    access = choice.choice((None, LEGAL, NOT_BO, Access(allow=())))
    return choice.choice(
        (
            added(id, f"text {choice.random()}", access=access),
            added(id, f"text {choice.random()}"),
            AccessChanged(document_id=id, access=access),
            AccessChanged(document_id=id, access=access, newest_text_only=choice.random() < 0.5),
            DocumentDeleted(document_id=id),
        )
    )


def seen_in(events: list[Event], viewer: Viewer) -> set[str]:
    """What the viewer sees by the rules as the page states them, while every text is left that any
    document ever had.
    """
    newest_access: dict[str, Access | None] = {}
    texts: dict[str, list[Access | None]] = {}
    deleted_texts: dict[str, list[Access | None]] = {}
    for event in events:
        id = event.aggregate_id
        of_document = texts.setdefault(id, [])
        if isinstance(event, DocumentDeleted):
            newest_access.pop(id, None)
            deleted_texts.setdefault(id, []).extend(texts.pop(id))
        elif isinstance(event, DocumentAdded):
            newest_access[id] = event.access or newest_access.get(id)
            of_document.append(newest_access[id])
        elif isinstance(event, AccessChanged):
            newest_access[id] = event.access
            concerned = slice(-1, None) if event.newest_text_only else slice(None)
            of_document[concerned] = [event.access] * len(of_document[concerned])
    principals = {*viewer.principals, "everyone"}
    return {
        id
        for id in present_in(events)
        if all(
            access is None or (not principals & {*access.deny} and principals & {*access.allow})
            for access in (*texts[id], *deleted_texts.get(id, ()))
        )
    }


def present_in(events: list[Event]) -> set[str]:
    """The documents that are there."""
    newest = {event.aggregate_id: event for event in events if not isinstance(event, AccessChanged)}
    return {id for id, event in newest.items() if isinstance(event, DocumentAdded)}


@pytest.mark.parametrize("seed", range(20))
async def test_any_history_shows_the_same_from_any_moment_on(seed: int) -> None:
    choice = random.Random(seed)
    harness, history = QueryHarness(), list[Event]()
    for _ in range(30):
        event = random_event(choice)
        history.append(event)
        await publish(harness, event, is_projected=choice.random() < 0.7)
        second_visibility = FollowedVisibility(harness.log, harness.pointers, harness.documents)
        for viewer in (Viewer(), BO, Viewer(("group:legal",))):
            visible_ids = seen_in(history, viewer)
            if choice.random() < 0.5:
                assert (await harness.visibility.of("w", viewer)).ids == visible_ids
            # What the projection missed stands in the log, from which nothing was handled.
            assert (await second_visibility.of("w", viewer)).ids == visible_ids
            place = choice.randrange(len(history) + 1)
            past = await harness.visibility.history("w", viewer)
            ids = (await past.at(place)).ids & present_in(history[:place])
            assert ids == visible_ids & seen_in(history[:place], viewer)


@pytest.mark.parametrize("seed", range(10))
def test_the_status_is_the_same_in_any_order(seed: int) -> None:
    choice = random.Random(seed)
    events: list[Event] = [
        added("a", f"text {number}", access=choice.choice((None, LEGAL, NOT_BO)))
        if choice.random() < 0.5
        else choice.choice(
            (AccessChanged(document_id="a", access=LEGAL), DocumentDeleted(document_id="a"))
        )
        for number in range(8)
    ]
    records = [
        RecordedEvent(event, f"{number}", f"{number}", number, NOON + timedelta(seconds=number))
        for number, event in enumerate(events, 1)
    ]

    def fold(order: list[RecordedEvent]) -> DocumentStatus | None:
        state = None
        for record in order:
            state = apply(state, record)
        return state

    in_order = fold(records)
    for _ in range(5):
        choice.shuffle(records)
        status = fold(records)
        assert status and in_order
        assert (status.access, status.access_set) == (in_order.access, in_order.access_set)


async def test_rows_without_access_are_as_they_were() -> None:
    harness = QueryHarness(log=MemoryLog())
    await publish(harness, added("a"))
    await publish(harness, added("b", access=LEGAL))
    (plain_row,) = (await harness.documents.get(PARTITION, ["a"])).values()
    (legal_row,) = (await harness.documents.get(PARTITION, ["b"])).values()
    assert (plain_row[0].access, legal_row[0].access) == (None, LEGAL)
    rows = harness.rows
    table = [row for _, row in await rows.scan(Table("documents", PARTITION), "", 10)]
    assert [("access" in row) for row in sorted(table, key=lambda row: row["id"])] == [False, True]
