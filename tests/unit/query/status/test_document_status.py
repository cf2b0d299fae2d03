"""The state of a document: the same whatever the order of its events and however often they
come.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.events import DocumentAdded, DocumentDeleted, Event
from contracts.values import BlobRef, DocumentVersion
from services.query.status.document_status import DELETED, STATUSES, DocumentStatus
from services.query.status.folding import MAX_CAUSES, RecordedEvent, apply, summary_of
from tests.support.events import (
    NOON,
    added,
    chunked,
    derived,
    document,
    extracted,
    failed,
    indexed,
    merged,
)


def recorded(
    event: Event, sequence: int, *, correlation: str = "added-1", id: str = ""
) -> RecordedEvent:
    """One second of the log for each sequence."""
    name = id or (
        correlation
        if isinstance(event, DocumentAdded)
        else derived(f"{correlation}/{sequence}", event)
    )
    return RecordedEvent(event, name, correlation, sequence, NOON + timedelta(seconds=sequence))


def folded(events: Iterable[RecordedEvent]) -> DocumentStatus:
    status: DocumentStatus | None = None
    for event in events:
        status = apply(status, event)
    assert status is not None
    return status


def life(
    version: int, chunks: int, *, missing_steps: Sequence[tuple[str, int]] = ()
) -> list[RecordedEvent]:
    """Everything about one version with this many chunks, but for the missing (step, order)."""
    of = document("d", version)
    orders = list(range(chunks))
    events: list[Event] = [
        added("d", f"text of version {version}"),
        chunked(of, *(f"passage {o}" for o in orders)),
    ]
    for order in orders:
        steps: dict[str, Event] = {
            "extracted": extracted(of, order),
            "merged": merged(of, order),
            "embedded": indexed(of, "chunks", order),
            "indexed": indexed(of, "graph", order),
        }
        events += [event for step, event in steps.items() if (step, order) not in missing_steps]
    return [
        recorded(event, version + n, correlation=f"added-{version}")
        for n, event in enumerate(events)
    ]


def failure(
    stage: str, cause_type: str, of: DocumentVersion | None, *orders: int, sequence: int = 90
) -> RecordedEvent:
    correlation = f"added-{of.version}" if of else "added-1"
    return recorded(failed(stage, cause_type, of, *orders), sequence, correlation=correlation)


V1 = document("d", 1)
V2 = document("d", 100)


def test_a_document_is_pending_until_it_is_cut() -> None:
    assert folded(life(1, 2)[:1]).status == "pending"


def test_a_document_is_processed_when_every_chunk_has_gone_through_every_step() -> None:
    events = life(1, 3)
    states = [folded(events[:n]).status for n in range(2, len(events) + 1)]
    assert set(states[:-1]) == {"processing"}
    assert states[-1] == "processed"


@pytest.mark.parametrize("step", ["extracted", "merged", "embedded", "indexed"])
def test_each_step_of_each_chunk_is_needed(step: str) -> None:
    status = folded(life(1, 3, missing_steps=[(step, 1)]))
    assert status.status == "processing"
    assert status.done(step) == 2


@pytest.mark.parametrize(
    ("stage", "cause_type", "steps"),
    [
        ("extractor", "ChunksCreated", ["extracted", "merged", "indexed"]),
        ("merger", "EntitiesExtracted", ["merged", "indexed"]),
        ("indexer", "GraphMerged", ["indexed"]),
        ("indexer", "ChunksCreated", ["embedded"]),
    ],
)
def test_a_document_with_a_failed_chunk_is_partial_when_the_others_are_done(
    stage: str, cause_type: str, steps: list[str]
) -> None:
    events = [
        *life(1, 3, missing_steps=[(step, 1) for step in steps]),
        failure(stage, cause_type, V1, 1),
    ]
    status = folded(events)
    assert status.status == "partial"
    assert [(f.stage, f.order) for f in status.open_failures] == [(stage, 1)]


def test_a_document_with_a_failed_chunk_is_processing_while_others_are_under_way() -> None:
    events = [
        *life(
            1, 3, missing_steps=[("extracted", 1), ("merged", 1), ("indexed", 1), ("indexed", 2)]
        ),
        failure("extractor", "ChunksCreated", V1, 1),
    ]
    assert folded(events).status == "processing"


def test_a_document_whose_every_chunk_failed_is_failed() -> None:
    missing_steps = [
        (step, order) for step in ("extracted", "merged", "indexed") for order in (0, 1)
    ]
    events = [
        *life(1, 2, missing_steps=missing_steps),
        failure("extractor", "ChunksCreated", V1, 0, 1),
    ]
    assert folded(events).status == "failed"


def test_a_later_success_heals_a_failed_chunk() -> None:
    status = folded([*life(1, 2), failure("extractor", "ChunksCreated", V1, 1, sequence=3)])
    assert status.status == "processed"
    assert status.open_failures == ()


def test_a_document_that_cannot_be_cut_is_failed_and_says_why() -> None:
    status = folded([life(1, 1)[0], failure("chunker", "DocumentAdded", V1)])
    assert status.status == "failed"
    assert status.open_failures[0].message == "no"


def test_a_document_that_could_be_cut_after_all_shows_its_progress_and_no_failure() -> None:
    events = life(1, 2)
    for upto, expected_status in ((3, "processing"), (len(events), "processed")):
        status = folded([events[0], failure("chunker", "DocumentAdded", V1), *events[1:upto]])
        assert (status.status, status.open_failures) == (expected_status, ())


def test_a_failure_without_a_version_counts_for_the_document_that_began_it() -> None:
    events = life(1, 2, missing_steps=[("extracted", 0), ("merged", 0), ("indexed", 0)])
    assert folded([*events, failure("extractor", "ChunksCreated", None)]).status == "partial"
    foreign = recorded(failed("extractor", "ChunksCreated", None), 90, correlation="somebody else")
    assert folded([*events, foreign]).status == "processing"


def test_what_cannot_be_read_at_all_makes_a_failed_document() -> None:
    status = folded([failure("chunker", "DocumentAdded", None)])
    assert (status.id, status.status) == ("d", "failed")


@pytest.mark.parametrize("stage", ["merger", "indexer", "query"])
@pytest.mark.parametrize(
    ("id", "cause"),
    [
        ("_graph", "GraphEdited"),
        ("_graph", "GraphMerged"),
        ("_graph", "VectorsIndexed"),
        ("_graph", "Nonsense"),
        ("_sum-0a1b2c3d4e5f", "DescriptionSummarized"),
        ("whatever-a-foreign-subject-says", "GraphEdited"),
    ],
)
def test_a_failure_of_a_graph_event_is_no_document(stage: str, id: str, cause: str) -> None:
    event = failed(stage, cause, None, id=id)
    assert event.of_graph
    assert apply(None, recorded(event, 5, correlation="edit-1")) is None


def test_a_failure_of_what_a_document_changed_in_the_graph_is_the_document_s() -> None:
    events = life(1, 1, missing_steps=[("indexed", 0)])
    assert folded([*events, failure("indexer", "GraphMerged", V1, 0)]).status == "failed"
    unreadable = failed("indexer", "GraphMerged", None)
    assert not unreadable.of_graph
    odd = failed("chunker", "DocumentAdded", None, id="_graph")
    status = apply(None, recorded(odd, 5))
    assert status and (status.id, status.status) == ("_graph", "failed"), (
        "a document may be called that"
    )


def test_a_new_version_begins_anew() -> None:
    events = [
        *life(1, 3, missing_steps=[("extracted", 1)]),
        failure("extractor", "ChunksCreated", V1, 1, sequence=50),
    ]
    status = folded([*events, *life(100, 2)[:2]])
    assert (status.version, status.status, status.chunk_count) == (100, "processing", 2)
    assert status.open_failures == ()
    assert status.summary == "text of version 100"
    assert status.created_at == (NOON + timedelta(seconds=1)).isoformat(timespec="microseconds")


def test_events_of_an_older_version_change_nothing_but_the_times() -> None:
    status = folded([*life(100, 2), *life(1, 3)])
    assert (status.version, status.status, status.chunk_count) == (100, "processed", 2)


def test_a_deleted_document_is_deleting_until_it_is_added_again() -> None:
    deletion = recorded(DocumentDeleted(document_id="d"), 60, correlation="deletion")
    assert folded([*life(1, 2), deletion]).status == "deleting"
    assert folded([*life(1, 2), deletion, *life(100, 2)[:1]]).status == "pending"
    assert folded([deletion, *life(1, 2)]).status == "deleting"


def test_a_document_added_twice_with_one_id_is_one_version() -> None:
    events = life(1, 2)
    again = recorded(events[0].event, 70, id=events[0].id)
    assert folded([*events, again]).status == "processed"


def test_a_beginning_that_a_publisher_named_otherwise_changes_nothing() -> None:
    events = [
        RecordedEvent(f.event, f.id, "batch-7", f.sequence, f.recorded_at)
        for f in [*life(1, 2), *life(100, 1)]
    ]
    forth = folded(events)
    back = folded(reversed(events))
    assert forth == back
    assert (forth.status, forth.version) == ("processed", 100)


def test_garbage_cannot_make_a_state_grow_without_end() -> None:
    events = [
        recorded(failed("query", "DocumentAdded", None), n, correlation=f"log-{n}")
        for n in range(200)
    ]
    assert len(folded(events).failures) == MAX_CAUSES


def test_the_summary_is_the_text_s_beginning_or_the_first_passage_s() -> None:
    blob = DocumentAdded(document_id="d", blob=BlobRef(sha256="0" * 64, size=400_000, parts=1))
    events = [recorded(blob, 1), recorded(chunked(V1, "first passage", "second"), 2)]
    status = folded(events)
    assert (status.summary, status.length) == ("first passage", 400_000)
    assert summary_of("x" * 251) == "x" * 250 + "..."
    assert summary_of(" " + "x" * 250) == "x" * 250


def test_a_document_of_thousands_of_chunks_stays_small() -> None:
    of = document("d", 1)
    status = folded([recorded(merged(of, *range(10_000)), 2)])
    assert status.done("merged") == 10_000
    assert status.bits["merged"].bit_length() == 10_000


def world(r: Random) -> list[RecordedEvent]:
    """Events about two versions, with failures of every kind, a deletion, and some of them
    missing.
    """
    events = [*life(1, 3), *life(100, 2)]
    events += [
        failure("extractor", "ChunksCreated", V1, 1, sequence=40),
        failure("merger", "EntitiesExtracted", V2, 0, sequence=140),
        failure("chunker", "DocumentAdded", V2, sequence=150),
        failure("indexer", "GraphMerged", None, sequence=151),
        recorded(failed("chunker", "DocumentAdded", None), 152, correlation="added-100"),
        recorded(failed("query", "ChunksCreated", None), 153, correlation="log-7"),
        recorded(DocumentDeleted(document_id="d"), 50, correlation="deletion"),
        recorded(DocumentDeleted(document_id="d"), 160, correlation="deletion-2"),
    ]
    return r.sample(events, r.randint(1, len(events)))


@settings(max_examples=300)
@given(st.randoms(use_true_random=False))
def test_the_state_is_a_function_of_the_set_of_events(r: Random) -> None:
    events = world(r)
    again = events + r.choices(events, k=r.randint(0, 10))
    r.shuffle(again)
    status = folded(again)
    assert status == folded(events)
    assert status.status in STATUSES
    assert folded([*again, *again]) == status


def test_a_deletion_is_done_when_every_part_of_graph_and_chunks_is_gone() -> None:
    of = document("d", 50).model_copy(update={"deleted": True})
    removals = [
        indexed(of, "chunks"),
        indexed(of, "graph").model_copy(update={"part": 0, "parts": 2}),
        indexed(of, "graph").model_copy(update={"part": 1, "parts": 2}),
    ]
    for order in permutations([DocumentDeleted(document_id="d"), *removals]):
        state = None
        for place, event in enumerate(order, 1):
            state = apply(state, recorded(event, 50))
            assert state is not None
            assert state.status == (
                DELETED if all(removal in order[:place] for removal in removals) else "deleting"
            )


def test_a_document_added_after_its_deletion_is_there_again() -> None:
    of = document("d", 50).model_copy(update={"deleted": True})
    state = None
    for event, sequence in (
        (DocumentDeleted(document_id="d"), 50),
        (indexed(of, "chunks"), 51),
        (indexed(of, "graph"), 52),
        (added("d"), 60),
    ):
        state = apply(state, recorded(event, sequence))
    assert state is not None
    assert (state.status, state.version) == ("pending", 60)
