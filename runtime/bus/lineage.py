"""The lineage of an event that no other event caused: a request's, a command's, or a copy's."""

from contracts.envelope import Envelope, Lineage
from contracts.events import Event
from runtime.bus.actor import current_actor
from runtime.telemetry import traceparent_for


def command_lineage() -> Lineage:
    """Return the current trace, and in whose name is published now."""
    return Lineage(traceparent=traceparent_for(), actor=current_actor())


def copied_lineage(original: Envelope[Event]) -> Lineage:
    """Return the trace of the original, and in whose name that was published."""
    return Lineage(traceparent=original.traceparent, actor=original.actor)
