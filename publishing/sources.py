"""The sources of a workspace, folded from its log: what each had when it was read last."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from contracts.envelope import Envelope, wrap
from contracts.events import Event, SourceSet, SourceState, SourceSynced
from contracts.ids import sha256
from runtime.bus.codec import decode
from runtime.bus.lineage import command_lineage
from runtime.bus.port import Log
from runtime.errors import NewerVersion, NotFound, Poison


@dataclass
class SyncedSource:
    """A source as the log has it."""

    name: str
    state: SourceState = "active"
    state_reason: str = ""
    """Why somebody paused or resumed it; empty where nobody did or said."""
    state_actor: str = ""
    versions: dict[str, str] = field(default_factory=dict[str, str])
    """The version of each document that was read, by its id."""
    cursor: str = ""
    """The state of the source when all of it was read; empty: none, or not all of it was."""
    last_run: SourceSynced | None = None
    """How the last run ended that did."""
    synced_at: datetime | None = None
    """When that was."""
    actor: str = ""
    """In whose name."""

    def apply(self, envelope: Envelope[Event], at: datetime) -> None:
        """Take one more event into account."""
        event = envelope.data
        if isinstance(event, SourceSet):
            self.state = event.state
            self.state_reason = event.reason
            self.state_actor = envelope.actor or ""
            if event.state == "forgotten":
                self.versions = {}
                self.cursor = ""
                self.last_run = None
                self.synced_at = None
        elif isinstance(event, SourceSynced):
            self.state = "active" if self.state == "forgotten" else self.state
            self.versions |= {document.id: document.version for document in event.documents}
            for id in event.removed_ids:
                self.versions.pop(id, None)
            self.cursor = event.cursor
            if event.is_end:
                self.last_run, self.synced_at, self.actor = event, at, envelope.actor or ""


def source_document_id(source: str, key: str) -> str:
    """Return the id of a document of a source: a hash, for two sources may have the same names."""
    return "doc-" + sha256(f"{source}\n{key}")[:32]


async def read_sources(log: Log, workspace: str) -> list[SyncedSource]:
    """Return the sources of a workspace that are not forgotten, by name. Raises `Unavailable`."""
    sources: dict[str, SyncedSource] = {}
    for envelope, at in await _events(log, workspace):
        if isinstance(envelope.data, SourceSynced | SourceSet):
            name = envelope.data.source
            sources.setdefault(name, SyncedSource(name)).apply(envelope, at)
    return [sources[name] for name in sorted(sources) if sources[name].state != "forgotten"]


async def read_source(log: Log, workspace: str, name: str) -> SyncedSource:
    """Return the source of this name; one that was never read is empty. Raises `Unavailable`."""
    sources = await read_sources(log, workspace)
    return next((source for source in sources if source.name == name), SyncedSource(name))


async def existing_source(log: Log, workspace: str, name: str) -> SyncedSource:
    """Return the source of this name. Raises NotFound where the log has none, `Unavailable`."""
    sources = await read_sources(log, workspace)
    for source in sources:
        if source.name == name:
            return source
    names = ", ".join(source.name for source in sources) or "none"
    raise NotFound(f"workspace {workspace} has no source {name!r}; it has {names}")


async def set_source(
    log: Log, workspace: str, name: str, state: SourceState, *, reason: str, publisher: str
) -> SyncedSource:
    """Pause, resume or forget a source, and return it as it was.

    Raises NotFound for one that the log does not have, `Unavailable`.
    """
    source = await existing_source(log, workspace, name)
    if source.state != state:
        event = SourceSet(source=name, state=state, reason=reason)
        await publish_of_source(log, workspace, event, publisher)
    return source


async def publish_of_source(
    log: Log, workspace: str, event: SourceSynced | SourceSet, publisher: str
) -> None:
    """Publish an event about a source, in the name of who acts now. Raises `Unavailable`."""
    envelope: Envelope[Event] = wrap(
        event,
        id=str(uuid4()),
        source=publisher,
        workspace=workspace,
        time=datetime.now(UTC),
        lineage=command_lineage(),
    )
    await log.publish(envelope)


async def _events(log: Log, workspace: str) -> Sequence[tuple[Envelope[Event], datetime]]:
    """Return the events about sources in the order of the log, without unreadable ones."""
    events: list[tuple[int, Envelope[Event], datetime]] = []
    for kind in (SourceSynced, SourceSet):
        async with aclosing(log.history(workspace, None, kind.type_name())) as messages:
            async for message in messages:
                try:
                    envelope = decode(message.data, message.subject, message.headers)
                except (Poison, NewerVersion):
                    continue
                at = envelope.time or message.published_at
                events.append((message.sequence, envelope, at))
    events.sort(key=lambda entry: entry[0])
    return [(envelope, at) for _, envelope, at in events]
