"""Mirrors of the writing region's streams and buckets, and their promotion to streams of one's
own.
"""

from collections.abc import Iterator

from nats.js import JetStreamContext
from nats.js.api import StreamConfig
from nats.js.errors import NotFoundError

from contracts.partitions import LOG
from contracts.topology import (
    BUCKETS,
    CHECKPOINTS_BUCKET,
    MIRRORED_BUCKETS,
    MIRRORED_STREAMS,
    SHARED_KEY,
    declared_stream,
)
from runtime.bus import topology
from runtime.bus.nats.connection import translated
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log_integrity import allow_holes
from runtime.bus.nats.log_streams import LogStreams, streams_in
from runtime.bus.nats.region import WritingRegion, read_writing_region, writing_region
from runtime.bus.partitioning import require_mapping
from runtime.bus.topology import bucket_config, log_configs, mirror_config, stream_config
from runtime.errors import InvalidInput, Unavailable
from runtime.workarounds.nats_py import connection_of

REACH_SECONDS = 2.0
"""Seconds that a call to the other region may take."""


def of_region(jetstream: JetStreamContext, region: WritingRegion) -> JetStreamContext:
    """Return the JetStream of the writing region, by the link between the two buses."""
    return connection_of(jetstream).jetstream(prefix=region.api_prefix, timeout=REACH_SECONDS)


def mirrored_streams(streams: LogStreams) -> tuple[str, ...]:
    """Return the names of the streams that a following region mirrors: those of the log first."""
    return (*streams.names, *(name for name in MIRRORED_STREAMS if name != LOG))


def mirrored_configs(
    replicas: int = 1, partitions: int = 1, shared_from: str = ""
) -> Iterator[StreamConfig]:
    """Yield the declarations of what a following region mirrors, the log first. `shared_from`: the
    place from which documents of the log share subjects, empty where they do not.
    """
    yield from log_configs(replicas, partitions, shared_from=shared_from)
    yield from (
        stream_config(declared_stream(name), replicas) for name in MIRRORED_STREAMS if name != LOG
    )
    yield from (
        bucket_config(bucket, replicas) for bucket in BUCKETS if bucket.name in MIRRORED_BUCKETS
    )


async def make_mirrors(
    jetstream: JetStreamContext,
    region: WritingRegion,
    replicas: int = 1,
    partitions: int | None = None,
) -> list[str]:
    """Make what is missing of a following region's bus, and return a line for each thing made.
    `partitions`: how many its server was set up for, where somebody said so.

    Raises InvalidInput for a bus with a log of its own, that follows another region, or that was
    set up for another number of partitions, ConfigurationError where its server does not map events
    to those of the region, Unavailable where the region does not answer.
    """
    present_region = await _followed(jetstream)
    if present_region and present_region.name != region.name:
        raise InvalidInput(f"this bus follows the region {present_region.name} already")
    log_config = await (_log_config(jetstream) if present_region else _reached(jetstream, region))
    streams = streams_in(log_config)
    count = streams.count
    if streams.placements:
        raise InvalidInput(
            f"workspaces of the region {region.name} were moved between the partitions of its log: "
            "such a log cannot be followed yet"
        )
    if partitions not in (None, count):
        raise InvalidInput(
            f"the log of the region {region.name} has {count} partitions, and this stack is made "
            f"for {partitions}: a region that follows has as many"
        )
    if count > 1 and present_region is None:
        # Needed from a promotion on, whose hour is a bad one to find that it is missing.
        await require_mapping(jetstream, count)
    changes: list[str] = []
    for config in _mirrored_like(log_config, replicas):
        name = config.name or ""
        try:
            await jetstream.stream_info(name)
        except NotFoundError:
            await jetstream.add_stream(mirror_config(config, region.source(name), region.api))
            changes.append(f"created mirror {name} of the region {region.name}")
    return changes + await topology.apply(jetstream)


async def _followed(jetstream: JetStreamContext) -> WritingRegion | None:
    """Return the region that this bus follows, None for an empty bus. Raises InvalidInput for one
    with a log of its own.
    """
    try:
        config = (await jetstream.stream_info(LOG)).config
    except NotFoundError:
        return None
    if region := writing_region(config):
        return region
    raise InvalidInput(
        "this bus has a log of its own, and only an empty one can follow another region: "
        "start with a new data folder, or a bus without streams"
    )


async def _log_config(jetstream: JetStreamContext) -> StreamConfig:
    with translated():
        return (await jetstream.stream_info(LOG)).config


def _mirrored_like(log_config: StreamConfig, replicas: int) -> Iterator[StreamConfig]:
    """Yield the declarations of what is mirrored, of a log whose first stream is like this."""
    shared_from = (log_config.metadata or {}).get(SHARED_KEY, "")
    return mirrored_configs(replicas, streams_in(log_config).count, shared_from)


async def _reached(jetstream: JetStreamContext, region: WritingRegion) -> StreamConfig:
    """Return how the log of a region is that can be followed."""
    try:
        return await _log_config(of_region(jetstream, region))
    except NotFoundError:
        raise InvalidInput(f"the region {region.name} has no log yet: start it first") from None
    except Unavailable:
        raise Unavailable(
            f"the region {region.name} does not answer over the link of the two buses: "
            "see whether its name is the JetStream domain there, and the log of this bus"
        ) from None


async def promote_mirrors(jetstream: JetStreamContext) -> list[str]:
    """Make streams of the mirrors, and return their names. Repeats change nothing. The first stream
    of the log comes last: until then this region counts as a following one.
    """
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    log_config = await _log_config(jetstream)
    if await read_writing_region(jetstream):
        for stream in streams_in(log_config).names:
            await allow_holes(jetstream, values, stream)
    promoted_names: list[str] = []
    configs = _mirrored_like(log_config, log_config.num_replicas or 1)
    for config in sorted(configs, key=lambda config: config.name == LOG):
        info = await jetstream.stream_info(config.name or "")
        if info.config.mirror:
            await _begin_at_first(jetstream, config, info.state.last_seq)
            await jetstream.update_stream(config)
            promoted_names.append(info.config.name or "")
    return promoted_names


async def _begin_at_first(
    jetstream: JetStreamContext, config: StreamConfig, last_sequence: int
) -> None:
    """Have a partition that was never heard of begin where its sequences do: the server takes the
    first one of a configuration only when it makes a stream.
    """
    if config.first_seq and last_sequence < config.first_seq - 1:
        await jetstream.purge_stream(config.name or "", seq=config.first_seq)
