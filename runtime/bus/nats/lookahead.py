"""Look ahead in the log on NATS, at the messages that a consumer has not delivered yet.

It uses ephemeral consumers, which acknowledge nothing and which the server removes soon after the
last fetch. Each has one filter, so that a service may be allowed to read the subjects it consumes
and no others.
"""

from collections.abc import Sequence
from typing import NamedTuple

from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext

from contracts import subjects
from runtime.bus.nats.connection import SILENT, translated
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.nats.messages import NatsMessage, stated_size
from runtime.bus.nats.pulling import Pull, open_pull, opened_pull
from runtime.bus.nats.reading import reader_config
from runtime.errors import Unavailable

FORGOTTEN = 30.0
"""Seconds without a fetch after which the server removes a reader."""

FETCH = 5.0
"""Seconds a fetch of messages that are known to be there may take."""


MOMENT = 0.02
"""Seconds that a filter may take to answer while another one may have messages."""


class MessageHeader(NamedTuple):
    """What is known of a message without its data: where it stands, what it is about, its bytes."""

    sequence: int
    subject: str
    filter: str
    size: int


class Lookahead:
    """Readers of the headers of one stream behind a sequence, one for each filter of a consumer."""

    def __init__(self, jetstream: JetStreamContext, stream: str, filters: Sequence[str]) -> None:
        self._jetstream = jetstream
        self._stream = stream
        self._readers: dict[str, Pull | None] = dict.fromkeys(filters)
        self._after = dict.fromkeys(filters, 0)
        self._filters_at_end: set[str] = set()
        """Those of whose messages the reader has given all that there are."""

    async def headers(
        self, after: int, max_messages: int = 500, wait: float = 0.5
    ) -> list[MessageHeader]:
        """Return the headers of the next messages behind `after` and behind what was given before.

        Empty when there are none within `wait` seconds for each filter. Raises `Unavailable`.
        """
        # Retries are seldom requested: a backlog of documents does not wait for one each time.
        headers = await self._headers(after, max_messages, MOMENT)
        return headers or await self._headers(after, max_messages, wait)

    async def _headers(self, after: int, max_messages: int, wait: float) -> list[MessageHeader]:
        headers: list[MessageHeader] = []
        for filter in self._readers:
            messages = await self._fetch(filter, after, max_messages, wait)
            streams = await log_streams(self._jetstream)
            for message in messages:
                self._after[filter] = message.sequence
                if streams.is_moving(message.subject) or streams.is_misplaced(
                    message.subject, message.sequence
                ):
                    continue  # its delivery says what becomes of it
                size = stated_size(message.headers)
                headers.append(MessageHeader(message.sequence, message.subject, filter, size))
        return headers

    async def messages(
        self, filter: str, workspace: str, sequences: Sequence[int]
    ) -> list[NatsMessage]:
        """These messages of one workspace, whole; those that are gone are left out. Raises
        `Unavailable`.
        """
        return await stored(
            self._jetstream, self._stream, subjects.narrowed(filter, workspace), sequences
        )

    async def close(self) -> None:
        """Stop reading; the server removes the readers by itself."""
        for filter, reader in self._readers.items():
            self._readers[filter] = None
            if reader:
                await reader.close()

    async def _fetch(
        self, filter: str, after: int, max_messages: int, wait: float
    ) -> list[NatsMessage]:
        reader = self._readers[filter]
        is_behind = after > self._after[filter] and filter not in self._filters_at_end
        if reader is None or is_behind:
            # What ordinary delivery has passed meanwhile need not be looked at (decision 42).
            self._after[filter] = max(after, self._after[filter])
            reader = await self._reopened(filter)
        try:
            messages = await reader.fetch(max_messages, wait)
        except (NatsError, *SILENT) as error:
            self._readers[filter] = None  # the server has forgotten it, or was started again
            raise Unavailable(f"cannot look ahead: {error!r}") from error
        if messages:
            self._filters_at_end.discard(filter)
        else:
            self._filters_at_end.add(filter)
        return [NatsMessage(message) for message in messages]

    async def _reopened(self, filter: str) -> Pull:
        if old_reader := self._readers[filter]:
            self._readers[filter] = None  # whatever follows: this one can be used no more
            await old_reader.close()
        reader = await self._reader(filter, self._after[filter])
        self._readers[filter] = reader
        return reader

    async def _reader(self, filter: str, after: int) -> Pull:
        config = reader_config(after, inactive_seconds=FORGOTTEN, subject=filter, headers_only=True)
        try:
            with translated():
                info = await self._jetstream.add_consumer(self._stream, config)
                return await open_pull(self._jetstream, self._stream, info.name)
        except NatsError as error:
            raise Unavailable(f"cannot look ahead: {error!r}") from error


async def stored(
    jetstream: JetStreamContext, stream: str, filter: str, sequences: Sequence[int]
) -> list[NatsMessage]:
    """Return the whole messages at these sequences that pass the filter; removed ones are left out.

    They are not deliveries: acknowledging one does nothing. Raises `Unavailable`.
    """
    missing_sequences = sorted(set(sequences))
    result = list[NatsMessage]()
    try:
        while missing_sequences:
            with translated():
                config = reader_config(
                    missing_sequences[0] - 1, inactive_seconds=FETCH, subject=filter
                )
                info = await jetstream.add_consumer(stream, config)
                if not info.num_pending:
                    break
                async with opened_pull(jetstream, stream, info.name) as reader:
                    fetched_messages = await reader.fetch(
                        min(len(missing_sequences), info.num_pending), FETCH
                    )
            if not fetched_messages:
                raise NatsTimeout
            messages = [NatsMessage(message) for message in fetched_messages]
            result += [message for message in messages if message.sequence in missing_sequences]
            missing_sequences = [
                sequence for sequence in missing_sequences if sequence > messages[-1].sequence
            ]
    except (NatsError, TimeoutError) as error:
        raise Unavailable(f"events of the log could not be read: {error!r}") from error
    return result
