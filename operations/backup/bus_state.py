"""What a backup keeps of the bus beside events and texts: consumers' places, dead letters, parked
events, buckets.
"""

import asyncio
from functools import partial
from pathlib import Path

from nats.js import JetStreamContext

from contracts.topology import (
    BUCKETS,
    CHECKPOINTS_BUCKET,
    CONSUMERS,
    GENERATIONS_BUCKET,
    LIMITS_BUCKET,
    PARKED_STREAM,
    REQUESTS_BUCKET,
    TURNS_BUCKET,
    UPLOADS_BUCKET,
)
from operations.backup.manifest import Manifest
from operations.backup.parts import read_part, write_part
from runtime.bus.generations import GenerationState
from runtime.bus.nats.connection import REQUEST_TIMEOUT, translated
from runtime.bus.nats.copies import read_records
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log_integrity import key_of as stream_key
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.records import RECORDED_AT, Record

DEAD_STREAM = "KB_DEAD"

NOT_COPIED = (LIMITS_BUCKET, TURNS_BUCKET, CHECKPOINTS_BUCKET, UPLOADS_BUCKET, REQUESTS_BUCKET)
"""Buckets that may be lost, the one that speaks of the very stores of this stack, and requests,
which count for a day.
"""


async def copy_bus_state(jetstream: JetStreamContext, folder: Path, manifest: Manifest) -> None:
    """Copy it into the folder and the manifest. Taken before the end of the log is read, so the log
    has it all.
    """
    manifest.floors = await consumer_floors(jetstream)
    # An event that is acknowledged because it is parked is on this list by now.
    manifest.parked = write_part(folder, "parked", await _all_records(jetstream, PARKED_STREAM))
    manifest.dead = write_part(folder, "dead", await _all_records(jetstream, DEAD_STREAM))
    manifest.values = {}
    for bucket in BUCKETS:
        if bucket.name not in NOT_COPIED:
            values = await NatsSharedValues.bind(jetstream, bucket.name)
            read = {
                key: (await values.read(key))[0].decode("utf-8", "surrogateescape")
                for key in await values.keys()
            }
            manifest.values[bucket.name] = {key: value for key, value in read.items() if value}


async def consumer_floors(jetstream: JetStreamContext) -> dict[str, int]:
    """Return up to where each consumer of the log, by its name and stream, has handled everything.
    Raises `Unavailable`.
    """
    names = (await log_streams(jetstream)).names
    # Together: between two regions each question takes as long as the way there and back.
    floors_of_streams = await asyncio.gather(*map(partial(_floors_in, jetstream), names))
    return {key: floor for floors in floors_of_streams for key, floor in floors.items()}


async def _floors_in(jetstream: JetStreamContext, stream: str) -> dict[str, int]:
    ask = partial(jetstream.consumer_info, stream)
    with translated():
        end = (await jetstream.stream_info(stream)).state.last_seq
        infos = await asyncio.gather(*(ask(consumer.name) for consumer in CONSUMERS))
    return {
        stream_key(info.name, stream): end
        if not info.num_pending and not info.num_ack_pending
        else (info.ack_floor.stream_seq if info.ack_floor else 0)
        for info in infos
    }


async def _all_records(jetstream: JetStreamContext, stream: str) -> list[Record]:
    return [
        record async for page in read_records(jetstream, stream) for record in page if record.data
    ]


async def restore_bus_state(jetstream: JetStreamContext, folder: Path, manifest: Manifest) -> None:
    """Put it on a bus whose log is restored and whose topology is applied. Repeats change
    nothing.
    """
    for part, stream in ((manifest.dead, DEAD_STREAM), (manifest.parked, PARKED_STREAM)):
        with translated():
            message_count = (await jetstream.stream_info(stream)).state.messages
        # A restore that was killed here leaves a part of them; what is there twice is handled once.
        if part and message_count < part.messages:
            await _publish_again(jetstream, stream, read_part(folder, part))
    for name, values in manifest.values.items():
        bucket = await NatsSharedValues.bind(jetstream, name)
        for key, value in values.items() if name != GENERATIONS_BUCKET else ():
            _, revision = await bucket.read(key)
            await bucket.write(key, value.encode("utf-8", "surrogateescape"), revision)
    await _restore_generations(jetstream, manifest)
    for stream in (await log_streams(jetstream)).names:
        for consumer in CONSUMERS:
            floor = manifest.floors.get(stream_key(consumer.name, stream), 0)
            await _restore_place(jetstream, stream, consumer.name, floor)


async def _restore_place(
    jetstream: JetStreamContext, stream: str, consumer: str, floor: int
) -> None:
    """Let a consumer of the log go on behind a sequence, if it is not that far."""
    with translated():
        info = await jetstream.consumer_info(stream, consumer)
        if (info.ack_floor.stream_seq if info.ack_floor else 0) < floor:
            await jetstream.reset_consumer(stream, consumer, floor + 1)


async def _publish_again(jetstream: JetStreamContext, stream: str, records: list[Record]) -> None:
    for record in records:
        headers = {**record.headers, RECORDED_AT: record.time.isoformat(timespec="microseconds")}
        with translated():
            await jetstream.publish(
                record.subject, record.data, stream=stream, headers=headers, timeout=REQUEST_TIMEOUT
            )


async def _restore_generations(jetstream: JetStreamContext, manifest: Manifest) -> None:
    """Go on counting where the backup stood: a number that was given out once never names other
    contents.
    """
    pointers = await NatsLiveGenerations.bind(jetstream)
    states, revision = await pointers.read()
    text = manifest.values.get(GENERATIONS_BUCKET, {}).get("pointers")
    if text and not revision:
        saved_states = NatsLiveGenerations.parse(text)
        for name, state in saved_states.items():
            states[name] = GenerationState(live=state.highest, highest=state.highest)
        await pointers.write(states, revision)
