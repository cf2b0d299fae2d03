"""What the bus tells of itself: its declaration, paused providers, events that wait, come again or were set aside."""

from collections.abc import AsyncIterator, Mapping

from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from contracts.topology import CONSUMERS
from runtime.bus import topology
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.errors import ServiceError
from runtime.models.limits_shared import paused
from runtime.projections.checkpoints import rebuild_command
from standalone.operations import parked_events
from standalone.operations.checkpoints import RESTORE_HINT, combined_verdict
from standalone.operations.dead_letters import count_dead_letters
from standalone.operations.doctor.findings import Finding
from standalone.operations.publishing import connect_bus

REDELIVERY_NOTE = "tried again"
"""How a service calls its note of why a durable's events come again, behind the durable's name."""


PARKED_NOTE = "parked"
"""How a service calls its note of what it has parked, behind the durable's name."""


async def examine_bus(url: str, way_out: str, notes: Mapping[str, str] | None) -> AsyncIterator[Finding]:
    """Everything there is to say of the bus. `notes` are those of the services' health pages, None where not known."""
    try:
        async with connect_bus(url) as found:
            for problem in await topology.check(found):
                yield Finding("fault", problem, "`lightstream topology apply`")
            async for finding in _losses(found):
                yield finding
            for note in await paused(await NatsSharedValues.bind(found)):
                yield Finding("fault", note, "amend what the reason names; documents wait, none fails")
            async for finding in _backlog(found, notes):
                yield finding
            async for finding in _dead_letters(found):
                yield finding
    except (ServiceError, NatsError) as error:
        yield Finding("fault", f"the bus does not answer: {error}", way_out)


async def _losses(bus: JetStreamContext) -> AsyncIterator[Finding]:
    found = await combined_verdict(bus)
    if found.log:
        yield Finding("fault", f"the log has lost messages: {found.log}", RESTORE_HINT)
    for reason in found.stores.values():
        yield Finding("fault", reason, f"`{rebuild_command(tuple(found.stores))}` makes it anew from the log")


async def _backlog(bus: JetStreamContext, notes: Mapping[str, str] | None) -> AsyncIterator[Finding]:
    for durable in CONSUMERS:
        found = await bus.consumer_info(durable.stream, durable.name)
        if found.num_redelivered:
            number = found.num_redelivered
            yield Finding(
                "note",
                f"{durable.name}: {number} events are being tried again",
                cause_of_redelivery(durable.name, notes),
            )
        if found.num_pending:
            yield Finding("note", f"{durable.name}: {found.num_pending} events wait")
    for parked in await parked_events.count_parked(bus):
        newer = parked.reason == "newer-version"
        yield Finding("fault" if newer else "note", f"workspace {parked.workspace}: {parked}; parked, others go on",
                      "run the release that knows them: they are handled then" if newer else
                      "they are tried now and then; the error names the cause")  # fmt: skip


def cause_of_redelivery(durable: str, notes: Mapping[str, str] | None) -> str:
    """Why events of a durable are delivered again, as the service says that handles them."""
    if notes is None:
        return "the service's page /health/ready, and its log, say why"
    return notes.get(
        f"{durable}: {REDELIVERY_NOTE}",
        "no handler has failed at them: a process ended or was slow while it had them",
    )


async def _dead_letters(bus: JetStreamContext) -> AsyncIterator[Finding]:
    # History: what was set aside stays there for ever, and nothing is wrong with a stack that has been sent nonsense.
    found = await count_dead_letters(bus)
    if found.last_at is not None:
        messages = "1 message was" if found.count == 1 else f"{found.count} messages were"
        yield Finding(
            "note",
            f"{messages} set aside for good, the last on {found.last_at:%Y-%m-%d %H:%M} UTC ({found.reason:.200})",
            "StageFailed events in `lightstream log` say which; KB_DEAD keeps them (docs/operations.md)",
        )
