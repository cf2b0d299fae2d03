"""Retries of documents that people name: which ones are meant, and the requests for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contracts.events import RetryRequested, Stage
from runtime.bus.port import Log
from runtime.bus.retry_requests import last_failure, request_retry


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


async def request_retries(log: Log, wanted: Retries, source: str) -> RetryOutcome:
    """Request a retry of what failed of each document. Raises `Unavailable`."""
    outcome = RetryOutcome()
    for id in wanted.ids:
        retry = RetryRequested(document_id=id, stage=wanted.stage, reason=wanted.reason)
        sequence = await request_retry(log, workspace=wanted.workspace, retry=retry, source=source)
        (outcome.requested if sequence else outcome.nothing_failed).append(id)
    return outcome


async def plan_retries(log: Log, wanted: Retries) -> RetryOutcome:
    """Return what `request_retries` would, and request nothing. Raises `Unavailable`."""
    outcome = RetryOutcome()
    for id in wanted.ids:
        failure = await last_failure(log, wanted.workspace, id)
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
