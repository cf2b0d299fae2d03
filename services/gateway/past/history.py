"""The history of an entity: the events that made it what it is, oldest first, each with the chunk
it is about.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from knowledge.contributions import Contribution
from knowledge.edit import Edit, standing_edits, undone_edits
from services.query.past.events import ChunkRecord, WorkspaceEvents
from services.query.past.state import PastState, current_chunks

Effect = Literal["counts", "replaced", "deleted", "hidden", "renamed", "undone"]
"""Whether an event still counts for the entity; why not: a newer version of the chunk replaced it,
the chunk is no longer part of a document, an edit hides it, the name means another entity now, the
edit was taken back.
"""


STATEMENT = "EntitiesExtracted"
"""The type of the events that say what a chunk states."""


@dataclass(frozen=True)
class Statement:
    """A relation of the entity that a chunk states."""

    source: str
    target: str
    description: str


@dataclass(frozen=True)
class HistoryEvent:
    """One event of the history; what does not apply to its type is empty. `at`: microseconds since
    1970.
    """

    sequence: int
    at: int
    type: str
    effect: Effect
    names: tuple[str, ...]
    """The entity as the event calls it; of an edit all names it is about."""
    document_id: str = ""
    file_path: str = ""
    chunk_id: str = ""
    order: int | None = None
    entity_type: str = ""
    description: str = ""
    relations: tuple[Statement, ...] = ()
    operation: str = ""
    target: str = ""
    editor: str = ""
    reason: str = ""
    undone_by: int | None = None
    version: int = 0
    """Of a statement: the version of its document, the text of which says it."""


@dataclass(frozen=True)
class EntityHistory:
    """The history of an entity up to a sequence. `names`: those that documents use for it, or once
    meant it by.
    """

    name: str
    sequence: int
    exists: bool
    names: list[str]
    events: list[HistoryEvent] = field(default_factory=list[HistoryEvent])


def entity_history(events: WorkspaceEvents, state: PastState, name: str) -> EntityHistory:
    """Return the history of the entity that has this name at the state's place of the log, or had
    it before.
    """
    names = state.edits.all_original_names([name]) | {name}
    edits = [edit for edit in events.edits if edit.sequence <= state.sequence]
    statements = list(_statements(events, state, names, name))
    documents = {statement.document_id for statement in statements}
    changes = [
        *statements,
        *_edited(edits, names | {name}),
        *_deleted(events, state.sequence, documents),
        *_summarized(events, state.sequence, names),
    ]
    changes.sort(key=lambda change: (change.sequence, change.chunk_id))
    spoken_names = sorted({statement.names[0] for statement in statements})
    return EntityHistory(name, state.sequence, name in state.entities, spoken_names, changes)


def visible_history(
    history: EntityHistory,
    ids: Collection[str],
    hidden_statements: Collection[tuple[str, int]],
    *,
    exists: bool,
) -> EntityHistory:
    """Return what visible documents say in a history; what people and models said is left out.

    `ids`: the documents that are seen at its sequence. `hidden_statements`: documents and sequences
    of those `older_statements` that are not seen. `exists`: whether the entity is seen. One that
    neither is nor is named by what is seen has no history.
    """
    statements = [
        event
        for event in history.events
        if event.type == STATEMENT
        and event.document_id in ids
        and (event.document_id, event.sequence) not in hidden_statements
    ]
    names = sorted({event.names[0] for event in statements})
    if not (exists or history.name in names):
        return EntityHistory(history.name, history.sequence, exists=False, names=[])
    return replace(history, exists=exists, names=names, events=statements)


def older_statements(history: EntityHistory) -> list[HistoryEvent]:
    """Return the statements of texts that count no more."""
    return [event for event in history.events if _is_older(event)]


def _is_older(event: HistoryEvent) -> bool:
    return event.type == STATEMENT and event.effect in ("replaced", "deleted")


def _statements(
    events: WorkspaceEvents, state: PastState, names: set[str], name: str
) -> Iterable[HistoryEvent]:
    current_ids = {id(record) for record in current_chunks(events, state.sequence)}
    for records in events.chunks.values():
        last_version = max(
            (record.version for record in records if record.sequence <= state.sequence), default=0
        )
        for record in records:
            if record.sequence > state.sequence:
                continue
            for contribution in record.contributions:
                if contribution.kind != "relation" and contribution.names[0] in names:
                    effect = _effect(
                        contribution,
                        state,
                        name,
                        is_counted=id(record) in current_ids,
                        is_newest=record.version == last_version,
                    )
                    yield _statement(record, contribution, effect)


def _effect(
    contribution: Contribution, state: PastState, name: str, *, is_counted: bool, is_newest: bool
) -> Effect:
    if not is_counted:
        return "deleted" if is_newest else "replaced"
    if contribution.version <= state.edits.cutoff(contribution.names, contribution.document_id):
        return "hidden"
    return (
        "counts"
        if state.edits.canonical_key(contribution.names, contribution.document_id) == (name,)
        else "renamed"
    )


def _statement(record: ChunkRecord, contribution: Contribution, effect: Effect) -> HistoryEvent:
    relations = tuple(
        Statement(relation.names[0], relation.names[1], relation.description)
        for relation in record.contributions
        if relation.kind == "relation" and contribution.names[0] in relation.names
    )
    return HistoryEvent(
        record.sequence,
        record.at,
        STATEMENT,
        effect,
        contribution.names,
        document_id=contribution.document_id,
        file_path=contribution.file_path,
        chunk_id=contribution.chunk_id,
        order=contribution.order,
        entity_type=contribution.type if contribution.kind == "entity" else "",
        description=contribution.description if contribution.kind == "entity" else "",
        relations=relations,
        version=record.version,
    )


def _edited(edits: list[Edit], names: set[str]) -> Iterable[HistoryEvent]:
    ordered_edits = sorted(edits, key=lambda edit: edit.sequence)
    undone = undone_edits(ordered_edits)
    standing = {edit.sequence for edit in standing_edits(ordered_edits)}
    for edit in ordered_edits:
        if not names.isdisjoint(edit.all_names):
            # Proposals and undoings never stand among what changes the graph, but were not taken
            # back.
            taken_back = edit.sequence in undone or (
                edit.operation in _STANDS and edit.sequence not in standing
            )
            yield HistoryEvent(
                edit.sequence,
                edit.at,
                "GraphEdited",
                "undone" if taken_back else "counts",
                edit.names,
                entity_type=edit.values.type or "",
                description=edit.values.description or "",
                operation=edit.operation,
                target=edit.target or "",
                editor=edit.editor,
                reason=edit.evidence,
                undone_by=undone.get(edit.sequence),
            )


_STANDS = frozenset({"accept_alias", "merge_entities"})
"""Operations that a decision on an alias takes back."""


def _deleted(events: WorkspaceEvents, sequence: int, documents: set[str]) -> Iterable[HistoryEvent]:
    for id in documents:
        path = ""
        for record in events.documents.get(id, ()):
            if record.sequence > sequence:
                break
            if not record.content_hash:
                yield HistoryEvent(
                    record.sequence,
                    record.at,
                    "DocumentDeleted",
                    "counts",
                    (),
                    document_id=id,
                    file_path=path,
                )
            path = record.file_path or path


def _summarized(events: WorkspaceEvents, sequence: int, names: set[str]) -> Iterable[HistoryEvent]:
    for summary in events.summaries:
        if summary.sequence <= sequence and len(summary.key) == 1 and summary.key[0] in names:
            yield HistoryEvent(
                summary.sequence,
                summary.at,
                "DescriptionSummarized",
                "counts",
                summary.key,
                description=summary.text,
                editor=summary.model,
            )
