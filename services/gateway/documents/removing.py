"""Deletes documents, stops the work on them and has failed ones tried again, by publishing
events.
"""

from collections.abc import Awaitable, Callable, Collection

from contracts import subjects
from contracts.events import RetryRequested
from contracts.graph import Partition
from publishing.documents import Added, cancel_document, delete_document, reprocess_document
from publishing.retries import request_retry
from runtime.bus.codec import decode
from runtime.bus.port import Log, Message
from runtime.concurrency.bounded_gathering import gather_bounded
from runtime.errors import ServiceError
from services.query.errors import BadRequest
from services.query.event_source import SOURCE
from services.query.status.document_status import SETTLED, STATUSES
from services.query.status.listing import FAILED_STATUSES, list_documents
from services.query.status.port import Documents

PARALLEL_EVENTS = 16
"""Events that are published at the same time."""


async def delete(log: Log, workspace: str, ids: Collection[str]) -> int:
    """Publish the deletion of these documents, and return how many of them exist; unknown ids are
    ignored.
    """

    async def one(id: str) -> Added | None:
        return await delete_document(log, workspace=workspace, id=id, source=SOURCE)

    return await _publish_each(ids, one)


async def delete_all(
    log: Log, documents: Documents, partition: Partition, *, is_confirmed: bool
) -> int:
    """Publish the deletion of every document of the workspace that is in the log by now, and return
    how many.

    Raises BadRequest where there are any and the request does not confirm that all are meant.
    """
    workspace = partition.workspace
    statuses = [status for status in STATUSES if status != "deleting"]
    listed_versions = await _listed(documents, partition, statuses)
    ids = listed_versions.keys() | (await _unprojected(log, workspace)).keys()
    if ids and not is_confirmed:
        raise BadRequest(
            f"this would delete every document of workspace {workspace!r}, {len(ids)} in all: "
            f"DELETE /documents?confirm={workspace} does it. DELETE /documents/delete_document "
            "deletes those it names"
        )
    return await delete(log, workspace, ids)


async def cancel(log: Log, documents: Documents, partition: Partition, editor: str) -> list[str]:
    """Publish that the work on every unfinished document stops, and return their ids, sorted.

    Finished parts stay; `retry_failed` resumes the work.
    """
    working = [status for status in STATUSES if status not in (*SETTLED, "deleting")]
    stopped_ids: list[str] = []

    async def one(id: str) -> object:
        version = await cancel_document(
            log, workspace=partition.workspace, id=id, editor=editor, source=SOURCE
        )
        stopped_ids.extend([id] if version else [])
        return version

    listed_versions = await _listed(documents, partition, working)
    unseen = await _unprojected(log, partition.workspace)
    states = await documents.get(partition, unseen)
    unseen_ids = {
        id
        for id, sequence in unseen.items()
        if id not in states or states[id][0].version < sequence
    }
    await _publish_each(listed_versions.keys() | unseen_ids, one)
    return sorted(stopped_ids)


async def _unprojected(log: Log, workspace: str) -> dict[str, int]:
    """Return the sequence, by id, of documents that the status projection may not have applied
    yet.
    """
    sequences: dict[str, int] = {}
    last_sequence = await log.last(workspace)
    position = await log.handled("query-status", workspace=workspace)
    subject = subjects.of_type_in(workspace, "DocumentAdded")
    while (message := await log.following(position, subject)) and message.sequence <= last_sequence:
        position = message.sequence
        if id := _document_id(message):
            sequences[id] = message.sequence
    return sequences


async def retry_failed(log: Log, documents: Documents, partition: Partition) -> int:
    """Have what failed of every failed or partial document tried again, and return how many there
    were.

    What was cancelled has not failed: such a document is published as a new version of itself.
    """
    versions = await _listed(documents, partition, FAILED_STATUSES)
    states = await documents.get(partition, versions)

    async def one(id: str) -> Added | int | None:
        workspace = partition.workspace
        failures = states[id][0].open_failures if id in states else ()
        if all(failure.stage != "query" for failure in failures):
            request = RetryRequested(document_id=id)
            if sequence := await request_retry(
                log, workspace=workspace, retry=request, source=SOURCE
            ):
                return sequence
        return await reprocess_document(
            log, workspace=workspace, id=id, version=versions[id], source=SOURCE
        )

    return await _publish_each(versions, one)


def _document_id(message: Message) -> str:
    """Return the id of the document in a DocumentAdded, "" when the message cannot be decoded."""
    try:
        return decode(message.data, message.subject, message.headers).data.aggregate_id
    except ServiceError:
        return ""


async def _listed(
    documents: Documents, partition: Partition, statuses: Collection[str]
) -> dict[str, int]:
    """Return the version, by id, of all documents with any of these statuses."""
    statuses_by_id = await list_documents(documents, partition, statuses)
    return {id: status.version for id, status in statuses_by_id.items()}


async def _publish_each(ids: Collection[str], publish: Callable[[str], Awaitable[object]]) -> int:
    """Call `publish` for each id, `PARALLEL_EVENTS` at a time, and return how many calls returned a
    value.
    """
    results = await gather_bounded(publish, sorted(ids), at_once=PARALLEL_EVENTS)
    return sum(result is not None for result in results)
