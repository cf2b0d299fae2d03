"""Warnings of a document: the same whatever the order of its events, and gone with a new version of
it.
"""

from collections.abc import Iterable
from datetime import timedelta
from itertools import permutations
from random import Random

from contracts.events import Event
from contracts.values import MAX_WARNING, MAX_WARNINGS, document_warnings
from services.query.status.document_status import DocumentStatus
from services.query.status.folding import RecordedEvent, apply
from tests.support.events import NOON, added, chunked, document, extracted, indexed

V1 = document("d", 1)
V2 = document("d", 100)
PICTURES = "2 pictures were left out"
NO_ROWS = "the answer of the model had no rows"
CUT = "text was cut"


def recorded(event: Event, sequence: int, version: int = 1) -> RecordedEvent:
    return RecordedEvent(
        event, f"id-{sequence}", f"added-{version}", sequence, NOON + timedelta(seconds=sequence)
    )


def folded(events: Iterable[RecordedEvent]) -> DocumentStatus:
    status: DocumentStatus | None = None
    for event in events:
        status = apply(status, event)
    assert status is not None
    return status


def life() -> list[RecordedEvent]:
    return [
        RecordedEvent(added("d", warnings=(PICTURES,)), "added-1", "added-1", 1, NOON),
        recorded(chunked(V1, "one", "two", "three"), 2),
        recorded(extracted(V1, 0, warnings=[NO_ROWS]), 3),
        recorded(extracted(V1, 1), 4),
        recorded(extracted(V1, 2, warnings=[NO_ROWS]), 5),
        recorded(indexed(V1, "chunks", 0, 1, 2).model_copy(update={"warnings": (CUT,)}), 6),
    ]


def test_warnings_of_all_stages_are_shown_with_the_number_of_chunks_they_are_about() -> None:
    assert folded(life()).warnings == (PICTURES, CUT, f"{NO_ROWS} (2 of 3 chunks)")


def test_the_order_of_events_and_repeats_change_nothing() -> None:
    events = life()
    warnings = folded(events).warnings
    for order in permutations(events):
        assert folded([*order, *order[:2]]).warnings == warnings


def test_a_new_version_has_none_of_the_old_warnings() -> None:
    new_version = RecordedEvent(
        added("d", "another text"), "added-100", "added-100", 100, NOON + timedelta(seconds=100)
    )
    events = life()
    assert folded([*events, new_version]).warnings == ()
    assert folded([new_version, *events]).warnings == ()
    late_event = recorded(extracted(V1, 1, warnings=["late"]), 101)
    assert folded([*events, new_version, late_event]).warnings == ()


def test_a_version_that_is_known_by_its_chunks_only_shows_their_warnings() -> None:
    status = folded([*life(), recorded(extracted(V2, 3, warnings=[NO_ROWS]), 102, 100)])
    assert status.warnings == (f"{NO_ROWS} (1 chunk)",)


def test_of_many_warnings_the_same_are_kept_whatever_the_order() -> None:
    events = [
        recorded(
            extracted(V1, order, warnings=[f"kind {kind:02}" for kind in range(order, order + 15)]),
            order + 2,
        )
        for order in range(20)
    ]
    warnings = folded(events).chunk_warnings
    assert len(warnings) == MAX_WARNINGS
    assert warnings["kind 10"] == (1 << 11) - 1
    for seed in range(50):
        arrivals = list(events)
        Random(seed).shuffle(arrivals)
        assert folded(arrivals).chunk_warnings == warnings


def test_sentences_of_a_producer_become_distinct_lines_of_bounded_number_and_length() -> None:
    assert document_warnings(["a\n b", "a b", "", "\u202ec"]) == ("a b", "\ufffdc")
    assert len(document_warnings(["x" * 10_000])[0]) == MAX_WARNING
    lines = document_warnings(f"kind {number}" for number in range(MAX_WARNINGS + 5))
    assert lines[-1] == "6 more warnings"
    assert len(lines) == MAX_WARNINGS
