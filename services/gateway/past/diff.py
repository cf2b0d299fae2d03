"""Compares a workspace at two places of its log: documents, entities and relations that appeared,
changed, went.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from contracts.graph import Entity, Relation
from contracts.ids import ids_of_name
from contracts.spelling import name_spelling, spellings
from knowledge.contributions import Key
from runtime.errors import NotFound
from services.query.past.events import DocumentRecord
from services.query.past.state import PastState

Change = Literal["appeared", "changed", "gone"]
CHANGES: tuple[Change, ...] = ("appeared", "changed", "gone")

ENTITY_FIELDS = ("type", "description", "support", "file_paths")
RELATION_FIELDS = ("weight", "keywords", "description", "support", "file_paths")

T = TypeVar("T")
K = TypeVar("K")


@dataclass(frozen=True)
class Difference:
    """One thing that is not the same at both places. `fields`: those that differ, before and after;
    None: not there.
    """

    key: tuple[str, ...]
    change: Change
    fields: dict[str, tuple[Any, Any]]


@dataclass(frozen=True)
class Diff:
    """What differs, in alphabetical order; `counts` counts all of it, the lists may be cut off."""

    before: int
    after: int
    documents: list[Difference]
    entities: list[Difference]
    relations: list[Difference]
    counts: dict[str, dict[Change, int]] = field(default_factory=dict[str, dict[Change, int]])
    is_truncated: bool = False


def diff(before: PastState, after: PastState, *, document: str | None = None, limit: int) -> Diff:
    """Return what differs between two states, at most `limit` things of each kind.

    Of a document (its id, or the name it was added under): itself, and what it speaks of in one of
    the two. Raises NotFound for a document that is there in neither.
    """
    ids = None if document is None else _ids(document, before, after)
    keys = None if ids is None else _keys(ids, before) | _keys(ids, after)
    documents = _differences(before.documents, after.documents, _document_fields, lambda id: (id,))
    entities = _differences(before.entities, after.entities, _entity_fields, lambda name: (name,))
    relations = _differences(before.relations, after.relations, _relation_fields, lambda key: key)
    if ids is not None and keys is not None:
        if not (keys or ids & (before.documents.keys() | after.documents.keys())):
            raise NotFound(f"there is no document {document!r} at either place of the log")
        documents = [difference for difference in documents if difference.key[0] in ids]
        entities = [difference for difference in entities if difference.key in keys]
        relations = [difference for difference in relations if difference.key in keys]
    return Diff(
        before.sequence,
        after.sequence,
        documents=documents[:limit],
        entities=entities[:limit],
        relations=relations[:limit],
        counts={
            "documents": _counts(documents),
            "entities": _counts(entities),
            "relations": _counts(relations),
        },
        is_truncated=max(len(documents), len(entities), len(relations)) > limit,
    )


def _counts(differences: Sequence[Difference]) -> dict[Change, int]:
    """Return how many differences there are of each change, of those without any, too."""
    counts: dict[Change, int] = dict.fromkeys(CHANGES, 0)
    for difference in differences:
        counts[difference.change] += 1
    return counts


def _differences(
    before: Mapping[K, T],
    after: Mapping[K, T],
    fields: Callable[[T], dict[str, Any]],
    key: Callable[[K], tuple[str, ...]],
) -> list[Difference]:
    differences: list[Difference] = []
    for name in before.keys() | after.keys():
        old_value = before.get(name)
        new_value = after.get(name)
        if old_value == new_value:
            continue
        old_fields = {} if old_value is None else fields(old_value)
        new_fields = {} if new_value is None else fields(new_value)
        field_changes = {
            field_name: (old_fields.get(field_name), new_fields.get(field_name))
            for field_name in old_fields or new_fields
            if old_fields.get(field_name) != new_fields.get(field_name)
        }
        change: Change = "changed"
        if old_value is None:
            change = "appeared"
        elif new_value is None:
            change = "gone"
        if change != "changed" or field_changes:
            differences.append(Difference(key(name), change, field_changes))
    return sorted(differences, key=lambda difference: difference.key)


def _document_fields(record: DocumentRecord) -> dict[str, Any]:
    return {
        "file_path": record.file_path,
        "content_sha256": record.content_hash,
        "sequence": record.sequence,
    }


def _entity_fields(entity: Entity) -> dict[str, Any]:
    return _fields(entity, ENTITY_FIELDS)


def _relation_fields(relation: Relation) -> dict[str, Any]:
    return _fields(relation, RELATION_FIELDS)


def _fields(value: Entity | Relation, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(value, name) for name in names}


def _ids(document: str, *states: PastState) -> set[str]:
    """Return the ids of the documents of that id or file name."""
    ids = {*spellings(document), *ids_of_name(document)}
    for state in states:
        for id, record in state.documents.items():
            if name_spelling(record.file_path) == name_spelling(document):
                ids.add(id)
    return ids


def _keys(ids: set[str], state: PastState) -> set[Key]:
    """Return the keys to which one of these documents contributes."""
    return {
        key
        for key, contributions in state.contributions.items()
        if any(contribution.document_id in ids for contribution in contributions)
    }
