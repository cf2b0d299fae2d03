"""Reads the receipts of a workspace from the log."""

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts import subjects
from contracts.envelope import Envelope
from contracts.events import AnswerGiven, Event
from contracts.ids import branch_workspace, entity_vector_id
from runtime.bus.codec import decode
from runtime.bus.feed.newest import newest_first
from runtime.bus.feed.port import EventPages
from runtime.bus.points import place_at
from runtime.bus.port import Log, Message
from runtime.bus.records import Record, leaf, record_of
from runtime.errors import InvalidInput, ServiceError
from runtime.receipts.ids import time_of_id

CLOCK_DIFFERENCE = timedelta(minutes=5)
"""By how much the clocks of those who answer may be ahead of the bus's."""

_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
"""What stands in JSON as it is."""


@dataclass(frozen=True)
class StoredReceipt:
    """A receipt in the log: the message as it is stored there, and the event that it is."""

    record: Record
    envelope: Envelope[Event]
    event: AnswerGiven

    @property
    def sequence(self) -> int:
        """Return its place in the log."""
        return self.record.sequence

    @property
    def answering_workspace(self) -> str:
        """Return the workspace whose documents the answer rests on: a branch, where one answered
        for the workspace that has the receipt.
        """
        workspace, branch = self.envelope.workspace, self.event.branch
        return branch_workspace(workspace, branch) if branch else workspace

    @property
    def published_at(self) -> datetime:
        """Return when the log took it."""
        return self.record.time

    @property
    def leaf(self) -> str:
        """Return the hash by which the audit chain has its event."""
        return leaf(self.record)

    @property
    def asker(self) -> str | None:
        """Return in whose name the question was asked."""
        return self.envelope.actor


@dataclass(frozen=True)
class ReceiptFilter:
    """Which receipts are wanted: those that meet all conditions; empty ones hold for all.

    `document`: an id; `entity`: a name in its spelling of the graph; `passage`: a chunk's id.
    """

    asker: str = ""
    document: str = ""
    entity: str = ""
    passage: str = ""

    def admits(self, receipt: StoredReceipt) -> bool:
        """Return whether the receipt meets the conditions."""
        evidence = receipt.event.evidence
        entity_id = entity_vector_id(self.entity) if self.entity else ""
        return (
            (not self.asker or self.asker == receipt.asker)
            and (not self.document or self.document in evidence.documents)
            and (not entity_id or any(entity.id == entity_id for entity in evidence.entities))
            and (
                not self.passage
                or any(passage.chunk_id == self.passage for passage in evidence.passages)
            )
        )

    @property
    def may_be_in(self) -> Callable[[bytes], bool]:
        """Return a function that tells from the bytes of an event whether it may be admitted: most
        need not be decoded.
        """
        words = [self.asker, self.document, self.passage]
        words += [entity_vector_id(self.entity)] if self.entity else []
        needles = [word.encode() for word in words if _PLAIN.fullmatch(word)]
        return lambda data: all(needle in data for needle in needles)


async def newest_receipts(
    feed: EventPages,
    workspace: str,
    receipt_filter: ReceiptFilter,
    after: int,
    limit: int,
    may_read: Callable[[StoredReceipt], bool] = lambda _: True,
) -> list[StoredReceipt]:
    """Return the last `limit` receipts behind a sequence that may be read, the newest first. Raises
    `Unavailable`.

    Of a receipt that an erasure wrote anew the newest event counts. None is read that is older than
    these.
    """
    receipts: dict[str, StoredReceipt] = {}
    may_be_wanted = receipt_filter.may_be_in
    subject = subjects.of_type_in(workspace, AnswerGiven.type_name())
    async with aclosing(newest_first(feed, subject)) as messages:
        async for message in messages:
            if message.sequence <= after or len(receipts) == limit:
                break
            receipt = stored_receipt(message) if may_be_wanted(message.data) else None
            if receipt and receipt_filter.admits(receipt) and may_read(receipt):
                receipts.setdefault(receipt.event.receipt, receipt)
    newest_ones = sorted(receipts.values(), key=lambda receipt: receipt.event.receipt)
    return newest_ones[::-1]


async def receipts_between(
    log: Log, workspace: str, since: datetime | None, until: datetime | None
) -> list[StoredReceipt]:
    """Return the receipts of the questions that were asked from `since` on and before `until`, in
    the order of the log. Raises `Unavailable`.

    Of a receipt that an erasure wrote anew the newest event counts.
    """
    after = 0
    if since is not None:
        after = await place_at(log, workspace, (since - CLOCK_DIFFERENCE).isoformat())
    receipts: dict[str, StoredReceipt] = {}
    async for receipt in receipts_behind(log, workspace, after, lambda _: True):
        asked_at = receipt.event.asked_at
        if (since is None or since <= asked_at) and (until is None or asked_at < until):
            receipts[receipt.event.receipt] = receipt
    return sorted(receipts.values(), key=lambda receipt: receipt.sequence)


async def find_receipt(log: Log, workspace: str, id: str) -> StoredReceipt | None:
    """Return the receipt of this id, None where there is none. Raises InvalidInput for what is no
    id.
    """
    try:
        asked_at = time_of_id(id)
    except (ValueError, OverflowError, OSError):
        raise InvalidInput(
            f"{id!r:.80} is no id of a receipt: answers have it as `receipt`"
        ) from None
    point = (asked_at - CLOCK_DIFFERENCE).isoformat()
    after = await place_at(log, workspace, point)
    needle = f'"{id}"'.encode()
    async for receipt in receipts_behind(log, workspace, after, lambda data: needle in data):
        if receipt.event.receipt == id:
            return receipt
    return None


async def receipts_behind(
    log: Log, workspace: str, after: int, may_be_wanted: Callable[[bytes], bool]
) -> AsyncGenerator[StoredReceipt]:
    """Yield the receipts of a workspace behind a sequence whose bytes may be wanted, in order.
    What cannot be read is left out. Raises `Unavailable`.
    """
    messages = log.history(workspace, None, AnswerGiven.type_name(), after)
    async with aclosing(messages):
        async for message in messages:
            if may_be_wanted(message.data) and (receipt := stored_receipt(message)):
                yield receipt


def stored_receipt(message: Message) -> StoredReceipt | None:
    """Return the receipt that a message is, None for any other one."""
    return stored_record(record_of(message))


def stored_record(record: Record) -> StoredReceipt | None:
    """Return the receipt that a stored message is, None for any other one."""
    try:
        envelope = decode(record.data, record.subject, record.headers)
    except ServiceError:
        return None
    event = envelope.data
    if not isinstance(event, AnswerGiven):
        return None
    return StoredReceipt(record, envelope, event)
