"""The bus on NATS JetStream: the log, the blobs and the pointers through one connection."""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

import nats
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import ConnectionClosedError, MaxPayloadError, NoServersError
from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import (
    APIError,
    KeyNotFoundError,
    KeyWrongLastSequenceError,
    NoStreamResponseError,
    NotFoundError,
    ServerError,
    ServiceUnavailableError,
)
from nats.js.kv import KeyValue

from contracts import subjects
from contracts.envelope import Envelope
from contracts.events import BlobRef, Event
from contracts.graph import PROJECTIONS, Generations
from contracts.topology import GENERATIONS_BUCKET, KiB
from runtime.bus.codec import encode
from runtime.bus.port import Message, Pointer, Pointers
from runtime.errors import ConfigurationError, Poison, Unavailable

logger = structlog.get_logger(__name__)

PUBLISH_TIMEOUT, PUBLISH_PATIENCE = 10.0, 30.0
"""Seconds one attempt may take, and all attempts with the same id together."""

BLOB_PART = 512 * KiB
_TOO_LARGE = 10054  # JSStreamMessageExceedsMaximumErr
_FULL = {10077, 10047, 10122}  # maximum bytes, messages or storage exceeded; insufficient resources


@asynccontextmanager
async def connected(
    url: str, *, name: str, closed: Callable[[], Awaitable[None]] | None = None
) -> AsyncGenerator[Client]:
    """A connection that reconnects for ever. `closed` is called when it is gone for good.

    Raises ConfigurationError when no server answers at first: where it should be is a setting.
    """

    async def on_error(error: Exception) -> None:
        # A forbidden publish shows only here and as a timeout.
        logger.warning("bus error", error=f"{type(error).__name__}: {error}")

    options = {"closed_cb": closed} if closed else {}
    try:
        client = await nats.connect(
            url, name=name, allow_reconnect=True, max_reconnect_attempts=-1, reconnect_time_wait=1, error_cb=on_error,
            connect_timeout=5, **options,
        )  # fmt: skip
    except (OSError, NoServersError, NatsTimeout) as error:
        raise ConfigurationError(f"no NATS server answers at NATS_URL ({type(error).__name__})") from None
    try:
        yield client
    finally:
        await client.close()


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
    def sequence(self) -> int:
        return self.raw.metadata.sequence.stream

    @property
    def attempt(self) -> int:
        return self.raw.metadata.num_delivered or 1

    @property
    def published_at(self) -> datetime:
        return self.raw.metadata.timestamp

    async def ack(self) -> None:
        await self.raw.ack()

    async def nak(self, delay: float) -> None:
        await self.raw.nak(delay=delay)

    async def heartbeat(self) -> None:
        await self.raw.in_progress()


@dataclass(frozen=True)
class NatsLog:
    """`Log` on the stream KB_EVENTS."""

    jetstream: JetStreamContext

    async def publish(self, envelope: Envelope[Event]) -> int:
        subject = subjects.subject(envelope.workspace, envelope.data.about, envelope.data.type_name())
        return await self._append("KB_EVENTS", subject, encode(envelope), envelope.id)

    async def bury(self, message: Message, durable: str, reason: str) -> None:
        # Header values may hold no line breaks and no characters outside of Latin-1.
        headers = {
            "Kb-Reason": reason.encode("ascii", "backslashreplace").decode()[:1000].replace("\n", " "),
            "Kb-Durable": durable,
            "Kb-Subject": message.subject.encode("ascii", "backslashreplace").decode(),
            "Kb-Sequence": str(message.sequence),
        }
        await self._append("KB_DEAD", f"dead.{durable}", message.data, f"dead:{message.sequence}:{durable}", headers)

    async def _append(
        self, stream: str, subject: str, data: bytes, id: str, headers: dict[str, str] | None = None
    ) -> int:
        end = asyncio.get_running_loop().time() + PUBLISH_PATIENCE
        while True:
            try:
                ack = await self.jetstream.publish(
                    subject,
                    data,
                    stream=stream,
                    timeout=PUBLISH_TIMEOUT,
                    headers={**(headers or {}), "Nats-Msg-Id": id},
                )
            except MaxPayloadError:
                raise Poison(f"{len(data)} bytes are more than the bus takes in one message") from None
            except APIError as error:
                if error.err_code == _TOO_LARGE:
                    raise Poison(f"{len(data)} bytes are more than {stream} takes in one message") from None
                if error.err_code in _FULL:
                    raise Unavailable(f"{stream} is full: {error.description}", retry_after=30.0) from None
                fault: Exception = error
            except (NatsTimeout, ConnectionClosedError, NoStreamResponseError) as error:
                fault = error
            else:
                return ack.seq
            # A timeout says nothing about the outcome: only the same id makes trying again harmless.
            if asyncio.get_running_loop().time() > end:
                raise Unavailable(f"{stream} did not confirm within {PUBLISH_PATIENCE:.0f} s: {fault!r}") from fault
            await asyncio.sleep(0.5)

    async def last_sequence(self) -> int:
        with _translated():
            return (await self.jetstream.stream_info("KB_EVENTS")).state.last_seq

    async def read(
        self, after: int = 0, subjects: Sequence[str] = (), *, page: int = 500
    ) -> AsyncGenerator[list[Message]]:
        config = ConsumerConfig(
            name=f"read-{uuid4().hex}",
            filter_subjects=list(subjects) or None,
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=after + 1,
            ack_policy=AckPolicy.NONE,
            inactive_threshold=60.0,
            mem_storage=True,
        )
        with _translated():
            info = await self.jetstream.add_consumer("KB_EVENTS", config)
            left = info.num_pending or 0
            reader = await self.jetstream.pull_subscribe_bind(consumer=info.name, stream="KB_EVENTS")
            try:
                while left > 0:
                    messages = await reader.fetch(min(page, left), timeout=10)
                    left -= len(messages)
                    yield [NatsMessage(message) for message in messages]
            finally:
                await reader.unsubscribe()
                await self.jetstream.delete_consumer("KB_EVENTS", info.name)


class _translated:
    """What the server does not answer becomes `Unavailable`."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(
            error, (NatsTimeout, ConnectionClosedError, NoStreamResponseError, ServerError, ServiceUnavailableError)
        ):
            raise Unavailable(f"the bus does not answer: {error!r}") from error


@dataclass(frozen=True)
class NatsBlobs:
    """`Blobs` on the stream KB_BLOBS: one immutable message per part."""

    jetstream: JetStreamContext

    async def put(self, text: str) -> BlobRef:
        data = text.encode()
        digest = hashlib.sha256(data).hexdigest()
        parts = [data[start : start + BLOB_PART] for start in range(0, len(data), BLOB_PART)] or [b""]
        for start in range(0, len(parts), 4):
            window = enumerate(parts[start : start + 4], start)
            await asyncio.gather(*(self._put(subjects.blob(digest, number), part) for number, part in window))
        return BlobRef(sha256=digest, size=len(data), parts=len(parts))

    async def _put(self, subject: str, part: bytes) -> None:
        try:
            await self.jetstream.publish(subject, part, stream="KB_BLOBS", timeout=PUBLISH_TIMEOUT)
        except APIError as error:
            # "Maximum messages per subject": the part is already there, and the same, for the subject is its hash.
            if error.err_code != 10077 or "per subject" not in (error.description or ""):
                raise Unavailable(f"KB_BLOBS does not take the text: {error.description}", retry_after=30.0) from None
        except (NatsTimeout, ConnectionClosedError) as error:
            raise Unavailable("KB_BLOBS did not confirm") from error

    async def get(self, ref: BlobRef) -> str:
        parts: list[bytes] = []
        for number in range(ref.parts):
            try:
                with _translated():
                    message = await self.jetstream.get_last_msg(
                        "KB_BLOBS", subjects.blob(ref.sha256, number), direct=True
                    )
            except NotFoundError:
                raise Poison(f"part {number} of blob {ref.sha256} is not in KB_BLOBS") from None
            parts.append(message.data or b"")
        data = b"".join(parts)
        if hashlib.sha256(data).hexdigest() != ref.sha256:
            raise Poison(f"blob {ref.sha256} does not have the hash of its name")
        return data.decode("utf-8", "replace")


@dataclass(frozen=True)
class NatsPointers:
    """`GenerationPointers` as one key of a JetStream key-value bucket."""

    bucket: KeyValue

    @classmethod
    async def bind(cls, jetstream: JetStreamContext) -> "NatsPointers":
        """Find the bucket. Raises ConfigurationError when `lightstream topology apply` was never run."""
        try:
            with _translated():
                return cls(await jetstream.key_value(GENERATIONS_BUCKET))
        except NotFoundError:
            raise ConfigurationError(
                f"bucket {GENERATIONS_BUCKET} does not exist: run `lightstream topology apply`"
            ) from None

    async def read(self) -> tuple[Pointers, int]:
        with _translated():
            try:
                entry = await self.bucket.get("pointers")
            except KeyNotFoundError:
                return {projection: Pointer() for projection in PROJECTIONS}, 0
        found = json.loads(entry.value or b"{}")
        return {name: Pointer(**found.get(name, {})) for name in PROJECTIONS}, entry.revision or 0

    async def write(self, pointers: Pointers, revision: int) -> None:
        value = json.dumps({name: vars(pointer) for name, pointer in pointers.items()}).encode()
        try:
            with _translated():
                await self.bucket.update("pointers", value, last=revision)
        except KeyWrongLastSequenceError:
            raise Unavailable("somebody else switched generations meanwhile; start again") from None

    async def live(self) -> Generations:
        pointers, _ = await self.read()
        return Generations(**{name: pointer.live for name, pointer in pointers.items()})
