"""Who may see a document, as events: what was said of it, and a change."""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from datetime import UTC, datetime
from itertools import chain
from typing import NamedTuple

from contracts.access import Access, narrowed
from contracts.access_of_texts import MOVING, AccessOfTexts
from contracts.envelope import Envelope, wrap
from contracts.events import AccessChanged, DocumentAdded, DocumentDeleted, DocumentErased, Event
from contracts.ids import event_id
from contracts.moments import microseconds
from publishing.current_version import existing_id
from publishing.draft import validated
from runtime.branches import read_branches
from runtime.bus.codec import decode
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log
from runtime.errors import ServiceError

MovingEvent = DocumentAdded | AccessChanged | DocumentDeleted | DocumentErased


class AccessStatement(NamedTuple):
    """An event that matters to who may see a document. `at`: microseconds since 1970."""

    sequence: int
    at: int
    actor: str
    event: MovingEvent


class AccessState(NamedTuple):
    """Who may see a document, as if something of all of its texts were left, and the statement that
    said so of the newest one: None where none did. `sequence`: of the last event that matters.
    """

    texts: AccessOfTexts = AccessOfTexts()
    stated: AccessStatement | None = None
    sequence: int = 0

    @property
    def is_there(self) -> bool:
        """Return whether the document is neither deleted nor unknown."""
        return self.texts.is_there

    @property
    def access(self) -> Access | None:
        """Return who may see its newest text."""
        return self.texts.access


class Changed(NamedTuple):
    """A change of access in the log. `is_new` is False where the same was said already."""

    document_id: str
    sequence: int
    is_new: bool


async def access_statements(log: Log, workspace: str, id: str) -> list[AccessStatement]:
    """Return what matters to who may see the document, in the order of the log. What cannot be read
    is left out. Raises `Unavailable`.
    """

    async def of_kind(kind: type[MovingEvent]) -> list[AccessStatement]:
        # Most documents have events of one kind or two: to ask for the newest one is cheaper than
        # to read a history in which nothing is.
        if await log.newest(workspace, id, kind.type_name()) is None:
            return []
        return await _statements_of_kind(log, workspace, id, kind)

    statements = chain.from_iterable(await asyncio.gather(*map(of_kind, MOVING)))
    return sorted(statements, key=lambda statement: statement.sequence)


async def _statements_of_kind(
    log: Log, workspace: str, id: str, kind: type[MovingEvent]
) -> list[AccessStatement]:
    statements: list[AccessStatement] = []
    async with aclosing(log.history(workspace, id, kind.type_name())) as messages:
        async for message in messages:
            try:
                envelope = decode(message.data, message.subject, message.headers)
            except ServiceError:
                continue
            if isinstance(envelope.data, kind):
                at = microseconds(envelope.time or message.published_at)
                actor = envelope.actor or ""
                statements.append(AccessStatement(message.sequence, at, actor, envelope.data))
    return statements


def access_state(statements: Iterable[AccessStatement]) -> AccessState:
    """Return who may see the document after these events, as the status projection folds them."""
    state = AccessState()
    for statement in statements:
        event = statement.event
        of_newest = state.stated
        if isinstance(event, DocumentDeleted | DocumentErased):
            of_newest = None
        elif isinstance(event, AccessChanged) or event.access:
            of_newest = statement
        state = AccessState(state.texts.after(event), of_newest, statement.sequence)
    return state


async def change_access(
    log: Log, *, workspace: str, id: str, access: Access | None, source: str, reason: str = ""
) -> Changed | None:
    """Publish that others may see a document, with all that is left of its older texts, and return
    once the log has it; None for a document the log does not have. What was said last of all of
    them is not said again. Raises `Unavailable`.

    It is said in the branches of the workspace, too: one that was promoted answers, and must not
    show the document until somebody has copied the change.
    """
    id = await existing_id(log, workspace=workspace, id=id)
    event = validated(lambda: AccessChanged(document_id=id, access=access, reason=reason))
    return await _change_everywhere(log, workspace, event, source)


async def change_access_of_text(
    log: Log, *, workspace: str, id: str, access: Access, source: str
) -> Changed | None:
    """Publish that others may see the newest text of a document; see `change_access`."""
    event = validated(lambda: AccessChanged(document_id=id, access=access, newest_text_only=True))
    return await _change_everywhere(log, workspace, event, source)


async def _change_everywhere(
    log: Log, workspace: str, event: AccessChanged, source: str
) -> Changed | None:
    change = await _change_access(log, workspace, event, source)
    for branch in await read_branches(log, workspace) if change else ():
        await _change_access(log, branch.workspace, event, source)
    return change


async def _change_access(
    log: Log, workspace: str, event: AccessChanged, source: str
) -> Changed | None:
    id = event.document_id
    state = access_state(await access_statements(log, workspace, id))
    if not state.is_there:
        return None
    of_older_texts = () if event.newest_text_only else state.texts.replaced_lists
    if all(access == event.access for access in (state.access, *of_older_texts)):
        return Changed(id, state.sequence, is_new=False)
    body = event.access.model_dump_json() if event.access else ""
    scope = "/newest" if event.newest_text_only else ""
    cause = f"{workspace}/{id}/{state.sequence}/{body}{scope}"
    envelope: Envelope[Event] = wrap(
        event,
        id=event_id(cause, AccessChanged.type_name()),
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    return Changed(id, await log.publish(envelope), is_new=True)


async def access_of_restored(log: Log, workspace: str, event: DocumentAdded) -> Access | None:
    """Return who may see what the document said in an earlier event, once it says it again: nobody
    who could not see that text, nor who may not see what it says now, or said before it was
    deleted. Raises `Unavailable`.
    """
    statements = await access_statements(log, workspace, event.document_id)
    deletions = (DocumentDeleted, DocumentErased)
    while statements and isinstance(statements[-1].event, deletions):
        statements.pop()
    texts = AccessOfTexts()
    own_access: Access | None = None
    is_newest = False
    for statement in statements:
        texts = texts.after(statement.event)
        if not isinstance(statement.event, AccessChanged):
            is_newest = statement.event == event
        if is_newest:
            own_access = texts.access
    return narrowed(own_access, texts.access)
