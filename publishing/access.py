"""Who may see a document, as events: what was said of it, and a change."""

from collections.abc import Iterable
from contextlib import aclosing
from datetime import UTC, datetime
from typing import NamedTuple

from contracts.access import Access
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


class AccessStatement(NamedTuple):
    """An event that matters to who may see a document. `at`: microseconds since 1970."""

    sequence: int
    at: int
    actor: str
    event: DocumentAdded | AccessChanged | DocumentDeleted | DocumentErased


class AccessState(NamedTuple):
    """Who may see a document, and the statement that said so: None where none did.

    `is_there`: it is neither deleted nor unknown. `sequence`: of the last event that matters.
    """

    is_there: bool = False
    access: Access | None = None
    stated: AccessStatement | None = None
    sequence: int = 0


class Changed(NamedTuple):
    """A change of access in the log. `is_new` is False where the same was said already."""

    document_id: str
    sequence: int
    is_new: bool


async def access_statements(log: Log, workspace: str, id: str) -> list[AccessStatement]:
    """Return what matters to who may see the document, in the order of the log. What cannot be read
    is left out. Raises `Unavailable`.
    """
    statements: list[AccessStatement] = []
    for kind in (DocumentAdded, AccessChanged, DocumentDeleted, DocumentErased):
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
    return sorted(statements, key=lambda statement: statement.sequence)


def access_state(statements: Iterable[AccessStatement]) -> AccessState:
    """Return who may see the document after these events, as the status projection folds them."""
    state = AccessState()
    for statement in statements:
        event = statement.event
        if isinstance(event, DocumentDeleted | DocumentErased):
            state = AccessState()
        elif isinstance(event, AccessChanged) or event.access:
            state = state._replace(access=event.access, stated=statement)
        is_there = state.is_there or isinstance(event, DocumentAdded)
        state = state._replace(is_there=is_there, sequence=statement.sequence)
    return state


async def change_access(
    log: Log, *, workspace: str, id: str, access: Access | None, source: str, reason: str = ""
) -> Changed | None:
    """Publish an AccessChanged and return once the log has it; None for a document the log does not
    have. What was said last is not said again. Raises `Unavailable`.

    It is said in the branches of the workspace, too: one that was promoted answers, and must not
    show the document until somebody has copied the change.
    """
    id = await existing_id(log, workspace=workspace, id=id)
    change = await _change_access(log, workspace, id, access, source, reason)
    for branch in await read_branches(log, workspace) if change else ():
        await _change_access(log, branch.workspace, id, access, source, reason)
    return change


async def _change_access(
    log: Log, workspace: str, id: str, access: Access | None, source: str, reason: str
) -> Changed | None:
    state = access_state(await access_statements(log, workspace, id))
    if not state.is_there:
        return None
    if state.access == access:
        return Changed(id, state.sequence, is_new=False)
    event = validated(lambda: AccessChanged(document_id=id, access=access, reason=reason))
    body = access.model_dump_json() if access else ""
    envelope: Envelope[Event] = wrap(
        event,
        id=event_id(f"{workspace}/{id}/{state.sequence}/{body}", AccessChanged.type_name()),
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    return Changed(id, await log.publish(envelope), is_new=True)


async def access_before_deletion(log: Log, workspace: str, id: str) -> Access | None:
    """Return who could see a document before it was deleted. Raises `Unavailable`."""
    statements = await access_statements(log, workspace, id)
    deletions = (DocumentDeleted, DocumentErased)
    while statements and isinstance(statements[-1].event, deletions):
        statements.pop()
    return access_state(statements).access
