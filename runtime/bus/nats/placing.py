"""Publishing and consuming while workspaces are moved between partitions of the log."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from nats.js import JetStreamContext

from contracts.partitions import stream_name
from runtime.bus.nats.log_streams import LogStreams, forget_streams, log_streams
from runtime.bus.nats.messages import NatsMessage
from runtime.errors import Unavailable

LOOK_AGAIN = 0.2
"""Seconds until a publisher that waits looks whether the workspace is at rest."""

MOVE_SECONDS = 5.0
"""Seconds that a move takes at most while nothing stops it: until then publishers wait."""

CLOCK_SECONDS = 60.0
"""Seconds by which clocks of two machines may differ."""

Process = Callable[[Sequence[NatsMessage]], Awaitable[None]]


async def streams_at_rest(jetstream: JetStreamContext, workspace: str, subject: str) -> LogStreams:
    """Return the streams of the log when the workspace is not being moved. Raises `Unavailable`
    where that does not end, with the way out.

    What is about questions waits for nothing: it counts wherever it stands.
    """
    end = time.monotonic() + MOVE_SECONDS
    while (streams := await log_streams(jetstream)).is_moving(subject):
        placement = streams.placement(workspace)
        if time.monotonic() > end:
            raise Unavailable(
                f"workspace {workspace} is being moved to partition {placement.target} of the log, "
                f"since {_clock_time(placement.began_at)}: nothing is published to it until that "
                "ends, which takes seconds; if the move was stopped, `lightstream partition move "
                f"{workspace} --to {placement.target}` goes on with it",
                retry_after=MOVE_SECONDS,
            )
        await asyncio.sleep(LOOK_AGAIN)
        forget_streams(jetstream)
    return streams


def _clock_time(seconds: float) -> str:
    return time.strftime("%H:%M:%S UTC", time.gmtime(seconds))


def stream_before(streams: LogStreams, workspace: str) -> str | None:
    """Return the stream in which what is published again now may stand already: the workspace left
    it since, and it still knows ids of then.
    """
    placement = streams.placement(workspace)
    is_recent = time.time() < placement.moved_at + streams.id_seconds + CLOCK_SECONDS
    return stream_name(placement.partitions[-2]) if placement.ends and is_recent else None


def without_misplaced(jetstream: JetStreamContext, process: Process) -> Process:
    """Return what takes deliveries of a partition and leaves to `process` those that count there.

    What its workspace has left before is done here: it is carried to where it belongs, and handled
    there. What may be of that kind, while a workspace is being moved, comes again.
    """

    async def take(messages: Sequence[NatsMessage]) -> None:
        try:
            streams = await log_streams(jetstream)
        except Unavailable:
            return  # they are not acknowledged, and come again
        if not streams.placements:
            await process(messages)
            return
        counting: list[NatsMessage] = []
        for message in messages:
            if streams.is_misplaced(message.subject, message.sequence):
                await message.ack()
            elif streams.is_moving(message.subject):
                await message.nak(min(message.attempt, MOVE_SECONDS))
            else:
                counting.append(message)
        if counting:
            await process(counting)

    return take
