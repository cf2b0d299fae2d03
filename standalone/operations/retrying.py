"""Requests that failed documents be tried again."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nats.js import JetStreamContext

from contracts.events import RetryRequested, Stage
from lightstream.client import AsyncLightstream
from runtime.bus.nats.log import NatsLog
from runtime.bus.retry_requests import request_retry
from standalone.operations.publishing import SOURCE

FAILED = ("failed", "partial")
"""Statuses of documents of which at least a part failed."""


@dataclass
class RetryOutcome:
    """Ids of documents whose retry was requested, and of those of which nothing has failed, or that do not exist."""

    requested: list[str] = field(default_factory=list[str])
    nothing_failed: list[str] = field(default_factory=list[str])


async def retry_documents(
    bus: JetStreamContext, workspace: str, ids: Sequence[str], stage: Stage | None = None, reason: str = ""
) -> RetryOutcome:
    """Request a retry of what failed of each document, in one stage or in all. Raises Unavailable."""
    outcome = RetryOutcome()
    for id in ids:
        retry = RetryRequested(document_id=id, stage=stage, reason=reason)
        sequence = await request_retry(NatsLog(bus), workspace=workspace, retry=retry, source=SOURCE)
        (outcome.requested if sequence else outcome.nothing_failed).append(id)
    return outcome


async def documents_to_retry(client: AsyncLightstream, names: Sequence[str]) -> list[str]:
    """Return the ids of the documents of these ids or file names; without a name, of all that failed."""
    known = await client.all_documents()
    if not names:
        return [each.id for each in known if each.status in FAILED]
    return [id for name in names for id in [e.id for e in known if name in (e.id, e.file_path)] or [name]]
