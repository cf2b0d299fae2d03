"""Publishes what another system has made of documents: each document once, and each edit once."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from nats.js import JetStreamContext

from contracts.events import GRAPH, GraphEdited
from operations.adding import BUS_RETURNS, BUS_TRIES, AddedDocument, AddOutcome
from operations.command_bus import SOURCE
from operations.documents import RefusedDocument
from operations.importing.plan import ImportPlan, PlannedDocument
from publishing.documents import add_document
from publishing.draft import DocumentDraft, Submission
from publishing.graph_edits import edit_graph
from runtime.bus.codec import decode
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.log import NatsLog
from runtime.errors import InvalidInput, ServiceError, Unavailable

T = TypeVar("T")


@dataclass
class ImportOutcome:
    """What came of an import."""

    documents: AddOutcome = field(default_factory=AddOutcome)
    edits: int = 0
    unchanged_edits: int = 0


async def publish_import(
    bus: JetStreamContext,
    workspace: str,
    plan: ImportPlan,
    *,
    track_id: str,
    on_done: Callable[[str], None],
) -> ImportOutcome:
    """Publish documents and edits that the log does not have; `on_done` gets the name of each
    document.
    """
    outcome = ImportOutcome()
    for document in plan.documents:
        try:
            draft = DocumentDraft.of(_submission(document, track_id))
            add = partial(
                add_document,
                NatsLog(bus),
                NatsBlobs(bus),
                draft,
                workspace=workspace,
                source=SOURCE,
            )
            addition = await _retry(add)
            added_document = AddedDocument(
                addition.document_id, document.name, addition.sequence, addition.at
            )
            result = outcome.documents
            (result.added if addition.is_new else result.unchanged).append(added_document)
        except InvalidInput as error:
            outcome.documents.refused.append(RefusedDocument(document.name, str(error)))
        on_done(document.name)
    log = NatsLog(bus)
    existing_edits = await _edits(log, workspace) if plan.edits else set[str]()
    for edit in plan.edits:
        if _identity(edit) in existing_edits:
            outcome.unchanged_edits += 1
            continue
        await _retry(partial(edit_graph, log, workspace=workspace, edit=edit, source=SOURCE))
        outcome.edits += 1
    return outcome


async def _retry(publish: Callable[[], Awaitable[T]]) -> T:
    """Return what `publish` does, tried again while the bus is away. Raises what it raises."""
    return await BUS_RETURNS.retry(publish, _is_away, BUS_TRIES)


def _is_away(error: Exception) -> bool:
    # A full log says when to come back: that is the user's decision.
    return isinstance(error, Unavailable) and error.retry_after is None


def _submission(document: PlannedDocument, track_id: str) -> Submission:
    return Submission(
        knowledge=document.knowledge,
        file_path=document.name,
        id=document.id,
        track_id=track_id,
        metadata=document.metadata,
    )


async def _edits(log: NatsLog, workspace: str) -> set[str]:
    """Return what identifies the edits of the workspace's graph."""
    identities = set[str]()
    async for message in log.history(workspace, GRAPH, GraphEdited.type_name()):
        try:
            event = decode(message.data, message.subject, message.headers).data
        except ServiceError:
            continue
        if isinstance(event, GraphEdited):
            identities.add(_identity(event))
    return identities


def _identity(edit: GraphEdited) -> str:
    return edit.model_dump_json(include={"operation", "names", "target", "values", "editor"})
