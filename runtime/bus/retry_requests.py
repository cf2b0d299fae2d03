"""What RetryRequested means for a durable: what failed there is handled again.

A StageFailed names its cause, and the cause stands in the same document's history. So nothing has
to be kept for a retry but the log itself, and what succeeded is left alone: of a part of a document
only the chunks that failed.
"""

from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from contracts import subjects
from contracts.events import (
    RetryRequested,
    Stage,
    StageFailed,
)
from contracts.topology import Consumer
from runtime.bus.codec import decode, header_of
from runtime.bus.port import Delivery, Log, Message
from runtime.bus.retried_message import RetriedMessage
from runtime.errors import Poison, ServiceError


def takes_retries(durable: Consumer) -> bool:
    """Return whether the durable delivers RetryRequested so that what failed in it is handled
    again.
    """
    return subjects.of_type(RetryRequested.type_name()) in durable.filters


async def failed_inputs(
    log: Log, stage: Stage, durable: Consumer, message: Message, request: Delivery[Any]
) -> list[RetriedMessage]:
    """Return the events of the request's document that failed in this durable, in the order of the
    log.

    Reads the events of the types that failed, from the version of the document on. Raises
    Unavailable.
    """
    retry_event: RetryRequested = request.event
    if retry_event.stage not in (None, stage):
        return []
    causes = await _failed_causes(log, stage, durable, request, retry_event.chunk_id)
    inputs: list[RetriedMessage] = []
    for cause_type in sorted({cause.type for cause in causes.values()}):
        open_causes = {id: cause for id, cause in causes.items() if cause.type == cause_type}
        first = min(cause.version for cause in open_causes.values())
        history = log.history(
            request.workspace, retry_event.document_id, cause_type, max(0, first - 1)
        )
        async with aclosing(history):
            async for original in history:
                if not open_causes or original.sequence > request.sequence:
                    break
                if cause := open_causes.pop(_id(original), None):
                    inputs.append(RetriedMessage(original, message, frozenset(cause.chunks)))
    return sorted(inputs, key=lambda message: message.sequence)


@dataclass
class _Cause:
    """An event that failed: its type, the version of its document or 0, and the ids of the chunks
    that failed.
    """

    type: str
    version: int
    chunks: set[str]


async def _failed_causes(
    log: Log, stage: Stage, durable: Consumer, request: Delivery[Any], chunk: str | None
) -> dict[str, _Cause]:
    """Return what failed before the request, by the id of the event that failed."""
    types = {subject_filter.rpartition(".")[2] for subject_filter in durable.filters}
    causes: dict[str, _Cause] = {}
    history = log.history(request.workspace, request.event.document_id, StageFailed.type_name())
    async with aclosing(history):
        async for message in history:
            if message.sequence > request.sequence:
                break
            try:
                envelope = decode(message.data, message.subject, message.headers)
            except ServiceError:
                continue
            event = envelope.data
            if (
                not isinstance(event, StageFailed)
                or event.stage != stage
                or event.cause_type not in types
            ):
                continue
            ids = {chunk_ref.id for chunk_ref in event.chunks if chunk in (None, chunk_ref.id)}
            if envelope.causationid and (ids or not chunk):
                version = event.document.version if event.document else 0
                cause = causes.setdefault(
                    envelope.causationid, _Cause(event.cause_type, version, set())
                )
                cause.chunks |= ids
    return causes


def _id(message: Message) -> str:
    """Return the event's id as its failure named it, even of an event that cannot be decoded."""
    try:
        header, _ = header_of(message.data, message.headers)
    except Poison:
        return f"log-{message.sequence}"
    return header.id
