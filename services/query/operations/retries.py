"""Tries again what failed of documents: only that, so finished chunks are not paid for twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from contracts.events import RetryRequested, Stage
from contracts.graph import Partition
from runtime.bus.port import Log
from runtime.bus.retry_requests import request_retry
from services.query.event_source import SOURCE
from services.query.status.listing import FAILED_STATUSES, list_documents
from services.query.status.port import Documents


@dataclass(frozen=True)
class RetryWanted:
    """What is to be tried again: documents by id or file name, or all that failed; in one stage, or wherever it was."""

    documents: Sequence[str] = ()
    stage: Stage | None = None
    reason: str = ""


@dataclass
class RetryOutcome:
    """Ids of documents whose retry was requested, and of those of which nothing has failed, or that do not exist."""

    requested: list[str] = field(default_factory=list[str])
    nothing_failed: list[str] = field(default_factory=list[str])


async def retry(log: Log, documents: Documents, partition: Partition, wanted: RetryWanted) -> RetryOutcome:
    """Request a retry of what failed of these documents; without any, of all that failed. Raises `Unavailable`."""
    failed = await list_documents(documents, partition, FAILED_STATUSES)
    ids = list(failed)
    if wanted.documents:
        named = {name: [id for id, one in failed.items() if name in (id, one.file_path)] for name in wanted.documents}
        # Of a name that no failed document has, the log may still know a failure that its status does not show yet.
        ids = list(dict.fromkeys(id for name, found in named.items() for id in found or [name]))
    outcome = RetryOutcome()
    for id in ids:
        request = RetryRequested(document_id=id, stage=wanted.stage, reason=wanted.reason)
        sequence = await request_retry(log, workspace=partition.workspace, retry=request, source=SOURCE)
        (outcome.requested if sequence else outcome.nothing_failed).append(id)
    return outcome
