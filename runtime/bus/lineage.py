"""The lineage of an event that no other event caused: a request's or a command's."""

from contracts.envelope import Lineage
from runtime.bus.actor import current_actor
from runtime.telemetry import traceparent_for


def command_lineage() -> Lineage:
    """Return the current trace, and in whose name is published now."""
    return Lineage(traceparent=traceparent_for(), actor=current_actor())
