"""Logs whose documents have subjects of their own, share them, or have come to share them."""

from nats.js import JetStreamContext

from contracts import subjects
from contracts.envelope import Envelope
from contracts.events import Event
from runtime.bus import topology
from runtime.bus.topology import log_configs
from tests.support.events import added, document, extracted, indexed, merged, sealed


def neighbour_of(name: str) -> str:
    """The name of another document that shares subjects with this one."""
    shared_subject = subjects.shared(subjects.subject("w", name, "GraphMerged"))
    candidates = (f"{name}-{number}" for number in range(1_000_000))
    return next(
        candidate
        for candidate in candidates
        if subjects.shared(subjects.subject("w", candidate, "GraphMerged")) == shared_subject
    )


def events_of(name: str, attempt: str = "1", workspace: str = "w") -> list[Envelope[Event]]:
    """One event of each type that makes a document searchable, but for its passages."""
    version = document(name)
    events: list[Event] = [
        added(name, f"text {attempt}"),
        extracted(version),
        merged(version, 0),
        indexed(version, "chunks", 0),
        indexed(version, "graph", 0),
    ]
    return [
        sealed(event, id=f"{name}/{attempt}/{number}", workspace=workspace)
        for number, event in enumerate(events)
    ]


async def make_older_log(jetstream: JetStreamContext, partitions: int = 1) -> None:
    """Replace the log by an empty one as programs made it whose documents shared no subjects."""
    for config in log_configs(partitions=partitions):
        await jetstream.delete_stream(config.name or "")
        await jetstream.add_stream(config)
    await topology.apply(jetstream)
