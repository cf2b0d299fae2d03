"""Findings about the bus: its declaration, losses, paused providers, waiting and repeated events,
dead letters.
"""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress

from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from contracts.partitions import number_at, stream_name
from contracts.topology import CHECKPOINTS_BUCKET
from runtime.bus import topology
from runtime.bus.dead_letters import count_dead_letters
from runtime.bus.nats.carrier import uncarried_count
from runtime.bus.nats.consumers import ConsumerState, combined, read_partitioned
from runtime.bus.nats.dead_letters import NatsDeadLetters
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.nats.parked import NatsParkedEvents
from runtime.bus.nats.region import read_writing_region
from runtime.bus.parking.counts import count_parked
from runtime.bus.parking.port import Reason
from runtime.clock import TOLERANCE
from runtime.findings import Finding
from runtime.models.rate_limiters import pause_notices
from runtime.projections.checkpoints import rebuild_command
from runtime.projections.region_progress import read_followers, read_own_progress
from runtime.projections.verdicts import RESTORE_HINT, combined_verdict

REDELIVERY_NOTE = "tried again"
"""Suffix of a health note that tells why a consumer's events are redelivered; the consumer's name
precedes it.
"""


SET_CLOCK = (
    "set this machine's clock by NTP, in UTC; nothing waits longer for it, but new events have "
    "wrong times"
)
"""What to do about a clock that was set back."""

PARKED_NOTE = "parked"
"""Suffix of a health note about parked events; the consumer's name precedes it."""


async def examine_bus(
    bus: JetStreamContext, notes: Mapping[str, str] | None
) -> AsyncIterator[Finding]:
    """Yield every finding about the bus. `notes` are those of the services' health pages, None
    where unknown.

    Raises a ServiceError or NatsError when the bus does not answer.
    """
    for problem in await topology.check(bus):
        yield Finding("fault", problem, "`lightstream topology apply`")
    async for finding in _losses(bus):
        yield finding
    async for finding in _regions(bus):
        yield finding
    async for finding in _moves(bus):
        yield finding
    if behind := await seconds_behind_log(bus):
        yield Finding(
            "fault", f"the newest event of the log lies {behind:.0f} s in the future", SET_CLOCK
        )
    for note in await pause_notices(await NatsSharedValues.bind(bus)):
        yield Finding("fault", note, "amend what the reason names; documents wait, none fails")
    async for finding in _backlog(bus, notes):
        yield finding
    async for finding in _undelivered(bus):
        yield finding
    async for finding in _dead_letters(bus):
        yield finding


PARKED_HINTS: Mapping[Reason, str] = {
    "newer-version": "run the release that knows them: they are handled then",
    "awaiting-batch": "they go on when their batch has ended, which may take a day",
}
"""What to do about parked events, by reason."""


async def seconds_behind_log(bus: JetStreamContext) -> float:
    """Return by how many seconds this machine's clock is behind the newest event of the log; 0
    where it is not.
    """
    ahead = 0.0
    for stream in (await log_streams(bus)).names:
        with suppress(NotFoundError):
            newest_sequence = (await bus.stream_info(stream)).state.last_seq
            is_empty = not number_at(newest_sequence)
            at = None if is_empty else (await bus.get_msg(stream, newest_sequence)).time
            ahead = max(ahead, at.timestamp() - time.time() if at else 0.0)
    return ahead if ahead > TOLERANCE else 0.0


async def _losses(bus: JetStreamContext) -> AsyncIterator[Finding]:
    verdict = await combined_verdict(await NatsSharedValues.bind(bus, CHECKPOINTS_BUCKET))
    if verdict.log:
        yield Finding("fault", f"the log has lost messages: {verdict.log}", RESTORE_HINT)
    for reason in verdict.stores.values():
        yield Finding(
            "fault",
            reason,
            f"`{rebuild_command(tuple(verdict.stores))}` makes it anew from the log",
        )


async def _regions(bus: JetStreamContext) -> AsyncIterator[Finding]:
    """Yield what is to be said of a region that this one follows, and of those that follow it."""
    values = await NatsSharedValues.bind(bus, CHECKPOINTS_BUCKET)
    if region := await read_writing_region(bus):
        progress, _ = await read_own_progress(values, (await log_streams(bus)).count)
        yield Finding("note", f"this region follows {region.name}: nothing is written here")
        if progress.is_silent:
            yield Finding(
                "fault",
                "the stores of this region are not brought up to date",
                f"see that `lightstream region follow {region.name}` runs, and its log",
            )
        elif progress.is_cut_off:
            yield Finding(
                "fault", f"the region {region.name} is not heard", "see the link of the two buses"
            )
    for follower in await read_followers(values):
        if follower.is_silent:
            yield Finding(
                "fault",
                f"the region {follower.region} follows this one, and is not heard",
                f"see the link of the two buses, or `lightstream region forget {follower.region}`",
            )


async def _moves(bus: JetStreamContext) -> AsyncIterator[Finding]:
    """Yield what is to be said of workspaces that were moved, or are being moved."""
    streams = await log_streams(bus)
    for placement in streams.placements.values():
        name = placement.workspace
        if placement.target is not None:
            yield Finding(
                "fault",
                f"workspace {name} is being moved to partition {placement.target}, and takes "
                "nothing until that ends, which takes seconds",
                f"if nothing moves it any more: `lightstream partition move {name} --to "
                f"{placement.target} --yes`",
            )
        elif placement.ends:
            yield Finding(
                "note", f"workspace {name} was moved to partition {placement.partition} of the log"
            )
    if count := await uncarried_count(bus, streams):
        yield Finding(
            "note",
            f"{count} events that were published to an earlier partition of a moved workspace wait "
            "to be carried to where it is",
            "the gateway does it, one after the other: its log says what it cannot",
        )


async def _backlog(
    bus: JetStreamContext, notes: Mapping[str, str] | None
) -> AsyncIterator[Finding]:
    for in_partitions in await read_partitioned(bus):
        state = combined(in_partitions)
        if state.redelivered_count:
            number = state.redelivered_count
            yield Finding(
                "note",
                f"{state.name}: {number} events are being tried again",
                cause_of_redelivery(state.name, notes),
            )
        if state.pending:
            yield Finding(
                "note", f"{state.name}: {state.pending} events wait{_most_behind(in_partitions)}"
            )
    parked_counts = await count_parked(NatsParkedEvents(bus))
    if not parked_counts.is_whole:
        yield Finding(
            "note",
            f"{parked_counts.total:,} events are parked, "
            f"of which the {parked_counts.read_count:,} newest are counted",
            "`lightstream status` counts those of one workspace",
        )
    for count in parked_counts.counts:
        yield Finding(
            "fault" if count.reason == "newer-version" else "note",
            f"workspace {count.workspace}: {count}; parked, others go on",
            PARKED_HINTS.get(
                count.reason, "they are tried now and then; the error names the cause"
            ),
        )


def _most_behind(in_partitions: Sequence[ConsumerState]) -> str:
    """Return which partition has most of what waits, where there are several."""
    if len(in_partitions) == 1:
        return ""
    pending = [state.pending for state in in_partitions]
    return f", {max(pending)} of them in {stream_name(pending.index(max(pending)))}"


def cause_of_redelivery(consumer: str, notes: Mapping[str, str] | None) -> str:
    """Return why events of a consumer are redelivered, as the service that handles them reports."""
    if notes is None:
        return "the service's page /health/ready, and its log, say why"
    return notes.get(
        f"{consumer}: {REDELIVERY_NOTE}",
        "no handler has failed at them: a process ended or was slow while it had them",
    )


async def _undelivered(bus: JetStreamContext) -> AsyncIterator[Finding]:
    # No durable of ours has a limit of deliveries, and nobody ends one: somebody changed a
    # consumer.
    if number := (await bus.stream_info("KB_ADVISORIES")).state.messages:
        yield Finding(
            "fault",
            (
                f"the bus stopped delivering {number} messages: "
                f"{'its' if number == 1 else 'their'} consumer was changed"
            ),
            "`lightstream topology apply`, then `lightstream rebuild all`",
        )


async def _dead_letters(bus: JetStreamContext) -> AsyncIterator[Finding]:
    # History: dead letters stay there for ever, and nothing is wrong with a stack that has been
    # sent nonsense.
    counts = await count_dead_letters(NatsDeadLetters(bus))
    if counts.last_at is not None:
        messages = "1 message was" if counts.count == 1 else f"{counts.count} messages were"
        yield Finding(
            "note",
            (
                f"{messages} set aside for good, the last on {counts.last_at:%Y-%m-%d %H:%M} UTC "
                f"({counts.reason:.200})"
            ),
            "`lightstream dead list` says which, `dead redrive` tries one again",
        )
