"""Which workspaces were moved between partitions of the log, in a backup."""

from dataclasses import replace

from nats.js import JetStreamContext

from contracts.partitions import LogPosition, partition_in
from contracts.placements import placements_in, placements_text
from runtime.bus.log_metadata import read_placements, write_placements
from runtime.bus.nats.carrier import have_carried, left_streams
from runtime.bus.nats.log_streams import log_streams


async def copied_placements(jetstream: JetStreamContext, end: LogPosition) -> str:
    """Return which workspaces were moved, as text, for a copy of the log up to `end`. A move that
    is under way is none in the copy. Raises `Unavailable`.
    """
    if (await log_streams(jetstream)).count == 1:
        return ""
    placements = {
        token: replace(
            placement,
            ends=tuple(
                min(sequence, end.up_to(sequence).sequences[partition])
                for partition, sequence in zip(placement.partitions, placement.ends, strict=False)
            ),
            target=None,
        )
        for token, placement in (await read_placements(jetstream)).items()
        if placement.ends
    }
    return placements_text(placements)


async def restore_placements(jetstream: JetStreamContext, text: str) -> None:
    """Note on a restored log which workspaces were moved, and have what was published to their
    earlier partitions carried where that was not done. Repeats change nothing. Raises
    `Unavailable`.
    """
    if not text:
        return
    placements = placements_in(text)
    await write_placements(jetstream, placements)
    streams = await log_streams(jetstream)
    for stream in left_streams(streams):
        of_stream = {
            token: end
            for token, placement in placements.items()
            if (end := placement.end_in(partition_in(stream))) is not None
        }
        await have_carried(jetstream, stream, of_stream, min(of_stream.values()))
