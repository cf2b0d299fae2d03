"""Check every few seconds whether the log and the stores of a service have lost data.

A log that lost messages is not written to. A store that lost what it held answers no questions.
Both are told on the health page and, for the other services and the command line, on the bus.
"""

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import structlog
from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from contracts.graph import PROJECTIONS, Generations, Projection
from runtime.activity import waiting
from runtime.bus.nats import log_integrity
from runtime.bus.nats.log_evidence import LogEvidence, collect_log_evidence, observe_log
from runtime.bus.nats.log_integrity import EarlierLook, Evidence
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.port import Delivery, Events, Handler, LiveGenerations, SharedValues
from runtime.bus.write_status import WriteStatus
from runtime.concurrency.background import in_background
from runtime.concurrency.events import first_of
from runtime.errors import Retryable, ServiceError, StoreBehind, Unavailable
from runtime.health import Health
from runtime.projections import checkpoints
from runtime.projections.checkpoints import ProjectionState, WatchedProjection
from runtime.projections.log_marks import kept_mark, move_mark
from runtime.projections.remembered_values import RememberedValues
from runtime.projections.verdicts import FINDERS, Verdict, read_verdict, write_verdict
from runtime.projections.write_probe import WriteProbe
from runtime.stores.documents import schema
from runtime.stores.documents.checkpoints import newest_versions
from runtime.stores.documents.port import Rows
from runtime.stores.documents.schema import SchemaRecord
from runtime.stores.port import Checkpoint, CheckpointStore

logger = structlog.get_logger(__name__)

INTERVAL = 5.0
"""Seconds between two looks while something is handled or asked."""

QUIET_INTERVAL = 15.0
"""The same while nothing is: a stack at rest costs little. What comes then is looked for at once.
"""

INTERVAL_OF_DOUBT = 1.0
"""The same while a store is lost, or nobody could look at the log since the bus was away: nothing
is answered, or written, before a look succeeds.
"""


@dataclass
class Integrity:
    """Whether the log and the stores that this process uses have lost anything. `mark_store` holds
    the log's mark.

    `schema_store` holds the record of what older programs left incomplete.
    """

    stage: str
    jetstream: JetStreamContext
    pointers: LiveGenerations
    values: SharedValues
    writes: WriteStatus
    watches: list[WatchedProjection] = field(default_factory=list[WatchedProjection])
    mark_store: Rows | None = None
    schema_store: Rows | None = None
    schema_record: SchemaRecord | None = None
    """The one that was read last."""
    unconfirmed_projections: set[Projection] = field(default_factory=set[Projection])
    """Projections that something was made from since they were last seen to be complete."""
    behind: dict[Projection, str] = field(default_factory=dict[Projection, str])
    damage: str = ""
    first_look: asyncio.Event = field(default_factory=asyncio.Event)
    accepted_count: int = 0
    looked_in: int = -1
    """How often the connection had been lost when the last check ended."""
    evidence: LogEvidence | None = None
    """That of the last check, unless the connection was lost since."""
    usage: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when something was handled, or asked of the stores, since the last look began."""

    def __post_init__(self) -> None:
        self.known_values = RememberedValues(self.values)
        self.probe = WriteProbe(self.jetstream, self.writes)

    def watch(
        self,
        projection: Projection,
        parts: Mapping[str, CheckpointStore],
        durables: tuple[str, ...] = (),
        held_durables: tuple[str, ...] = (),
    ) -> None:
        """Watch these stores of a projection; with `durables`, keep their checkpoints. See
        WatchedProjection.
        """
        self.watches.append(WatchedProjection(projection, parts, durables, held_durables))

    def require(self, *projections: Projection) -> None:
        """Raises `StoreBehind` when a store of one of them (none named: any) was lost,
        `Unavailable` before a look.
        """
        self.usage.set()
        if not self.first_look.is_set() or (
            self.schema_store is not None and self.schema_record is None
        ):
            raise Unavailable("the stores were not looked at yet")
        if self.schema_record and self.schema_record.problem:
            raise Unavailable(self.schema_record.problem)
        if any(projection in self.behind for projection in projections or PROJECTIONS):
            raise StoreBehind(checkpoints.loss_message(self.behind))

    @asynccontextmanager
    async def watching(self, health: Health) -> AsyncGenerator[None]:
        """Check at once, and repeatedly inside the context; the health page shows the result."""
        self.writes.is_watched = True
        health.probes["log"] = self._refusal
        health.probes["stores"] = self._losses
        health.probes["publishes"] = self.writes.problem
        await self._look()
        async with in_background(self._look_again()):
            yield

    async def _look_again(self) -> None:
        while True:
            if self.behind or not self.writes.log_check.is_set():
                await first_of([self.writes.recovery], INTERVAL_OF_DOUBT)
            else:
                await first_of([self.writes.recovery], INTERVAL)
                await first_of([self.writes.recovery, self.usage], QUIET_INTERVAL - INTERVAL)
            self.writes.recovery.clear()
            self.usage.clear()
            await self._look()

    async def _look(self) -> None:
        try:
            await self.look()
        except (ServiceError, NatsError, OSError) as error:
            logger.warning("could not look at the log", error=f"{type(error).__name__}: {error}")
        except Exception:
            logger.exception("could not look at the log")

    def hold(self, durable: str, handle: Handler, health: Health) -> Handler:
        """The handler, which nothing reaches while the log is refused, or while what it builds on
        is incomplete.

        What waited then is delivered again.
        """
        needed_projections: list[Projection] = [
            watch.projection for watch in self.watches if durable in watch.held_durables
        ]

        async def handle_when_allowed(
            batch: Sequence[Delivery[Any]], generations: Generations, /
        ) -> Sequence[Events]:
            self.usage.set()
            if not self._hindrance(needed_projections):
                self.unconfirmed_projections.update(needed_projections)
                return await handle(batch, generations)
            with waiting():
                while (hindrance := self._hindrance(needed_projections)) and not health.stage:  # noqa: ASYNC110
                    await asyncio.sleep(0.2)
            raise Unavailable(
                hindrance or "this had to wait for the log or for a rebuild until now"
            )

        return handle_when_allowed

    def _hindrance(self, needed_projections: Collection[Projection]) -> str:
        """Return why nothing may be handled that needs these projections; empty when it may."""
        if self.writes.refusal:
            return self.writes.refusal
        if needed_projections and self.schema_store is not None and self.schema_record is None:
            return "the stores were not looked at yet"
        if needed_projections and self.schema_record and self.schema_record.problem:
            return self.schema_record.problem
        losses: dict[Projection, str] = {
            projection: self.behind[projection]
            for projection in needed_projections
            if projection in self.behind
        }
        return checkpoints.loss_message(losses) if losses else ""

    def note_beginnings(self, durable: str, handle: Handler) -> Handler:
        """The handler, which also notes on the bus that stores were written, before the first of it
        counts as handled.

        Until `look` moves the checkpoints for the first time, nothing else tells stores that are
        lost from new ones.
        """
        filled_watch = next((watch for watch in self.watches if durable in watch.durables), None)
        if filled_watch is None:
            return handle
        begun_generations: set[int] = set()

        async def handle_and_note(
            batch: Sequence[Delivery[Any]], generations: Generations, /
        ) -> Sequence[Events]:
            results = await handle(batch, generations)
            generation = generations.of(filled_watch.projection)
            if generation not in begun_generations:
                await self._begin(filled_watch, generation)
                begun_generations.add(generation)
            return results

        return handle_and_note

    async def _begin(self, watch: WatchedProjection, generation: int) -> None:
        """Note the beginning of a generation. Stores of one that is noted keep what they have: they
        may be lost.
        """
        note, _ = await checkpoints.read_note(self.values, watch.projection, generation)
        if note is None:
            log = await observe_log(self.jetstream)
            await checkpoints.begin(watch, generation, self.values, log.created_at)

    async def look(self) -> None:
        """Check once, advance checkpoints, publish the verdict. Raises `Unavailable` when the bus
        does not answer.
        """
        absences = self.writes.absences
        durables = [durable for watch in self.watches for durable in watch.durables]
        earlier_looks = await self._earlier_looks(
            self.evidence if absences == self.looked_in else None
        )
        await self.known_values.refresh()
        evidence = await collect_log_evidence(
            self.jetstream, self.known_values, durables, earlier_looks
        )
        if evidence.accepted > self.accepted_count:
            self.accepted_count = evidence.accepted
            self.damage = ""
            self.writes.highest.clear()
            for of_stream in evidence.streams.values():
                of_stream.reached_sequence = 0
        self.schema_record = await self._read_schema() or self.schema_record
        states = [
            state for state in [await self._state_of(watch) for watch in self.watches] if state
        ]
        for state in states:
            evidence.checkpoints += state.checkpoints
        if absences != self.looked_in:
            await self._add_versions(evidence)
        # What was found once stays found until the loss is accepted: new events may hide it by now.
        self.damage = self.damage or await evidence.damage(
            self.jetstream, self.values, hashes=self.mark_store is not None
        )
        await write_verdict(self.known_values, self.stage, Verdict(self.damage, {**self.behind}))
        self._refuse(self.damage or await self._damage_of_others())
        if not self.writes.refusal:
            for stream, of_stream in evidence.streams.items():
                self.writes.looked(stream, of_stream.start.last_sequence)
            await self._keep(evidence, states)
        self.first_look.set()
        self.looked_in = absences
        self.evidence = evidence
        if absences == self.writes.absences:
            self.writes.log_check.set()
            await self.probe.run()

    async def _earlier_looks(self, earlier_evidence: LogEvidence | None) -> dict[str, EarlierLook]:
        """Return what is known of each stream of the log without asking for it."""
        highest = dict(self.writes.highest)
        evidence: Mapping[str, Evidence] = earlier_evidence.streams if earlier_evidence else {}
        return {
            name: EarlierLook(
                highest.get(name, 0), await kept_mark(self.mark_store, name), evidence.get(name)
            )
            for name in (await log_streams(self.jetstream)).names
        }

    async def _state_of(self, watch: WatchedProjection) -> ProjectionState | None:
        """Return the state of a projection; None where a store does not answer, which is no
        loss.
        """
        was_unconfirmed = watch.projection in self.unconfirmed_projections
        self.unconfirmed_projections.discard(watch.projection)
        try:
            state = await checkpoints.live_state(watch, self.pointers, self.known_values)
            if state.lost and was_unconfirmed:
                await self._owe_what_was_made_from(watch)
        except Retryable as error:
            logger.warning(
                "could not look at a store", projection=watch.projection, error=str(error)
            )
            if was_unconfirmed:
                self.unconfirmed_projections.add(watch.projection)
            return None
        reason = self._incompleteness(state)
        if reason and watch.projection not in self.behind:
            logger.error("a projection is incomplete", projection=watch.projection, reason=reason)
        if reason:
            self.behind[watch.projection] = reason
        else:
            self.behind.pop(watch.projection, None)
        return state

    async def _owe_what_was_made_from(self, lost_watch: WatchedProjection) -> None:
        """Record a debt of what this service went on making from a projection that was lost
        meanwhile.
        """
        if self.schema_store is None:
            return
        live = await self.pointers.live()
        for other_watch in self.watches:
            if other_watch is not lost_watch and not set(other_watch.durables).isdisjoint(
                lost_watch.held_durables
            ):
                await schema.owe(
                    self.schema_store, other_watch.projection, live.of(other_watch.projection)
                )

    def _incompleteness(self, state: ProjectionState) -> str:
        """Return why nothing is answered from a projection; empty when all is well."""
        if state.lost:
            return checkpoints.describe_loss(state)
        if self.schema_record and self.schema_record.is_owed(
            state.watch.projection, state.generation
        ):
            return checkpoints.describe_debt(state.watch.projection)
        return ""

    async def _read_schema(self) -> SchemaRecord | None:
        """Return the record of the stores' schema; None without such a store, and when it does not
        answer.
        """
        if self.schema_store is None:
            return None
        try:
            return await schema.read(self.schema_store)
        except Unavailable as error:
            logger.warning("could not read the schema of the stores", error=str(error))
            return None

    async def _add_versions(self, evidence: LogEvidence) -> None:
        """At the start, and after the bus was away: the greatest version that a document's status
        has.
        """
        if self.mark_store is not None:
            with suppress(Unavailable):
                live = await self.pointers.live()
                versions = await newest_versions(self.mark_store, live.status)
                evidence.add_claims("the document store", versions)

    def _refuse(self, reason: str) -> None:
        if reason and not self.writes.refusal:
            logger.error("the log is damaged: nothing is written to it", reason=reason)
        self.writes.refusal = (
            f"the log has lost messages ({reason}): {log_integrity.REMEDY}" if reason else ""
        )

    async def _damage_of_others(self) -> str:
        """Return the damage that another service found; empty when none did."""
        for stage in FINDERS:
            if stage != self.stage and (
                damage := (await read_verdict(self.known_values, stage))[0].log
            ):
                return damage
        return ""

    async def _keep(self, evidence: LogEvidence, states: Sequence[ProjectionState]) -> None:
        """Move the checkpoints of what this service fills, and the marks of the log."""
        for state in states:
            if state.watch.durables and state.watch.projection not in self.behind:
                position = evidence.handled(state.watch.durables)
                with suppress(Retryable):
                    await checkpoints.advance(
                        state, self.known_values, Checkpoint(position, evidence.start.created_at)
                    )
        if self.mark_store is not None:
            for of_stream in evidence.streams.values():
                await move_mark(
                    self.jetstream,
                    self.known_values,
                    self.mark_store,
                    of_stream,
                    self.accepted_count,
                )

    async def _refusal(self) -> str | None:
        return self.writes.refusal or None

    async def _losses(self) -> str | None:
        if self.schema_record and self.schema_record.problem:
            return self.schema_record.problem
        return checkpoints.loss_message(self.behind) if self.behind else None
