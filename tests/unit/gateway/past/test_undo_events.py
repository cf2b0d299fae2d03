"""Several events are taken back as one act, and what cannot be is named."""

from contracts.events import DocumentDeleted
from services.gateway.past.undo_events import plan_events
from tests.support.events import added
from tests.unit.gateway.past.test_undo_since import Desk, desk

__all__ = ["desk"]


async def test_named_events_and_deletions_are_undone_and_what_cannot_be_is_named(
    desk: Desk,
) -> None:
    for id in ("a", "b", "kept"):
        await desk.publish(added(id, f"text of {id}"))
    for id in ("a", "b"):
        await desk.publish(DocumentDeleted(document_id=id))
    rename = await desk.edit("rename_entity", "Ada", target="Ada Marlow")
    removal = await desk.edit("delete_entity", "Ida")
    plan = await plan_events(desk.undo, [rename, removal, 1], ["a", "b", "kept", "a"])
    end = desk.log.messages[-1].sequence
    undone = await plan.publish(desk.undo)
    assert [undoing.sequence for undoing in undone.undoings] == [removal, rename, 5, 4]
    assert all(undoing.position for undoing in undone.undoings)
    assert sorted(event.type_name() for event in desk.events_behind(end)) == [
        "DocumentAdded",
        "DocumentAdded",
        "GraphEdited",
        "GraphEdited",
    ]
    assert [(event.sequence, event.type) for event in undone.remainders] == [
        (1, "DocumentAdded"),
        (0, ""),
    ]
    assert "'kept' was not deleted" in undone.remainders[1].reason


async def test_a_repetition_undoes_nothing_twice(desk: Desk) -> None:
    await desk.publish(added("a", "text"))
    deletion = await desk.publish(DocumentDeleted(document_id="a"))
    edit = await desk.edit("delete_entity", "Ida")
    plan = await plan_events(desk.undo, [deletion, edit, edit], [])
    assert len((await plan.publish(desk.undo)).undoings) == 2
    again = await plan_events(desk.undo, [deletion, edit], [])
    assert again.undoings == ()
    assert all(
        "again since" in left.reason or "undone already" in left.reason for left in again.remainders
    )
