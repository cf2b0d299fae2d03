"""Documents out of a workspace, work on them stopped, failed ones in again: by events, so nothing is too busy."""

import asyncio
from collections.abc import Awaitable, Callable, Collection

from contracts import subjects
from contracts.graph import Partition
from runtime.batching import batched
from runtime.bus.codec import decode
from runtime.bus.port import Log, Message
from runtime.bus.publisher import Added, cancel_document, delete_document, reprocess_document
from runtime.errors import ServiceError
from services.query.event_source import SOURCE
from services.query.status.document_status import SETTLED, STATUSES
from services.query.status.port import Documents

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


async def delete_all(log: Log, documents: Documents, space: Partition) -> int:
    """Likewise for every document that the log had of the workspace when it was asked."""
    ids = set(await _listed(documents, space, [status for status in STATUSES if status != "deleting"]))
    return await delete(log, space.workspace, ids | (await _unseen(log, space.workspace)).keys())


async def cancel(log: Log, documents: Documents, space: Partition, editor: str) -> list[str]:
    """Publish that work on every document that is not through is to stop, and return their ids.

    What was done of them stays; `reprocess` takes them up again.
    """
    working = [status for status in STATUSES if status not in (*SETTLED, "deleting")]
    stopped: list[str] = []

    async def one(id: str) -> object:
        version = await cancel_document(log, workspace=space.workspace, id=id, editor=editor, source=SOURCE)
        stopped.extend([id] if version else [])
        return version

    listed, unseen = await _listed(documents, space, working), await _unseen(log, space.workspace)
    known = await documents.get(space, unseen)
    new = {id for id, sequence in unseen.items() if id not in known or known[id][0].version < sequence}
    await _each(listed.keys() | new, one)
    return sorted(stopped)


async def _unseen(log: Log, workspace: str) -> dict[str, int]:
    """Documents that the projection may not have folded yet, so that they are in no list: where they stand, by id."""
    found: dict[str, int] = {}
    last, folded = await log.last_sequence(), await log.handled("query-status", workspace=workspace)
    wanted = subjects.of_type_in(workspace, "DocumentAdded")
    while (message := await log.following(folded, wanted)) and message.sequence <= last:
        folded = message.sequence
        if id := _document(message):
            found[id] = message.sequence
    return found


async def reprocess(log: Log, documents: Documents, space: Partition) -> int:
    """Publish every failed or partial document as a new version of itself, and return how many there were."""
    versions = await _listed(documents, space, FAILED)

    async def one(id: str) -> Added | None:
        return await reprocess_document(log, workspace=space.workspace, id=id, version=versions[id], source=SOURCE)

    return await _each(versions, one)


def _document(message: Message) -> str:
    """Which document a DocumentAdded speaks of; empty for one that cannot be read."""
    try:
        return decode(message.data, message.subject, message.headers).data.aggregate_id
    except ServiceError:
        return ""


async def _listed(documents: Documents, space: Partition, statuses: Collection[str]) -> dict[str, int]:
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


async def _each(ids: Collection[str], publish: Callable[[str], Awaitable[object]]) -> int:
    """Call it for each id, some at once; how many times it gave something. Raises what one of them raises."""
    done = 0
    for some in batched(sorted(ids), AT_ONCE):
        done += sum(found is not None for found in await asyncio.gather(*map(publish, some)))
    return done
