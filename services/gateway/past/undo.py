"""Takes back an edit of the graph, a deletion, a new text or a statement of validity, by publishing
the event that compensates it.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from contracts import subjects
from contracts.events import (
    AccessChanged,
    DocumentAdded,
    DocumentDeleted,
    Event,
    GraphEdited,
    SupersessionStated,
    TagsChanged,
)
from contracts.graph_edits import ALIAS_OPERATIONS
from contracts.moments import microseconds
from knowledge.edit import Edit, standing_edits, undone_edits
from publishing.documents import restore_document
from publishing.graph_edits import edit_graph
from publishing.statements import publish_statement
from runtime.bus.port import Log, Message
from runtime.errors import NotFound
from services.gateway.past.logged_edits import decoded_event, logged_edits
from services.query.errors import BadRequest, Conflict
from services.query.event_source import SOURCE

JOINING = ("accept_alias", "merge_entities")
"""Operations that give an entity further names."""


@dataclass(frozen=True)
class Undoing:
    """What takes an event back. `position`: when that was published, in microseconds since 1970; 0
    while it is not.
    """

    sequence: int
    type: str
    description: str
    event: Event
    position: int = 0


@dataclass(frozen=True)
class Undo:
    """Takes back events of one workspace in the name of a principal, with a reason."""

    log: Log
    workspace: str
    principal: str
    reason: str = ""

    async def plan(self, sequence: int) -> Undoing:
        """Return what would be published to take back the event at this sequence.

        Raises NotFound where the workspace has no event there, BadRequest for one that cannot be
        taken back, Conflict for one that was taken back already or that something newer has
        replaced.
        """
        event = await self.event_at(sequence)
        edits: Sequence[Edit] = ()
        if isinstance(event, GraphEdited):
            edits = await logged_edits(self.log, self.workspace, sequence - 1)
        return await self.plan_of(sequence, event, edits)

    async def plan_of(self, sequence: int, event: Event, edits: Sequence[Edit]) -> Undoing:
        """Return what `plan` does of an event that was read; `edits` are all of the graph from that
        sequence on.
        """
        match event:
            case GraphEdited():
                return self.plan_edit(edits[0], edits)
            case DocumentDeleted():
                return await self._undeleted(sequence, event.document_id)
            case DocumentAdded():
                return await self._with_text_before(sequence, event.document_id)
            case SupersessionStated():
                return await self._restated(sequence, event.document_id)
            case AccessChanged() | TagsChanged():
                raise BadRequest(
                    f"what was said of {event.document_id!r} is not undone: say what holds now"
                )
            case _:
                raise BadRequest(
                    f"a {event.type_name()} cannot be undone: it is not what a person did"
                )

    async def apply(self, sequence: int) -> Undoing:
        """Publish what `plan` returns. Raises what it raises, and Unavailable."""
        return await self.publish(await self.plan(sequence))

    async def publish(self, undoing: Undoing) -> Undoing:
        """Publish a plan, and return it with its position. Raises Unavailable."""
        if isinstance(undoing.event, GraphEdited):
            position = await edit_graph(
                self.log, workspace=self.workspace, edit=undoing.event, source=SOURCE
            )
        elif isinstance(undoing.event, SupersessionStated):
            position = await self._state(undoing.event)
        else:
            assert isinstance(undoing.event, DocumentAdded)
            added_document = await restore_document(
                self.log, workspace=self.workspace, event=undoing.event, source=SOURCE
            )
            position = added_document.at
        return replace(undoing, position=position)

    async def document_at(self, id: str, sequence: int) -> DocumentAdded | None:
        """Return what the document was at this sequence; None if there was none.

        Raises BadRequest where the log has it but it cannot be read.
        """
        additions = [
            message
            for message in await self._history(id, "DocumentAdded")
            if message.sequence <= sequence
        ]
        deletions = [
            message.sequence
            for message in await self._history(id, "DocumentDeleted")
            if message.sequence <= sequence
        ]
        if not additions or max(deletions, default=0) > additions[-1].sequence:
            return None
        event = decoded_event(additions[-1])
        assert isinstance(event, DocumentAdded)
        return event

    async def event_at(self, sequence: int) -> Event:
        """Return the event of the workspace there. Raises NotFound, and BadRequest where it cannot
        be read.
        """
        message = await self.log.following(sequence - 1, subjects.of_workspace(self.workspace))
        if message is None or message.sequence != sequence:
            raise NotFound(f"workspace {self.workspace!r} has no event at sequence {sequence}")
        return decoded_event(message)

    def plan_edit(self, edit: Edit, edits: Sequence[Edit]) -> Undoing:
        """Return what would be published to take back an edit; `edits` are all from that one on.

        Raises BadRequest and Conflict as `plan` does.
        """
        if edit.operation == "undo_alias":
            raise BadRequest("the undoing of an alias is not undone: decide on the alias again")
        sequence = edit.sequence
        by = undone_edits(edits).get(sequence)
        summary = f"{edit.operation.replace('_', ' ')} {', '.join(map(repr, edit.names))}"
        standing_sequences = {edit.sequence for edit in standing_edits(edits)}
        if by or (edit.operation in JOINING and sequence not in standing_sequences):
            raise Conflict(
                f"sequence {sequence} ({summary}) is undone already{f', by {by}' if by else ''}"
            )
        is_alias = edit.operation in (*ALIAS_OPERATIONS, *JOINING)
        compensating = GraphEdited(
            operation="undo_alias" if is_alias else "undo_edit",
            names=edit.names,
            target=edit.target,
            editor=self.principal,
            evidence=self.reason,
            undoes=None if is_alias else sequence,
        )
        return Undoing(sequence, "GraphEdited", f"undo: {summary}", compensating)

    async def _undeleted(self, sequence: int, id: str) -> Undoing:
        """Return the newest text of a document that nothing has happened to since its deletion at a
        sequence. Two reads, however often it was added: many documents are deleted at once.
        """
        addition, deletion = await asyncio.gather(
            self.log.newest(self.workspace, id, "DocumentAdded"),
            self.log.newest(self.workspace, id, "DocumentDeleted"),
        )
        if any(message and message.sequence > sequence for message in (addition, deletion)):
            raise _changed_since(sequence, id, "deleted")
        if addition is None:
            raise NotFound(f"the log has no text of document {id!r} from before its deletion")
        return _restored(sequence, addition, "DocumentDeleted")

    async def _with_text_before(self, sequence: int, id: str) -> Undoing:
        """Return the text that a document had before the one that it was given at a sequence."""
        additions = await self._history(id, "DocumentAdded")
        deletions = [message.sequence for message in await self._history(id, "DocumentDeleted")]
        if any(place > sequence for place in (additions[-1].sequence, *deletions)):
            raise _changed_since(sequence, id, "added")
        before = [message for message in additions if message.sequence < sequence]
        if not before or before[-1].sequence < max(deletions, default=0):
            raise BadRequest(
                f"document {id!r} had no text before {sequence}: to take it back, delete it"
            )
        return _restored(sequence, before[-1], "DocumentAdded")

    async def _restated(self, sequence: int, id: str) -> Undoing:
        """Return the statement of validity before the one at a sequence; without any, that what the
        document was added with holds again.
        """
        statements = await self._history(id, "SupersessionStated")
        deletions = await self._history(id, "DocumentDeleted")
        if any(message.sequence > sequence for message in (*statements, *deletions)):
            raise Conflict(
                f"document {id!r} was deleted since {sequence}, or something else was stated of it"
            )
        last_deletion = deletions[-1].sequence if deletions else 0
        older_statements = [m for m in statements if last_deletion < m.sequence < sequence]
        event = decoded_event(older_statements[-1]) if older_statements else None
        statement = SupersessionStated(
            document_id=id,
            validity=event.validity if isinstance(event, SupersessionStated) else None,
            editor=self.principal[:256],
            reason=self.reason[:1000],
        )
        source = (
            f"stated at {older_statements[-1].sequence}"
            if older_statements
            else "said when it was added"
        )
        description = f"undo what was stated of {id}: what was {source} holds again"
        return Undoing(sequence, "SupersessionStated", description, statement)

    async def _state(self, statement: SupersessionStated) -> int:
        """Publish a statement, and return when, in microseconds since 1970."""
        id = statement.document_id
        sequence = await publish_statement(
            self.log, workspace=self.workspace, statement=statement, source=SOURCE
        )
        message = await self.log.newest(self.workspace, id, statement.type_name())
        if sequence is None or message is None:
            raise NotFound(f"there is no document {id!r} any more")
        return microseconds(message.published_at)

    async def _history(self, about: str | None, event_type: str, after: int = 0) -> list[Message]:
        async with aclosing(self.log.history(self.workspace, about, event_type, after)) as messages:
            return [message async for message in messages]


def _changed_since(sequence: int, id: str, change: str) -> Conflict:
    return Conflict(f"document {id!r} was {change} at {sequence}, and added or deleted again since")


def _restored(sequence: int, addition: Message, type_name: str) -> Undoing:
    """Return what takes back the event of that type at a sequence: what was added before, again."""
    event = decoded_event(addition)
    assert isinstance(event, DocumentAdded)
    change = "deletion" if type_name == "DocumentDeleted" else "new text"
    description = (
        f"undo the {change} of {event.file_path} ({event.document_id}): its text of sequence "
        f"{addition.sequence} is added again"
    )
    return Undoing(sequence, type_name, description, event)
