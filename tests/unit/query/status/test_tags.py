"""The tags that somebody gives a document, in any order of events."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import permutations

import pytest

from contracts.events import DocumentDeleted, Event, TagsChanged
from services.query.status.document_status import DocumentStatus
from services.query.status.folding import RecordedEvent, apply
from services.query.status.scope import Scope
from tests.support.events import NOON, added


def tagged(*tags: str) -> TagsChanged:
    return TagsChanged(document_id="d", tags=tags)


def folded(order: tuple[int, ...], events: Sequence[Event]) -> DocumentStatus:
    """The document's state after these events, in this order of arrival."""
    status: DocumentStatus | None = None
    for place in order:
        at = NOON + timedelta(seconds=place)
        id = f"event-{place}"
        status = apply(status, RecordedEvent(events[place], id, id, place + 1, at))
    assert status is not None
    return status


@pytest.mark.parametrize(
    ("events", "tags"),
    [
        ([added("d", "one", metadata={"tags": "old"})], "old"),
        ([added("d", "one", metadata={"tags": "old"}), tagged("new", "2026")], "new, 2026"),
        ([added("d", "one", metadata={"tags": "old"}), tagged()], None),
        ([added("d", "one"), tagged("a"), tagged("b"), added("d", "two")], "b"),
        ([added("d", "one"), tagged("a"), DocumentDeleted(document_id="d")], None),
        (
            [added("d", "one"), tagged("a"), DocumentDeleted(document_id="d"), added("d", "two")],
            None,
        ),
    ],
)
def test_tags_given_last_since_a_deletion_count(events: list[Event], tags: str | None) -> None:
    states = [folded(order, events) for order in permutations(range(len(events)))]
    assert {state.current_metadata.get("tags") for state in states} == {tags}
    assert len({state.tags for state in states}) == 1


def test_a_question_asks_for_the_tags_that_were_given() -> None:
    events = [added("d", "one", metadata={"tags": "old"}), tagged("new")]
    state = folded((0, 1), events)
    assert Scope(tags=("new",)).admits(state)
    assert not Scope(tags=("old",)).admits(state)
