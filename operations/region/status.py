"""How far a following region is, and which regions follow one."""

from dataclasses import asdict, dataclass
from typing import Any

from nats.js import JetStreamContext

from contracts.partitions import LogPosition
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
    end: LogPosition
    """The end of its log."""
    follows: WritingRegion | None
    progress: RegionProgress | None
    mirrors: list[MirrorState]
    followers: list[RegionProgress]

    def fields(self) -> dict[str, Any]:
        """Return it as plain values, places as they are stored."""
        return {
            **asdict(self),
            "end": self.end.stored,
            "progress": self.progress.fields() if self.progress else None,
            "followers": [follower.fields() for follower in self.followers],
        }


async def read_status(jetstream: JetStreamContext) -> RegionStatus:
    """Return what this bus knows of regions. Raises ConfigurationError for a bus without streams,
    `Unavailable`.
    """
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    followed_region = await read_writing_region(jetstream)
    with translated():
        name = (await jetstream.account_info()).domain or ""
    end = await NatsLog(jetstream).end()
    partitions = len(end.sequences)
    return RegionStatus(
        name,
        end,
        followed_region,
        (await read_own_progress(values, partitions))[0] if followed_region else None,
        await _mirrors(jetstream, partitions) if followed_region else [],
        await read_followers(values),
    )


async def _mirrors(jetstream: JetStreamContext, partitions: int) -> list[MirrorState]:
    states: list[MirrorState] = []
    for config in mirrored_configs(partitions=partitions):
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
