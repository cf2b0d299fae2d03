"""Documents out of a workspace, failed ones in again: each is an event, so nothing is ever too busy for it."""

import asyncio
from collections.abc import Awaitable, Callable, Collection

from contracts import subjects
from contracts.graph import Space
from runtime.bus.codec import decode
from runtime.bus.port import Log, Message
from runtime.bus.publisher import Added, add_again, delete_document
from runtime.errors import ServiceError
from services.query.adding import SOURCE
from services.query.domain.status import STATUSES
from services.query.ports import Documents

AT_ONCE = 16
"""Events that are published at the same time."""

PAGE = 1000

FAILED = ("failed", "partial")
"""States in which something of a document could not be done."""


async def delete(log: Log, workspace: str, ids: Collection[str]) -> int:
    """Publish that these documents are deleted, and return how many of them the log has; others do no harm."""

    async def one(id: str) -> Added | None:
        return await delete_document(log, workspace=workspace, id=id, source=SOURCE)

    return await _each(ids, one)


async def delete_all(log: Log, documents: Documents, space: Space) -> int:
    """Likewise for every document that the log had of the workspace when it was asked."""
    ids = set(await _listed(documents, space, [status for status in STATUSES if status != "deleting"]))
    # What the projection has not folded yet is in no list: the log has it.
    last, folded = await log.last_sequence(), await log.handled("query-status", workspace=space.workspace)
    wanted = subjects.of_type_in(space.workspace, "DocumentAdded")
    while (message := await log.following(folded, wanted)) and message.sequence <= last:
        folded = message.sequence
        ids |= {_document(message)} - {""}
    return await delete(log, space.workspace, ids)


async def reprocess(log: Log, documents: Documents, space: Space) -> int:
    """Publish every failed or partial document as a new version of itself, and return how many there were."""
    versions = await _listed(documents, space, FAILED)

    async def one(id: str) -> Added | None:
        return await add_again(log, workspace=space.workspace, id=id, version=versions[id], source=SOURCE)

    return await _each(versions, one)


def _document(message: Message) -> str:
    """Which document a DocumentAdded speaks of; empty for one that cannot be read."""
    try:
        return decode(message.data, message.subject, message.headers).data.about
    except ServiceError:
        return ""


async def _listed(documents: Documents, space: Space, statuses: Collection[str]) -> dict[str, int]:
    """All documents with any of these statuses: the version of each, by id.

    A list that changes while it is paged through may leave one out: it is read until it brings nothing new.
    """
    seen: dict[str, int] = {}
    while True:
        known, skip, more = len(seen), 0, True
        while more:
            page = await documents.page(
                space, statuses=list(statuses), order="id", descending=False, skip=skip, limit=PAGE
            )
            seen |= {status.id: status.version for status in page.documents}
            skip, more = skip + PAGE, len(page.documents) == PAGE
        if len(seen) == known:
            return seen


async def _each(ids: Collection[str], publish: Callable[[str], Awaitable[Added | None]]) -> int:
    """Call it for each id, some at once; how many times it gave something. Raises what one of them raises."""
    ordered, done = sorted(ids), 0
    for start in range(0, len(ordered), AT_ONCE):
        done += sum(
            found is not None for found in await asyncio.gather(*map(publish, ordered[start : start + AT_ONCE]))
        )
    return done
