"""Making a following region the one that is written to."""

import asyncio
from dataclasses import dataclass, replace

from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError

from contracts.topology import CHECKPOINTS_BUCKET, CONSUMERS
from runtime.bus.mirrors import of_region, promote_mirrors
from runtime.bus.nats.connection import translated
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log_streams import sole_stream
from runtime.bus.nats.region import REGION_KEY, read_writing_region
from runtime.errors import InvalidInput, Unavailable
from runtime.projections.region_progress import read_own_progress

PURPOSE = "promoting a region"

END_SECONDS = 1.0
"""Seconds that a follower may need for the consumers it was moving."""


@dataclass(frozen=True)
class Promotion:
    """What a promotion would do now. Sequences are of the log."""

    region: str
    """The region that was followed."""
    answers: bool
    """Whether that one answers: then its services must be stopped before."""
    end: int
    """The end of the mirror, and of the log from then on."""
    missing_events: int
    """Events that the other region is known to have and the mirror has not."""
    position: int
    """Up to here the stores of this region hold the log."""
    places: dict[str, int]
    """Where each consumer goes on: behind what the other region had handled."""


async def plan_promotion(jetstream: JetStreamContext) -> Promotion:
    """Return what would be done, changing nothing. Raises InvalidInput where this region follows
    none, `Unavailable`.
    """
    region = await read_writing_region(jetstream)
    if region is None:
        raise InvalidInput("this region writes the log: there is nothing to promote")
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    progress, _ = await read_own_progress(values)
    stream = await sole_stream(jetstream, PURPOSE)
    with translated():
        end = (await jetstream.stream_info(stream)).state.last_seq
    writer_end = progress.writer_end
    try:
        writer_end = (await of_region(jetstream, region).stream_info(stream)).state.last_seq
        answers = True
    except (Unavailable, NatsError, APIError):
        answers = False
    # What it had not handled, or is not in the stores here, is handled here once more: twice is
    # once, and answers of language models are in the log.
    places = {
        consumer.name: min(progress.floors.get(consumer.name, 0), progress.position)
        for consumer in CONSUMERS
    }
    missing_events = max(0, writer_end - end)
    return Promotion(region.name, answers, end, missing_events, progress.position, places)


async def promote(jetstream: JetStreamContext, promotion: Promotion) -> None:
    """Do what was planned. Repeats change nothing; a killed one is given again. Raises
    `Unavailable`.
    """
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    await _end_follower(values)
    stream = await sole_stream(jetstream, PURPOSE)
    for name, place in promotion.places.items():
        with translated():
            await jetstream.reset_consumer(stream, name, place + 1)
    await promote_mirrors(jetstream)


async def _end_follower(values: NatsSharedValues) -> None:
    """Have the follower end at its next note, and wait until it moves no consumer any more."""
    while True:
        progress, revision = await read_own_progress(values)
        ending = replace(progress, promoting=True)
        if await values.write(REGION_KEY, ending.to_json(), revision):
            break
    await asyncio.sleep(END_SECONDS)
