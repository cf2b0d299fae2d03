"""Folds the documents and the graph of a workspace as they were at one place of its log."""

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from contracts.graph import Entity, Relation
from knowledge.contributions import Contribution, Key
from knowledge.descriptions import SummaryLimits, describe
from knowledge.edits import Edits, apply_edits
from knowledge.fold import active_contributions, aggregate, fold, fragments
from services.query.past.events import ChunkRecord, DocumentRecord, WorkspaceEvents

REVISION = 1
"""The revision of entities and relations of the past: nothing writes them again."""


@dataclass(frozen=True)
class PastState:
    """A workspace at one place of its log: what the log said by then, whether it was worked on
    already or not.
    """

    sequence: int
    documents: dict[str, DocumentRecord]
    entities: dict[str, Entity]
    relations: dict[tuple[str, str], Relation]
    contributions: dict[Key, list[Contribution]]
    """By canonical key, in canonical order."""
    edits: Edits


class Abandoned(Exception):
    """Nobody waits for the state any more."""


def state_at(
    events: WorkspaceEvents,
    sequence: int,
    limits: SummaryLimits,
    abandon: threading.Event | None = None,
) -> PastState:
    """Return the state at a sequence that was read. It is what the services make of the log up to
    there.

    Raises `Abandoned` soon after `abandon` is set, which another thread may do.
    """
    abandon = abandon or threading.Event()
    edits = apply_edits([edit for edit in events.edits if edit.sequence <= sequence])
    by_key: dict[Key, list[Contribution]] = defaultdict(list)
    for record in current_chunks(events, sequence):
        if abandon.is_set():
            raise Abandoned
        for contribution in record.contributions:
            key = edits.canonical_key(contribution.names, contribution.document_id)
            if key is not None and contribution.version > edits.cutoff(
                contribution.names, contribution.document_id
            ):
                by_key[key].append(contribution)
    summaries: dict[str, str] = {}
    for summary in events.summaries:
        if summary.sequence <= sequence:
            summaries.setdefault(summary.inputs_hash, summary.text)
    contributions_by_key = {
        key: active_contributions(contributions) for key, contributions in by_key.items()
    }
    entities: dict[str, Entity] = {}
    relations: dict[tuple[str, str], Relation] = {}
    for key in contributions_by_key.keys() | edits.values.keys():
        if abandon.is_set():
            raise Abandoned
        contributions = contributions_by_key.get(key, [])
        description = describe(key, fragments(contributions), summaries, limits).text
        value = fold(key, aggregate(contributions), description, REVISION, edits)
        if isinstance(value, Entity):
            entities[value.name] = value
        else:
            relations[value.key] = value
    return PastState(
        sequence, documents_at(events, sequence), entities, relations, contributions_by_key, edits
    )


def current_chunks(events: WorkspaceEvents, sequence: int) -> list[ChunkRecord]:
    """Return what counts of each chunk at a sequence: its newest version, unless its document has
    it no more.
    """
    current_records: list[ChunkRecord] = []
    for records in events.chunks.values():
        record = newest(records, sequence)
        if record and record.contributions and not _is_obsolete(record, events, sequence):
            current_records.append(record)
    return current_records


def _is_obsolete(record: ChunkRecord, events: WorkspaceEvents, sequence: int) -> bool:
    """Return whether a deletion or a newer text has taken the chunk out of its document, also if it
    has it again.
    """
    first = record.contributions[0]
    return any(
        bounds.is_obsolete_chunk(first.order, record.version)
        for place, bounds in events.bounds.get(first.document_id, ())
        if place <= sequence
    )


def newest(records: Sequence[ChunkRecord], sequence: int) -> ChunkRecord | None:
    """Return the record of a chunk that counts at a sequence; None if there was none yet."""
    known_records = [record for record in records if record.sequence <= sequence]
    if not known_records:
        return None
    version = max(record.version for record in known_records)
    of_version = [record for record in known_records if record.version == version]
    return (
        of_version[0] if len(of_version) == 1 else max(of_version, key=lambda record: record.rank)
    )


def documents_at(events: WorkspaceEvents, sequence: int) -> dict[str, DocumentRecord]:
    """Return the documents that were added and not deleted by then, each with its newest text."""
    documents: dict[str, DocumentRecord] = {}
    for id, records in events.documents.items():
        known_records = [record for record in records if record.sequence <= sequence]
        last_record = max(known_records, key=lambda record: record.sequence, default=None)
        if last_record and last_record.content_hash:
            documents[id] = last_record
    return documents
