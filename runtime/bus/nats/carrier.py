"""Carries events to the partition that their workspace was moved to.

Other systems publish as ever: the server maps a workspace to the partition of its hash, and knows
nothing of a move. What they publish to a workspace that has left that partition waits there in a
durable, whose messages are carried one after the other, in their order, and each once.
"""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import dataclass

import structlog
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import NotFoundError

from contracts import subjects
from contracts.partitions import partition_in, stream_name, subject_in
from runtime.bus.nats.connection import REQUEST_TIMEOUT, translated
from runtime.bus.nats.log_streams import LogStreams, log_streams
from runtime.bus.nats.messages import place_of
from runtime.bus.nats.pulling import opened_pull
from runtime.bus.nats.reading import PAGE, read_pages, reader_config
from runtime.errors import ServiceError

logger = structlog.get_logger(__name__)

CARRIER = "carrier"
"""Durable of a partition that workspaces have left: what is published to them there since."""

CARRIED_FROM = "Kb-Carried-From"
"""Header of an event that was carried: the sequence at which it was published."""

ACK_SECONDS = 30.0
"""Seconds until a message that nobody has carried is given to another process."""

LOOK_SECONDS = 1.0
"""Seconds between two looks for what is to be carried."""

FETCH_SECONDS = 0.1

_EXPECTATIONS = ("nats-expected-", "nats-msg-id", "nats-ttl")
"""Beginnings of headers with which a publisher told the server how to take a message."""


async def have_carried(
    jetstream: JetStreamContext, stream: str, tokens: Iterable[str], after: int
) -> None:
    """Let the carrier of a partition take what is published there to these workspaces from now on,
    or, where it has none yet, behind a sequence. Repeats change nothing.
    """
    filters = sorted(subjects.of_token(token)[0] for token in tokens)
    try:
        with translated():
            config = (await jetstream.consumer_info(stream, CARRIER)).config
    except NotFoundError:
        config = ConsumerConfig(
            durable_name=CARRIER,
            description="carries what is published to workspaces that were moved from here",
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=after + 1,
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=ACK_SECONDS,
            max_deliver=-1,
            max_ack_pending=1,  # in their order, by however many processes
        )
    with translated():
        await jetstream.add_consumer(
            stream, config.evolve(filter_subject=None, filter_subjects=filters)
        )


async def uncarried_count(jetstream: JetStreamContext, streams: LogStreams) -> int:
    """Return how many events wait to be carried, at most. Raises `Unavailable`."""
    count = 0
    for stream in left_streams(streams):
        try:
            with translated():
                info = await jetstream.consumer_info(stream, CARRIER)
        except NotFoundError:
            continue
        count += (info.num_pending or 0) + (info.num_ack_pending or 0)
    return count


def left_streams(streams: LogStreams) -> list[str]:
    """Return the streams that workspaces have left."""
    left_partitions = {
        partition
        for placement in streams.placements.values()
        for partition in placement.partitions[:-1]
    }
    return [*map(stream_name, sorted(left_partitions))]


@dataclass(frozen=True)
class Carrier:
    """Carries events in the background of a service."""

    jetstream: JetStreamContext

    async def run(self) -> None:
        """Carry what comes, for ever. With one partition there never is anything, and it ends."""
        while True:
            try:
                await self.carry()
                if (await log_streams(self.jetstream)).count == 1:
                    return
            except (ServiceError, NatsError, OSError) as error:
                logger.warning(
                    "could not carry events of a moved workspace",
                    error=f"{type(error).__name__}: {error}",
                )
            await asyncio.sleep(LOOK_SECONDS)

    async def carry(self) -> int:
        """Carry what waits, and return how many events that were. Raises `Unavailable`."""
        streams = await log_streams(self.jetstream)
        counts = [await self._carry_from(stream) for stream in left_streams(streams)]
        return sum(counts)

    async def _carry_from(self, stream: str) -> int:
        count = 0
        with translated():
            async with opened_pull(self.jetstream, stream, CARRIER) as pull:
                while messages := await pull.fetch(1, FETCH_SECONDS):
                    for message in messages:
                        if not await self._carry(message):
                            await message.nak(delay=LOOK_SECONDS)
                            return count
                        await message.ack_sync(timeout=REQUEST_TIMEOUT)
                        count += 1
        return count

    async def _carry(self, message: Msg) -> bool:
        """Carry an event, unless it counts where it stands or was carried before. False while its
        workspace is being moved.
        """
        sequence = place_of(message.reply).sequence
        streams = await log_streams(self.jetstream)
        if streams.is_moving(message.subject):
            return False
        if not streams.is_misplaced(message.subject, sequence):
            return True
        token = subjects.workspace_token(message.subject)
        stream = stream_name(streams.placements[token].partition)
        if not await self._was_carried(stream, message.subject, sequence):
            await self._publish(stream, message, sequence)
        return True

    async def _was_carried(self, stream: str, subject: str, sequence: int) -> bool:
        """Return whether an event stands in a stream already: the server knows ids for a while
        only, and a restored log knows none.
        """

        def behind(after: int) -> ConsumerConfig:
            return reader_config(after, inactive_seconds=5.0, subject=subject, headers_only=True)

        pages = read_pages(self.jetstream, stream, behind, 0, PAGE)
        async with aclosing(pages):
            async for messages in pages:
                if any(m.headers.get(CARRIED_FROM) == str(sequence) for m in messages):
                    return True
        return False

    async def _publish(self, stream: str, message: Msg, sequence: int) -> None:
        headers = {
            name: value
            for name, value in (message.headers or {}).items()
            if not name.lower().startswith(_EXPECTATIONS)
        }
        headers |= {CARRIED_FROM: str(sequence), "Nats-Msg-Id": f"carried-{sequence}"}
        subject = subject_in(partition_in(stream), message.subject)
        await self.jetstream.publish(
            subject, message.data, stream=stream, headers=headers, timeout=REQUEST_TIMEOUT
        )
        logger.info("carried an event of a moved workspace", subject=message.subject, to=stream)
