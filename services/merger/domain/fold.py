"""What many chunks say about one thing, made one: pure functions of the set of contributions, whatever their order.

Contributions are folded in canonical order: document time, document id, chunk order. Entity types are voted on,
keywords united, weights added, descriptions joined while there is room (LightRAG's fields and separators). What a
person said of the thing stands over all of it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from contracts.graph import UNKNOWN_TYPE, Entity, Relation
from contracts.ids import SEPARATOR, UNKNOWN_SOURCE
from contracts.values import EditedValues
from services.merger.domain.contributions import Contribution, Key
from services.merger.domain.edits import Edits

T = TypeVar("T")

MAX_SOURCES = 200
MAX_FILE_PATHS = 75
MAX_DESCRIPTION = 6000
"""Characters of joined descriptions that are kept; fragments that do not fit are left out, the first ones stay."""


def fold(key: Key, contributions: Iterable[Contribution], revision: int, edits: Edits) -> Entity | Relation:
    """The entity or relation under a present key, or its tombstone when nothing and nobody speaks for it."""
    standing = [c for c in contributions if not c.retracted and edits.counts(c)]
    ordered = sorted(standing, key=lambda c: (c.added_at, c.document_id, c.order, c.kind, c.names))
    values = edits.said.get(key)
    if len(key) == 1:
        return _entity(key[0], ordered, revision, values)
    return _relation(key, ordered, revision, values)


def _entity(name: str, ordered: Sequence[Contribution], revision: int, values: EditedValues | None) -> Entity:
    if not ordered and values is None:
        return Entity(name, revision, gone=True)
    described = [c for c in ordered if c.kind == "entity"]
    votes = Counter(c.type for c in described)
    voted = max(votes, key=lambda kind: votes[kind]) if votes else UNKNOWN_TYPE
    said = values or EditedValues()
    return Entity(
        name,
        revision,
        # `max` takes the first of equals, and a Counter keeps the canonical order.
        type=said.type or voted,
        description=_either(said.description, join([c.description for c in described or ordered])),
        **_sources(ordered),
    )


def _relation(names: Key, ordered: Sequence[Contribution], revision: int, values: EditedValues | None) -> Relation:
    source, target = names
    if not ordered and values is None:
        return Relation(source, target, revision, gone=True)
    said = values or EditedValues()
    return Relation(
        source,
        target,
        revision,
        weight=_either(said.weight, sum(sorted(c.weight for c in ordered)) or 1.0),
        keywords=tuple(sorted(_either(said.keywords, {word for c in ordered for word in c.keywords}))),
        description=_either(said.description, join([c.description for c in ordered])),
        **_sources(ordered),
    )


def _sources(ordered: Sequence[Contribution]) -> dict[str, Any]:
    chunks = tuple(dict.fromkeys(c.chunk_id for c in ordered))
    paths = dict.fromkeys(c.file_path for c in ordered if c.file_path != UNKNOWN_SOURCE)
    return {
        "source_ids": chunks[:MAX_SOURCES],
        "file_paths": tuple(paths)[:MAX_FILE_PATHS],
        "support": len(chunks),
        "created_at": ordered[0].added_at // 1_000_000 if ordered else 0,
    }


def _either(said: T | None, folded: T) -> T:
    """What a person said, else what the documents say."""
    return folded if said is None else said


def join(descriptions: Sequence[str], limit: int = MAX_DESCRIPTION) -> str:
    """Distinct descriptions in order, joined by the separator; those that would exceed `limit` are left out."""
    kept: list[str] = []
    room = limit
    for description in dict.fromkeys(descriptions):
        cost = len(description) + (len(SEPARATOR) if kept else 0)
        if cost <= room:
            kept.append(description)
            room -= cost
        elif not kept:
            return description[:limit]
    return SEPARATOR.join(kept)
