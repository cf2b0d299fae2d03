"""Compares a workspace at two places of its log: documents, entities and relations that appeared,
changed, went.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from contracts.graph import Entity, Relation
from contracts.ids import ids_of_name
from contracts.spelling import name_spelling, spellings
from knowledge.contributions import Key
from services.gateway.past.events import DocumentRecord
from services.gateway.past.state import PastState

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
    the two.
    """
    ids = None if document is None else _ids(document, before, after)
    keys = None if ids is None else _keys(ids, before) | _keys(ids, after)
    documents = _differences(before.documents, after.documents, _document_fields, lambda id: (id,))
    entities = _differences(before.entities, after.entities, _entity_fields, lambda name: (name,))
    relations = _differences(before.relations, after.relations, _relation_fields, lambda key: key)
    if ids is not None and keys is not None:
        documents = [one for one in documents if one.key[0] in ids]
        entities, relations = (
            [one for one in some if one.key in keys] for some in (entities, relations)
        )
    kinds = {"documents": documents, "entities": entities, "relations": relations}
    return Diff(
        before.sequence,
        after.sequence,
        **{kind: some[:limit] for kind, some in kinds.items()},
        counts={
            kind: {change: sum(one.change == change for one in some) for change in CHANGES}
            for kind, some in kinds.items()
        },
        is_truncated=any(len(some) > limit for some in kinds.values()),
    )


def _differences(
    before: Mapping[K, T],
    after: Mapping[K, T],
    fields: Callable[[T], dict[str, Any]],
    key: Callable[[K], tuple[str, ...]],
) -> list[Difference]:
    differences: list[Difference] = []
    for name in before.keys() | after.keys():
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        of_old, of_new = ({} if one is None else fields(one) for one in (old, new))
        names = of_new if old is None else of_old
        changed = {
            each: (of_old.get(each), of_new.get(each))
            for each in names
            if of_old.get(each) != of_new.get(each)
        }
        if old is None or new is None or changed:
            change: Change = "appeared" if old is None else "gone" if new is None else "changed"
            differences.append(Difference(key(name), change, changed))
    return sorted(differences, key=lambda one: one.key)


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


def _fields(thing: Entity | Relation, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in names}


def _ids(document: str, *states: PastState) -> set[str]:
    """Return the ids of the documents of that id or file name."""
    named = {*spellings(document), *ids_of_name(document)}
    return named | {
        id
        for state in states
        for id, record in state.documents.items()
        if name_spelling(record.file_path) == name_spelling(document)
    }


def _keys(ids: set[str], state: PastState) -> set[Key]:
    """Return the keys to which one of these documents contributes."""
    return {
        key
        for key, some in state.contributions.items()
        if any(one.document_id in ids for one in some)
    }
