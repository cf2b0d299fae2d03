"""Keeps the stores of a following region up to date with its mirrored log.

What the services do elsewhere is done here by the handlers of a rebuild: they write the stores,
publish nothing and ask no language model, for its answers are in the log. All consumers of the
region stand where its stores are, so whoever asks how far they are finds it where it always stands.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import structlog
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError

from contracts.graph import PROJECTIONS
from contracts.partitions import LogPosition
from contracts.topology import CHECKPOINTS_BUCKET, CONSUMERS
from operations import projections
from operations.backup.bus_state import consumer_floors
from operations.checkpoints import Checkpoints
from operations.chosen_models import open_own
from operations.erasure.remade_stores import make_stores_anew
from operations.open_stack import open_prepared
from operations.projections import RebuildRequest
from operations.rebuild import Rebuild
from operations.region.erasing import read_tombstones, remove_listed
from operations.target import Target
from runtime.bus.generations import live_generations
from runtime.bus.mirrors import mirrored_streams, of_region
from runtime.bus.nats.connection import translated
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import LogStreams, log_streams
from runtime.bus.nats.region import FOLLOWER_PREFIX, REGION_KEY, WritingRegion, read_writing_region
from runtime.bus.port import SharedValues
from runtime.errors import ConfigurationError, Retryable, Unavailable
from runtime.projections.region_progress import RegionProgress, read_own_progress
from runtime.workarounds.nats_py import connection_of
from services.merger.settings import MergerSettings

logger = structlog.get_logger(__name__)

Report = Callable[[str], None]

PAUSE = 0.5
"""Seconds between two looks at the end of the mirror."""

NOTE_SECONDS = 2.0
"""Seconds between two notes of how far this region is, and two looks at the writing one."""

QUIET_SECONDS = 3.0
"""Seconds without another tombstone after which stores are made anew: an erasure has many."""


@dataclass
class Follower:
    """The follower of one region. `consumers_at`: where it moved those of each stream to."""

    target: Target
    region: WritingRegion
    jetstream: JetStreamContext
    streams: LogStreams
    values: SharedValues
    report: Report
    progress: RegionProgress = field(default_factory=RegionProgress)
    revision: int = 0
    tombstone_at: float = 0.0
    consumers_at: dict[str, int] = field(default_factory=dict[str, int])

    @classmethod
    async def open(
        cls, target: Target, region: WritingRegion, jetstream: JetStreamContext, report: Report
    ) -> "Follower":
        """Return the follower with what it noted last. Raises `Unavailable`, and ConfigurationError
        in a region that is being promoted.
        """
        values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
        streams = await log_streams(jetstream)
        progress, revision = await read_own_progress(values, streams.count)
        if progress.promoting:
            raise ConfigurationError("this region is being promoted: it follows no more")
        with translated():
            own_name = (await jetstream.account_info()).domain or ""
        progress = replace(progress, region=own_name)
        return cls(target, region, jetstream, streams, values, report, progress, revision)

    async def run(self) -> None:
        """Follow until this region is promoted. Raises ConfigurationError for events of a newer
        program.
        """
        while await self._is_following():
            try:
                await self._follow()
            except (Retryable, NatsError, APIError) as error:
                self.report(f"cannot follow now: {type(error).__name__}: {error}")
                await asyncio.sleep(1)

    async def _follow(self) -> None:
        """Follow with stores opened once, until other generations go live or the region is
        promoted.
        """
        self.consumers_at.clear()
        await self._erase()
        if self.progress.position.event_count:
            await self.advance(self.progress.position)
        else:
            await self._fill()
        async with self._opened() as work:
            live = work.generations
            while await self.apply(work) or await self._is_following():
                await self.note()
                if await self._erase() or await work.pointers.live() != live:
                    return
                await asyncio.sleep(PAUSE)

    async def _fill(self) -> None:
        """Load what the mirror holds in bulk, into new generations."""
        log = NatsLog(self.jetstream)
        await self._caught_up()
        end = await log.end()
        if end.event_count:
            self.report(f"loading {end.event_count} events of the mirrored log")
            result = await projections.rebuild(
                self.target, RebuildRequest(PROJECTIONS), lambda step: logger.info("load", **step)
            )
            self._refuse_newer(result["newer"])
            self.progress = replace(self.progress, cleaned_to=self.progress.removed_to)
            await self.advance(end)

    async def _caught_up(self) -> None:
        """Return when the mirrors of the log have what the writing region has, or that one does not
        answer.
        """
        for stream in self.streams.names:
            while True:
                with translated():
                    mirror = (await self.jetstream.stream_info(stream)).mirror
                if mirror is None or not mirror.lag or mirror.error:
                    break
                await asyncio.sleep(PAUSE)

    @asynccontextmanager
    async def _opened(self) -> AsyncGenerator[Rebuild]:
        """Yield what handles events, with the live generations and the model of their vectors."""
        async with open_prepared(self.target.settings) as stack:
            jetstream = stack.client.jetstream()
            pointers = await NatsLiveGenerations.bind(jetstream)
            states, _ = await pointers.read()
            live = live_generations(states)
            own_models = await open_own(stack.embeddings, states["vectors"].own_generations)
            async with stack.embeddings.of(live.vectors) as embedding:
                stores = replace(stack.stores, vectors=embedding.vectors)
                yield Rebuild(
                    NatsLog(jetstream),
                    pointers,
                    stores,
                    embedding.embedder,
                    PROJECTIONS,
                    lambda _: None,
                    self.target.settings_of(MergerSettings),
                    await Checkpoints.open(jetstream, stores),
                    generations=live,
                    own_models=own_models,
                )

    async def apply(self, work: Rebuild) -> bool:
        """Bring the stores up to the end of the mirrors, and return whether there was anything.

        Raises ConfigurationError for an event of a newer program, which the stores would lack.
        """
        work.position = self.progress.position
        await work.catch_up()
        self._refuse_newer(work.newer_events)
        if self.progress.position.includes(work.position):
            return False
        assert work.checkpoints is not None
        for projection in PROJECTIONS:
            generation = work.generations.of(projection)
            await work.checkpoints.record(projection, generation, work.position.event_count)
        await self.advance(work.position)
        return True

    def _refuse_newer(self, newer_events: Sequence[object]) -> None:
        if newer_events:
            raise ConfigurationError(
                f"the region {self.region.name} writes events of a newer release "
                f"({newer_events[0]}): install that one here first"
            )

    async def _is_following(self) -> bool:
        return await read_writing_region(self.jetstream) is not None

    async def advance(self, position: LogPosition) -> None:
        """Note that the stores hold the log up to there, and move the consumers there."""
        # In this order: a promotion stops the write, and the consumers are its own from then on.
        self.progress = replace(self.progress, position=position)
        await self._write()
        for stream, sequence in zip(self.streams.names, position.sequences, strict=True):
            if self.consumers_at.get(stream) == sequence:
                continue
            for consumer in CONSUMERS:
                with translated():
                    await self.jetstream.reset_consumer(stream, consumer.name, sequence + 1)
            self.consumers_at[stream] = sequence

    async def _erase(self) -> bool:
        """Do what erasures of the writing region ask for, and return whether stores were made anew
        for it. Mirrors first: they have the words of what is erased.
        """
        await self.remove_erased()
        is_quiet = time.monotonic() - self.tombstone_at >= QUIET_SECONDS
        has_stores = self.progress.position.event_count > 0
        if not (self.progress.is_erasing and has_stores and is_quiet):
            return False
        position = self.progress.removed_to
        tombstones = await read_tombstones(self.jetstream, self.progress.cleaned_to)
        documents = dict.fromkeys((stone.workspace, stone.document) for stone in tombstones)
        end = await NatsLog(self.jetstream).end()
        await make_stores_anew(self.target, list(documents), self.report)
        self.progress = replace(self.progress, cleaned_to=position)
        await self.advance(end.joined(self.progress.position))
        return True

    async def remove_erased(self) -> None:
        """Remove from the mirrors what the tombstones list that came since."""
        tombstones = await read_tombstones(self.jetstream, self.progress.removed_to)
        if not tombstones:
            return
        listing = [tombstone for tombstone in tombstones if tombstone.sequences]
        was_clean = not self.progress.is_erasing
        if listing:
            await remove_listed(self.jetstream, listing)
            self.report(f"removed from the mirrors what {len(listing)} tombstones list")
            self.tombstone_at = time.monotonic()
        removed_to = self.progress.removed_to.behind(stone.sequence for stone in tombstones)
        self.progress = replace(self.progress, removed_to=removed_to)
        if was_clean and not listing:
            self.progress = replace(self.progress, cleaned_to=self.progress.removed_to)
        await self._write()

    async def note(self) -> None:
        """Note now and then how far this region is, here and at the writing one."""
        if time.time() - self.progress.noted_at < NOTE_SECONDS:
            return
        await self._look_at_writer()
        self.progress = replace(self.progress, noted_at=time.time())
        await self._write()
        subject = f"{self.region.api_prefix}.$KV.{CHECKPOINTS_BUCKET}.{FOLLOWER_PREFIX}"
        message = f"{subject}{self.progress.region or 'unnamed'}", self.progress.to_json()
        await connection_of(self.jetstream).publish(*message)

    async def _look_at_writer(self) -> None:
        """Ask the writing region for the places of its consumers, and note them once all that they
        led to is mirrored: a promoted region goes on there.
        """
        writer = of_region(self.jetstream, self.region)
        names = mirrored_streams(self.streams)
        try:
            floors = await consumer_floors(writer)
            infos = await asyncio.gather(*map(writer.stream_info, names))
        except (Unavailable, NatsError, APIError):
            return
        ends = [info.state.last_seq for info in infos]
        end_of_log = self.streams.start().behind(ends[: self.streams.count])
        self.progress = replace(self.progress, writer_end=end_of_log, writer_heard=time.time())
        for name, end in zip(names, ends, strict=True):
            with translated():
                if (await self.jetstream.stream_info(name)).state.last_seq < end:
                    return
        self.progress = replace(self.progress, floors=floors)

    async def _write(self) -> None:
        if not await self.values.write(REGION_KEY, self.progress.to_json(), self.revision):
            raise ConfigurationError("another follower is at work, or this region was promoted")
        _, self.revision = await self.values.read(REGION_KEY)
