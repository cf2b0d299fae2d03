"""One message of the log on NATS: as a pull consumer delivers it, and as it is read by its place."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import cast

from nats.aio.msg import Msg
from nats.js.api import RawStreamMsg

from runtime.bus.records import RECORDED_AT

EPOCH = datetime.fromtimestamp(0, UTC)


def published_at(delivered: Msg) -> datetime:
    """Return when the log took a message that a consumer delivered, to the microsecond, as the stream says it.

    The client's own timestamp goes through a float and may be a microsecond off.
    """
    tokens = delivered.reply.split(".")
    nanoseconds = int(tokens[7 if len(tokens) == 9 else 9])
    return _first_taken(delivered.headers or {}, EPOCH + timedelta(microseconds=nanoseconds // 1000))


def _first_taken(headers: Mapping[str, str], stored: datetime) -> datetime:
    """Return when the log first took a message: a restored one says it in a header, and never names a later time."""
    if RECORDED_AT not in headers:
        return stored
    with suppress(ValueError, TypeError):
        return min(datetime.fromisoformat(headers[RECORDED_AT]), stored)
    return stored


@dataclass(frozen=True)
class NatsMessage:
    """One delivery by a pull consumer."""

    raw: Msg

    @property
    def data(self) -> bytes:
        return self.raw.data

    @property
    def subject(self) -> str:
        return self.raw.subject

    @property
    def headers(self) -> Mapping[str, str]:
        return self.raw.headers or {}

    @property
    def sequence(self) -> int:
        return self.raw.metadata.sequence.stream

    @property
    def attempt(self) -> int:
        return self.raw.metadata.num_delivered or 1

    @property
    def published_at(self) -> datetime:
        return published_at(self.raw)

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

    @property
    def subject(self) -> str:
        return self.raw.subject or ""

    @property
    def headers(self) -> Mapping[str, str]:
        # The client gives an object in place of a value that is not ASCII.
        headers = cast("Mapping[str, object]", self.raw.headers or {})
        return {name: str(value) for name, value in headers.items()}

    @property
    def sequence(self) -> int:
        return self.raw.seq or 0

    @property
    def published_at(self) -> datetime:
        return _first_taken(self.headers, self.raw.time or EPOCH)

    async def ack(self) -> None: ...
    async def nak(self, delay: float) -> None: ...
    async def heartbeat(self) -> None: ...
