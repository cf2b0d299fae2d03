"""One message of the log on NATS: as a pull consumer delivers it, and as it is read by its
place.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import NamedTuple, cast

from nats.aio.msg import Msg
from nats.js.api import RawStreamMsg

from contracts.subjects import DOCUMENT_HEADER, of_shared
from runtime.bus.records import RECORDED_AT

MSG_SIZE = "Nats-Msg-Size"
"""The header in which the server gives the bytes of a message's data where it leaves the data
out.
"""

EPOCH = datetime.fromtimestamp(0, UTC)


def stated_size(headers: Mapping[str, str]) -> int:
    """Return the bytes of data that a message without its data has; 0 where no number says it."""
    # Only a publisher's own header of this name is no number.
    size = headers.get(MSG_SIZE, "")
    return int(size) if size.isdecimal() else 0


class Place(NamedTuple):
    """What the subject of a delivery's acknowledgement says. `delivered_count`: microseconds since
    1970.
    """

    attempt: int
    sequence: int
    delivered_count: int
    pending: int


def place_of(reply: str) -> Place:
    """Return the place of a delivery. Raises ValueError for a subject of another kind.

    The client's own makes a date of the time, which takes longer than all the rest and may be a
    microsecond off.
    """
    tokens = reply.split(".")
    try:
        # A server that knows domains has two tokens more in front, and may have one more behind.
        first = 4 if len(tokens) == 9 else 6
        attempt, sequence, _, nanoseconds, pending = map(int, tokens[first : first + 5])
    except ValueError:
        raise ValueError(f"{reply!r:.200} acknowledges no delivery") from None
    return Place(attempt, sequence, nanoseconds // 1000, pending)


def _first_taken(headers: Mapping[str, str], stored_at: datetime) -> datetime:
    """Return when the log first took a message: a restored one says it in a header, and never names
    a later time.
    """
    if RECORDED_AT not in headers:
        return stored_at
    with suppress(ValueError, TypeError):
        return min(datetime.fromisoformat(headers[RECORDED_AT]), stored_at)
    return stored_at


class Address(NamedTuple):
    """The subject of an event, and its headers without what the log has added to those."""

    subject: str
    headers: Mapping[str, str]


def address_of(stored_subject: str, stored_headers: Mapping[str, str]) -> Address:
    """Return the address of an event as it was published, wherever the log holds it.

    Of one at a shared subject that names no document in its header, or one that does not share it,
    that is what stands there: no document has it, and the decoder refuses it.
    """
    document = stored_headers.get(DOCUMENT_HEADER, "")
    subject = of_shared(stored_subject, document) if document else stored_subject
    if subject == stored_subject:
        return Address(stored_subject, stored_headers)
    headers = {name: value for name, value in stored_headers.items() if name != DOCUMENT_HEADER}
    return Address(subject, headers)


@dataclass(frozen=True)
class NatsMessage:
    """One delivery by a pull consumer."""

    raw: Msg

    @property
    def data(self) -> bytes:
        return self.raw.data

    @cached_property
    def _address(self) -> Address:
        return address_of(self.raw.subject, self.raw.headers or {})

    @property
    def subject(self) -> str:
        return self._address.subject

    @property
    def headers(self) -> Mapping[str, str]:
        return self._address.headers

    @cached_property
    def _place(self) -> Place:
        return place_of(self.raw.reply)

    @property
    def sequence(self) -> int:
        return self._place.sequence

    @property
    def attempt(self) -> int:
        return self._place.attempt or 1

    @property
    def pending(self) -> int:
        """Return how many messages the consumer had yet to deliver behind this one."""
        return self._place.pending

    @property
    def published_at(self) -> datetime:
        return _first_taken(
            self.headers, EPOCH + timedelta(microseconds=self._place.delivered_count)
        )

    async def ack(self) -> None:
        await self.raw.ack()

    async def nak(self, delay: float) -> None:
        await self.raw.nak(delay=delay)

    async def heartbeat(self) -> None:
        await self.raw.in_progress()


@dataclass(frozen=True)
class StoredMessage:
    """A message read by its place, without a delivery: there is nothing to acknowledge."""

    raw: RawStreamMsg
    attempt: int = 1

    @property
    def data(self) -> bytes:
        return self.raw.data or b""

    @cached_property
    def _address(self) -> Address:
        # The client gives an object in place of a value that is not ASCII.
        headers = cast("Mapping[str, object]", self.raw.headers or {})
        return address_of(
            self.raw.subject or "", {name: str(value) for name, value in headers.items()}
        )

    @property
    def subject(self) -> str:
        return self._address.subject

    @property
    def headers(self) -> Mapping[str, str]:
        return self._address.headers

    @property
    def sequence(self) -> int:
        return self.raw.seq or 0

    @property
    def published_at(self) -> datetime:
        return _first_taken(self.headers, self.raw.time or EPOCH)

    async def ack(self) -> None: ...
    async def nak(self, delay: float) -> None: ...
    async def heartbeat(self) -> None: ...
