"""An edit, a deletion and a new text are taken back by an event that compensates them."""

import pytest

from contracts.access import Access
from contracts.events import (
    AccessChanged,
    DocumentAdded,
    DocumentDeleted,
    Event,
    GraphEdited,
    SupersessionStated,
)
from contracts.graph_edits import EditedValues
from contracts.values import Validity
from runtime.bus.codec import decode
from runtime.bus.memory import MemoryLog
from runtime.errors import NotFound
from services.gateway.past.undo import Undo, Undoing
from services.query.errors import BadRequest, Conflict
from tests.support.events import added, chunked, document, sealed


class Desk:
    """A log, and somebody who undoes."""

    def __init__(self) -> None:
        self.log = MemoryLog()
        self.undo = Undo(self.log, "w", "ida", "a mistake")

    async def publish(self, event: Event, workspace: str = "w") -> int:
        return await self.log.publish(
            sealed(event, id=f"event-{len(self.log.messages)}", workspace=workspace)
        )

    async def edit(self, operation: str, *names: str, **fields: object) -> int:
        return await self.publish(
            GraphEdited.model_validate({"operation": operation, "names": names, **fields})
        )

    async def apply(self, sequence: int) -> tuple[int, Undoing]:
        """Undo, and return where the compensating event stands."""
        return len(self.log.messages) + 1, await self.undo.apply(sequence)

    def last(self) -> Event:
        message = self.log.messages[-1]
        return decode(message.data, message.subject, message.headers).data


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_an_edit_is_undone_by_its_sequence_and_an_undoing_too(desk: Desk) -> None:
    edit = await desk.edit("rename_entity", "Ada", target="Ada Marlow")
    undoing, report = await desk.apply(edit)
    assert (report.description, report.position > 0) == ("undo: rename entity 'Ada'", True)
    assert desk.last() == GraphEdited(
        operation="undo_edit",
        names=("Ada",),
        target="Ada Marlow",
        editor="ida",
        evidence="a mistake",
        undoes=edit,
    )
    with pytest.raises(Conflict, match=f"undone already, by {undoing}"):
        await desk.undo.apply(edit)
    await desk.apply(undoing)
    again, _ = await desk.apply(edit)
    assert again == 4


@pytest.mark.parametrize(
    "operation", ["accept_alias", "merge_entities", "reject_alias", "propose_alias"]
)
async def test_a_decision_on_an_alias_is_undone_as_such(desk: Desk, operation: str) -> None:
    decision = await desk.edit(operation, "A. M.", target="Ada")
    back, _ = await desk.apply(decision)
    assert desk.last() == GraphEdited(
        operation="undo_alias", names=("A. M.",), target="Ada", editor="ida", evidence="a mistake"
    )
    with pytest.raises(BadRequest, match="decide on the alias again"):
        await desk.undo.plan(back)


async def test_an_acceptance_that_was_taken_back_is_not_undone_again(desk: Desk) -> None:
    decision = await desk.edit("accept_alias", "A. M.", target="Ada")
    await desk.edit("undo_alias", "A. M.", target="Ada")
    with pytest.raises(Conflict, match="undone already"):
        await desk.undo.plan(decision)


async def test_a_deleted_document_is_added_again_as_it_was(desk: Desk) -> None:
    await desk.publish(added("d", "old"))
    await desk.publish(added("d", "new", metadata={"a": 1}, track_id="t"))
    deletion = await desk.publish(DocumentDeleted(document_id="d"))
    _, report = await desk.apply(deletion)
    assert desk.last() == added("d", "new", metadata={"a": 1}, track_id="t")
    assert (report.type, report.event.type_name()) == ("DocumentDeleted", "DocumentAdded")
    with pytest.raises(Conflict, match="added or deleted again since"):
        await desk.undo.plan(deletion)


async def test_a_new_text_gives_way_to_the_one_before(desk: Desk) -> None:
    first = await desk.publish(added("d", "old"))
    second = await desk.publish(added("d", "new"))
    with pytest.raises(Conflict):
        await desk.undo.plan(first)
    back, _ = await desk.apply(second)
    event = desk.last()
    assert isinstance(event, DocumentAdded) and event.text == "old"
    await desk.apply(back)
    event = desk.last()
    assert isinstance(event, DocumentAdded) and event.text == "new"


async def test_what_nothing_stood_before_cannot_be_undone(desk: Desk) -> None:
    await desk.publish(added("d", "deleted before"))
    await desk.publish(DocumentDeleted(document_id="d"))
    first = await desk.publish(added("d", "text"))
    with pytest.raises(BadRequest, match="to take it back, delete it"):
        await desk.undo.plan(first)
    deletion = await desk.publish(DocumentDeleted(document_id="nobody added this"))
    with pytest.raises(NotFound, match="no text of document"):
        await desk.undo.plan(deletion)


async def test_only_what_people_did_in_this_workspace_is_undone(desk: Desk) -> None:
    cut = await desk.publish(chunked(document("d"), "text"))
    elsewhere = await desk.publish(
        GraphEdited(operation="edit_entity", names=("Ada",), values=EditedValues(type="x")), "other"
    )
    with pytest.raises(BadRequest, match="a ChunksCreated cannot be undone"):
        await desk.undo.plan(cut)
    for sequence in (elsewhere, 99):
        with pytest.raises(NotFound, match=f"no event at sequence {sequence}"):
            await desk.undo.plan(sequence)
    assert len(desk.log.messages) == 2


async def test_what_was_stated_of_validity_is_as_it_was_before(desk: Desk) -> None:
    await desk.publish(added("new"))
    accepted_validity = Validity(supersedes=("old",))
    first_sequence = await desk.publish(
        SupersessionStated(document_id="new", validity=accepted_validity)
    )
    second_sequence = await desk.publish(SupersessionStated(document_id="new", validity=Validity()))
    with pytest.raises(Conflict, match="something else was stated"):
        await desk.undo.plan(first_sequence)
    undoing, report = await desk.apply(second_sequence)
    restored_statement = SupersessionStated(
        document_id="new", validity=accepted_validity, editor="ida", reason="a mistake"
    )
    assert (desk.last(), report.position > 0) == (restored_statement, True)
    assert report.description.endswith(f"what was stated at {first_sequence} holds again")
    await desk.apply(undoing)
    assert desk.last() == restored_statement.model_copy(update={"validity": Validity()})


async def test_the_first_statement_is_withdrawn_and_access_is_said_anew(desk: Desk) -> None:
    await desk.publish(added("new"))
    statement_sequence = await desk.publish(
        SupersessionStated(document_id="new", validity=Validity())
    )
    _, report = await desk.apply(statement_sequence)
    assert report.description.endswith("what was said when it was added holds again")
    assert desk.last() == SupersessionStated(document_id="new", editor="ida", reason="a mistake")
    access_sequence = await desk.publish(AccessChanged(document_id="new", access=Access(allow=())))
    with pytest.raises(BadRequest, match="say what holds now"):
        await desk.undo.plan(access_sequence)
    await desk.publish(DocumentDeleted(document_id="new"))
    with pytest.raises(Conflict, match="was deleted since"):
        await desk.undo.plan(statement_sequence)
