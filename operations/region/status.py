"""How far a following region is, and which regions follow one."""

from dataclasses import dataclass

from nats.js import JetStreamContext

from contracts.topology import CHECKPOINTS_BUCKET
from runtime.bus.mirrors import mirrored_configs
from runtime.bus.nats.connection import translated
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.region import FOLLOWER_PREFIX, WritingRegion, read_writing_region
from runtime.projections.region_progress import RegionProgress, read_followers, read_own_progress


@dataclass(frozen=True)
class MirrorState:
    """A mirror as its server describes it."""

    stream: str
    lag: int
    """Messages that its source was known to have beyond it."""
    silent_seconds: float
    """Since it last heard of its source; -1 where it never has."""
    error: str = ""


@dataclass(frozen=True)
class RegionStatus:
    """One region. `follows` and `progress`: None in a region that writes."""

    name: str
    end: int
    """The end of its log."""
    follows: WritingRegion | None
    progress: RegionProgress | None
    mirrors: list[MirrorState]
    followers: list[RegionProgress]


async def read_status(jetstream: JetStreamContext) -> RegionStatus:
    """Return what this bus knows of regions. Raises ConfigurationError for a bus without streams,
    `Unavailable`.
    """
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    followed_region = await read_writing_region(jetstream)
    with translated():
        name = (await jetstream.account_info()).domain or ""
    end = (await NatsLog(jetstream).end()).event_count
    return RegionStatus(
        name,
        end,
        followed_region,
        (await read_own_progress(values))[0] if followed_region else None,
        await _mirrors(jetstream) if followed_region else [],
        await read_followers(values),
    )


async def _mirrors(jetstream: JetStreamContext) -> list[MirrorState]:
    states: list[MirrorState] = []
    for config in mirrored_configs():
        with translated():
            source = (await jetstream.stream_info(config.name or "")).mirror
        if source:
            silence = source.active if source.active is not None else -1
            error = str(source.error or "")
            seconds = silence / 1e9 if silence >= 0 else -1.0
            states.append(MirrorState(source.name, source.lag or 0, round(seconds, 1), error))
    return states


async def forget(jetstream: JetStreamContext, name: str) -> bool:
    """Remove what a region that followed this one said last, and return whether there was
    anything.
    """
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    key = f"{FOLLOWER_PREFIX}{name}"
    value, revision = await values.read(key)
    return bool(value) and await values.write(key, b"", revision)
