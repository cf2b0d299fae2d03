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
from runtime.bus.nats.log_streams import streams_in
from runtime.bus.nats.region import WritingRegion, read_writing_region, writing_region
from runtime.bus.topology import bucket_config, log_configs, mirror_config, stream_config
from runtime.errors import InvalidInput, Unavailable
from runtime.workarounds.nats_py import connection_of

REACH_SECONDS = 2.0
"""Seconds that a call to the other region may take."""


def of_region(jetstream: JetStreamContext, region: WritingRegion) -> JetStreamContext:
    """Return the JetStream of the writing region, by the link between the two buses."""
    return connection_of(jetstream).jetstream(prefix=region.api_prefix, timeout=REACH_SECONDS)


def mirrored_configs(replicas: int = 1, shared_from: str = "") -> Iterator[StreamConfig]:
    """Yield the declarations of what a following region mirrors. `shared_from`: the place from
    which documents of the log share subjects, empty where they do not.
    """
    yield from log_configs(replicas, shared_from=shared_from)
    yield from (
        stream_config(declared_stream(name), replicas) for name in MIRRORED_STREAMS if name != LOG
    )
    yield from (
        bucket_config(bucket, replicas) for bucket in BUCKETS if bucket.name in MIRRORED_BUCKETS
    )


async def make_mirrors(
    jetstream: JetStreamContext, region: WritingRegion, replicas: int = 1
) -> list[str]:
    """Make what is missing of a following region's bus, and return a line for each thing made.

    Raises InvalidInput for a bus with a log of its own, or that follows another region, Unavailable
    where the region does not answer.
    """
    present_region = await _followed(jetstream)
    if present_region and present_region.name != region.name:
        raise InvalidInput(f"this bus follows the region {present_region.name} already")
    shared_from = await _shared_from(
        jetstream if present_region else await _reached(jetstream, region)
    )
    changes: list[str] = []
    for config in mirrored_configs(replicas, shared_from):
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


async def _shared_from(jetstream: JetStreamContext) -> str:
    """Return the place from which documents of a log share subjects, empty where they do not."""
    with translated():
        return ((await jetstream.stream_info(LOG)).config.metadata or {}).get(SHARED_KEY, "")


async def _reached(jetstream: JetStreamContext, region: WritingRegion) -> JetStreamContext:
    """Return the JetStream of a region that has a log that can be followed."""
    other = of_region(jetstream, region)
    try:
        with translated():
            info = await other.stream_info(LOG)
    except NotFoundError:
        raise InvalidInput(f"the region {region.name} has no log yet: start it first") from None
    except Unavailable:
        raise Unavailable(
            f"the region {region.name} does not answer over the link of the two buses: "
            "see whether its name is the JetStream domain there, and the log of this bus"
        ) from None
    streams_in(info.config).sole(f"following the region {region.name}")
    return other


async def promote_mirrors(jetstream: JetStreamContext) -> list[str]:
    """Make streams of the mirrors, and return their names. Repeats change nothing. The log comes
    last: until then this region counts as a following one.
    """
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    if await read_writing_region(jetstream):
        await allow_holes(jetstream, values, LOG)
    copies = (await jetstream.stream_info(LOG)).config.num_replicas or 1
    promoted_names: list[str] = []
    configs = mirrored_configs(copies, await _shared_from(jetstream))
    for config in sorted(configs, key=lambda config: config.name == LOG):
        name = config.name or ""
        if (await jetstream.stream_info(name)).config.mirror:
            await jetstream.update_stream(config)
            promoted_names.append(name)
    return promoted_names
