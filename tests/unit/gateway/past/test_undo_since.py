"""Everything behind a place of the log is taken back as one act, and what stays is named."""

import pytest

from contracts.events import DocumentAdded, DocumentDeleted, Event, GraphEdited
from runtime.bus.codec import decode
from runtime.bus.memory import MemoryLog
from services.gateway.past import undo_since
from services.gateway.past.undo import Undo
from services.gateway.past.undo_events import CommonUndoing
from services.gateway.past.undo_since import plan_since
from services.query.errors import TooLarge
from tests.support.events import added, sealed


class Desk:
    """A log of workspace `w`, and somebody who undoes."""

    def __init__(self) -> None:
        self.log = MemoryLog()
        self.undo = Undo(self.log, "w", "ida", "a bad afternoon")

    async def publish(self, event: Event, workspace: str = "w") -> int:
        return await self.log.publish(
            sealed(event, id=f"event-{len(self.log.messages)}", workspace=workspace)
        )

    async def edit(self, operation: str, *names: str, **more: object) -> int:
        fields = {"operation": operation, "names": names, **more}
        return await self.publish(GraphEdited.model_validate(fields))

    def events_behind(self, sequence: int) -> list[Event]:
        return [
            decode(message.data, message.subject, message.headers).data
            for message in self.log.messages
            if message.sequence > sequence
        ]


async def apply_since(undo: Undo, since: int) -> CommonUndoing:
    """Take back everything behind a sequence, as the route does."""
    return await (await plan_since(undo, since)).publish(undo)


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_edits_are_undone_newest_first_with_one_reason(desk: Desk) -> None:
    before = await desk.edit("delete_entity", "Ida")
    first = await desk.edit("rename_entity", "Ada", target="Ada Marlow")
    second = await desk.edit("accept_alias", "A. M.", target="Ada Marlow")
    undoing = await apply_since(desk.undo, before)
    assert [undone.sequence for undone in undoing.undoings] == [second, first]
    assert all(undone.position for undone in undoing.undoings)
    events = desk.events_behind(second)
    assert {
        (event.operation, event.undoes) for event in events if isinstance(event, GraphEdited)
    } == {
        ("undo_alias", None),
        ("undo_edit", first),
    }
    assert {event.evidence for event in events if isinstance(event, GraphEdited)} == {
        "a bad afternoon"
    }


async def test_a_repetition_finds_nothing_more_to_undo(desk: Desk) -> None:
    await desk.publish(added("d", "old"))
    place = await desk.publish(added("e", "text"))
    await desk.edit("rename_entity", "Ada", target="Ada Marlow")
    await desk.edit("accept_alias", "A. M.", target="Ada Marlow")
    await desk.publish(DocumentDeleted(document_id="d"))
    assert len((await apply_since(desk.undo, place)).undoings) == 3
    again = await plan_since(desk.undo, place)
    assert (again.undoings, again.remainders) == ((), ())


async def test_an_undoing_of_what_stood_at_the_place_is_undone_and_one_of_newer_edits_is_not(
    desk: Desk,
) -> None:
    old = await desk.edit("rename_entity", "Ada", target="Ada Marlow")
    old_undone = await desk.edit("undo_edit", "Ada", target="Ada Marlow", undoes=old)
    newer = await desk.edit("delete_entity", "Ida")
    await desk.edit("undo_edit", "Ida", undoes=newer)
    undoing = await plan_since(desk.undo, old)
    assert [undone.sequence for undone in undoing.undoings] == [old_undone]
    assert undoing.remainders == ()


async def test_documents_get_the_text_that_they_had_at_the_place(desk: Desk) -> None:
    await desk.publish(added("changed", "first"))
    await desk.publish(added("deleted", "text"))
    await desk.publish(added("the same", "text"))
    place = await desk.publish(added("changed", "second"))
    await desk.publish(added("changed", "third"))
    await desk.publish(DocumentDeleted(document_id="changed"))
    await desk.publish(added("changed", "fourth"))
    await desk.publish(DocumentDeleted(document_id="deleted"))
    await desk.publish(DocumentDeleted(document_id="the same"))
    end = await desk.publish(added("the same", "text"))
    undoing = await apply_since(desk.undo, place)
    restored_texts = {
        event.document_id: event.text
        for event in desk.events_behind(end)
        if isinstance(event, DocumentAdded)
    }
    assert restored_texts == {"changed": "second", "deleted": "text"}
    assert len(undoing.undoings) == 2


async def test_an_alias_that_was_in_force_stays_so_where_it_was_accepted_again(desk: Desk) -> None:
    place = await desk.edit("accept_alias", "A. M.", target="Ada")
    await desk.edit("undo_alias", "A. M.", target="Ada")
    await desk.edit("accept_alias", "A. M.", target="Ada")
    undoing = await plan_since(desk.undo, place)
    assert (undoing.undoings, undoing.remainders) == ((), ())


async def test_what_is_new_since_then_stays_and_is_named(desk: Desk) -> None:
    await desk.edit("accept_alias", "A. M.", target="Ada")
    place = await desk.publish(added("old", "text"))
    addition = await desk.publish(added("new", "text"))
    await desk.publish(added("gone again", "text"))
    await desk.publish(DocumentDeleted(document_id="gone again"))
    decision = await desk.edit("undo_alias", "A. M.", target="Ada")
    undoing = await apply_since(desk.undo, place)
    assert undoing.undoings == ()
    assert [(left.sequence, left.type) for left in undoing.remainders] == [
        (decision, "GraphEdited"),
        (addition, "DocumentAdded"),
    ]
    assert "to take it back, delete it" in undoing.remainders[1].reason


async def test_other_workspaces_are_left_alone(desk: Desk) -> None:
    place = await desk.publish(added("d", "text"))
    await desk.publish(added("d", "text"), workspace="other")
    await desk.publish(DocumentDeleted(document_id="d"), workspace="other")
    assert (await plan_since(desk.undo, place)).undoings == ()


async def test_too_many_events_are_refused_before_any_is_undone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(undo_since, "MAX_EVENTS", 2)
    for number in range(3):
        await desk.edit("delete_entity", f"Ida {number}")
    with pytest.raises(TooLarge, match="more than 2 events of type GraphEdited stand behind"):
        await apply_since(desk.undo, 0)
    assert len(desk.log.messages) == 3
