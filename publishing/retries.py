"""Retries as events: a request that what failed of a document is tried again, and which documents
people mean by the names they give.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from contracts.envelope import Envelope, wrap
from contracts.events import (
    DocumentAdded,
    DocumentDeleted,
    Event,
    RetryRequested,
    Stage,
    StageFailed,
)
from contracts.ids import event_id
from contracts.registry import SERVICES
from runtime.bus.codec import decode
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log
from runtime.errors import InvalidInput, ServiceError


async def request_retry(
    log: Log, *, workspace: str, retry: RetryRequested, source: str
) -> int | None:
    """Publish the request, and return its sequence; None where nothing of the document's current
    version has failed.

    Repeats change nothing until something fails again. Raises Unavailable.
    """
    id = retry.document_id
    failure = await last_failure(log, workspace, id)
    if failure is None:
        return None
    place = f"{retry.stage or ''}/{retry.chunk_id or ''}"
    request_id = event_id(f"{workspace}/{id}/{failure}/{place}", retry.type_name())
    async for message in log.history(workspace, id, retry.type_name(), failure):
        with suppress(ServiceError):
            if decode(message.data, message.subject, message.headers).id == request_id:
                return message.sequence
    envelope: Envelope[Event] = wrap(
        retry,
        id=request_id,
        source=source,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    return await log.publish(envelope)


async def last_failure(log: Log, workspace: str, id: str) -> int | None:
    """Return the sequence of what failed last of the document's current version, None without.
    Raises Unavailable.
    """
    failure, addition, deletion = await asyncio.gather(
        *(
            log.newest(workspace, id, kind.type_name())
            for kind in (StageFailed, DocumentAdded, DocumentDeleted)
        )
    )
    since = max(addition.sequence if addition else 0, deletion.sequence if deletion else 0)
    return None if failure is None or failure.sequence < since else failure.sequence


def named_stage(name: str | None) -> Stage | None:
    """Return the service of that name. Raises InvalidInput for a name that no service has."""
    stages: dict[str, Stage] = {stage: stage for stage in SERVICES}
    if name and name not in stages:
        raise InvalidInput(f"there is no service {name!r}: it is one of {', '.join(SERVICES)}")
    return stages[name] if name else None


@dataclass(frozen=True)
class Retries:
    """Documents of a workspace to try again: what failed in one stage or wherever it was, and why
    they are.
    """

    workspace: str
    ids: Sequence[str]
    stage: Stage | None = None
    reason: str = ""


@dataclass
class RetryOutcome:
    """Ids of documents whose retry was requested, and of those of which nothing has failed, or that
    do not exist.
    """

    requested: list[str] = field(default_factory=list[str])
    nothing_failed: list[str] = field(default_factory=list[str])


async def request_retries(log: Log, retries: Retries, source: str) -> RetryOutcome:
    """Request a retry of what failed of each document. Raises `Unavailable`."""
    outcome = RetryOutcome()
    for id in retries.ids:
        retry = RetryRequested(document_id=id, stage=retries.stage, reason=retries.reason)
        sequence = await request_retry(log, workspace=retries.workspace, retry=retry, source=source)
        (outcome.requested if sequence else outcome.nothing_failed).append(id)
    return outcome


async def plan_retries(log: Log, retries: Retries) -> RetryOutcome:
    """Return what `request_retries` would, and request nothing. Raises `Unavailable`."""
    outcome = RetryOutcome()
    for id in retries.ids:
        failure = await last_failure(log, retries.workspace, id)
        (outcome.requested if failure else outcome.nothing_failed).append(id)
    return outcome


def named_ids(names: Sequence[str], file_paths: Mapping[str, str]) -> list[str]:
    """Return the ids that these names mean, each once: ids or file names of the documents in
    `file_paths`, by id.

    A name that none of them has is taken for an id: of a document whose failure its status does not
    show yet.
    """
    of_each = {
        name: [id for id, path in file_paths.items() if name in (id, path)] or [name]
        for name in names
    }
    return list(dict.fromkeys(id for ids in of_each.values() for id in ids))
