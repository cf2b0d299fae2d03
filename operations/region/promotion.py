"""Making a following region the one that is written to."""

import asyncio
from dataclasses import asdict, dataclass, replace
from typing import Any

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError

from contracts.partitions import LogPosition, partition_at
from contracts.topology import CHECKPOINTS_BUCKET, CONSUMERS
from runtime.bus.mirrors import of_region, promote_mirrors
from runtime.bus.nats.connection import translated
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_integrity import key_of
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.nats.region import REGION_KEY, read_writing_region
from runtime.errors import InvalidInput, Unavailable
from runtime.projections.region_progress import read_own_progress

END_SECONDS = 1.0
"""Seconds that a follower may need for the consumers it was moving."""


@dataclass(frozen=True)
class Promotion:
    """What a promotion would do now. Places and sequences are of the log."""

    region: str
    """The region that was followed."""
    answers: bool
    """Whether that one answers: then its services must be stopped before."""
    end: LogPosition
    """The end of the mirrors, and of the log from then on."""
    missing_events: int
    """Events that the other region is known to have and the mirror has not."""
    position: LogPosition
    """Up to here the stores of this region hold the log."""
    places: dict[str, int]
    """Where each consumer, by name and stream, goes on: behind what the other region had
    handled.
    """

    @property
    def first_place(self) -> LogPosition:
        """Return the place behind which the first consumer of each partition goes on."""
        sequences = [*self.end.sequences]
        for sequence in self.places.values():
            partition = partition_at(sequence)
            sequences[partition] = min(sequences[partition], sequence)
        return LogPosition(tuple(sequences))

    def fields(self) -> dict[str, Any]:
        """Return it as plain values, places as they are stored."""
        return {**asdict(self), "end": self.end.stored, "position": self.position.stored}


async def plan_promotion(jetstream: JetStreamContext) -> Promotion:
    """Return what would be done, changing nothing. Raises InvalidInput where this region follows
    none, `Unavailable`.
    """
    region = await read_writing_region(jetstream)
    if region is None:
        raise InvalidInput("this region writes the log: there is nothing to promote")
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    streams = await log_streams(jetstream)
    progress, _ = await read_own_progress(values, streams.count)
    end = await NatsLog(jetstream).end()
    writer_end = progress.writer_end
    try:
        writer_end = await NatsLog(of_region(jetstream, region)).end()
        answers = True
    except (Unavailable, NatsError, APIError):
        answers = False
    # What it had not handled, or is not in the stores here, is handled here once more: twice is
    # once, and answers of language models are in the log.
    places = {
        key: min(progress.floors.get(key, start), position)
        for stream, start, position in zip(
            streams.names, streams.start().sequences, progress.position.sequences, strict=True
        )
        for key in (key_of(consumer.name, stream) for consumer in CONSUMERS)
    }
    missing_events = writer_end.events_beyond(end)
    return Promotion(region.name, answers, end, missing_events, progress.position, places)


async def promote(jetstream: JetStreamContext, promotion: Promotion) -> None:
    """Do what was planned. Repeats change nothing; a killed one is given again. Raises
    `Unavailable`.
    """
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    streams = await log_streams(jetstream)
    await _end_follower(values, streams.count)
    for stream in streams.names:
        for consumer in CONSUMERS:
            place = promotion.places[key_of(consumer.name, stream)]
            with translated():
                await jetstream.reset_consumer(stream, consumer.name, place + 1)
    await promote_mirrors(jetstream)


async def _end_follower(values: NatsSharedValues, partitions: int) -> None:
    """Have the follower end at its next note, and wait until it moves no consumer any more."""
    while True:
        progress, revision = await read_own_progress(values, partitions)
        ending = replace(progress, promoting=True)
        if await values.write(REGION_KEY, ending.to_json(), revision):
            break
    await asyncio.sleep(END_SECONDS)
