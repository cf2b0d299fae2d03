"""What many chunks say about one thing, made one: pure functions of the set of contributions, whatever their order.

Contributions are folded in canonical order: document time, document id, chunk order. Entity types are voted on,
keywords united, weights added, descriptions joined while there is room (LightRAG's fields and separators).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from contracts.events import EntitiesExtracted
from contracts.graph import UNKNOWN_TYPE, Entity, Relation
from contracts.ids import SEPARATOR, UNKNOWN_SOURCE, pair

Kind = Literal["entity", "end", "relation"]

MAX_SOURCES = 200
MAX_FILE_PATHS = 75
MAX_DESCRIPTION = 6000
"""Characters of joined descriptions that are kept; fragments that do not fit are left out, the first ones stay."""


@dataclass(frozen=True)
class Contribution:
    """What one chunk says about one entity (`names` has one element) or relation (two, sorted).

    Kind `end`: the chunk names the entity only as the end of a relation. It keeps the entity alive, with type UNKNOWN
    and the relation's description, until some chunk describes it.
    """

    kind: Kind
    names: tuple[str, ...]
    description: str
    chunk_id: str
    document_id: str
    order: int
    version: int
    added_at: int
    """Microseconds since the epoch: the document's time."""
    file_path: str
    type: str = UNKNOWN_TYPE
    keywords: tuple[str, ...] = ()
    weight: float = 1.0
    retracted: bool = False
    """A newer version of the chunk no longer says this."""


def contributions(event: EntitiesExtracted) -> list[Contribution]:
    """What this chunk contributes, each entity and relation once: of two descriptions the longer counts."""
    blank = Contribution(
        kind="entity",
        names=(),
        description="",
        chunk_id=event.chunk.id,
        document_id=event.document.id,
        order=event.chunk.order,
        version=event.document.version,
        added_at=round(event.document.added_at.timestamp() * 1_000_000),
        file_path=event.document.file_path,
    )
    relations: dict[tuple[str, ...], Contribution] = {}
    for row in event.relations:
        key = pair(row.source, row.target)
        new = replace(blank, kind="relation", names=key, description=row.description, keywords=row.keywords,
                      weight=row.weight)  # fmt: skip
        relations[key] = _one(relations[key], new) if key in relations else new
    entities: dict[tuple[str, ...], Contribution] = {}
    for relation in sorted(relations.values(), key=lambda r: (r.names, r.description)):
        for name in relation.names:
            entities.setdefault((name,), replace(blank, kind="end", names=(name,), description=relation.description))
    for row in event.entities:
        key = (row.name,)
        new = replace(blank, names=key, description=row.description, type=row.type)
        known = entities.get(key)
        entities[key] = _one(known, new) if known and known.kind == "entity" else new
    return [*entities.values(), *relations.values()]


def _one(left: Contribution, right: Contribution) -> Contribution:
    """Two rows of one chunk about the same thing."""
    longer = max(left, right, key=lambda c: (len(c.description), c.description, c.type))
    return replace(
        longer,
        keywords=tuple(sorted({*left.keywords, *right.keywords})),
        weight=max(left.weight, right.weight),
    )


def _canonical(all_of_key: Iterable[Contribution]) -> list[Contribution]:
    standing = (c for c in all_of_key if not c.retracted)
    return sorted(standing, key=lambda c: (c.added_at, c.document_id, c.order, c.kind))


def fold_entity(name: str, all_of_key: Iterable[Contribution], revision: int) -> Entity:
    """The entity, or its tombstone when nothing supports it."""
    ordered = _canonical(all_of_key)
    if not ordered:
        return Entity(name, revision, gone=True)
    described = [c for c in ordered if c.kind == "entity"]
    votes = Counter(c.type for c in described)
    return Entity(
        name,
        revision,
        # `max` takes the first of equals, and a Counter keeps the canonical order.
        type=max(votes, key=lambda kind: votes[kind]) if votes else UNKNOWN_TYPE,
        description=join([c.description for c in described or ordered]),
        source_ids=_first(MAX_SOURCES, (c.chunk_id for c in ordered)),
        file_paths=_first(MAX_FILE_PATHS, (c.file_path for c in ordered if c.file_path != UNKNOWN_SOURCE)),
        support=len(ordered),
        created_at=ordered[0].added_at // 1_000_000,
    )


def fold_relation(names: tuple[str, ...], all_of_key: Iterable[Contribution], revision: int) -> Relation:
    """The relation, or its tombstone when nothing supports it."""
    ordered = _canonical(all_of_key)
    source, target = names
    if not ordered:
        return Relation(source, target, revision, gone=True)
    return Relation(
        source,
        target,
        revision,
        weight=sum(sorted(c.weight for c in ordered)),
        keywords=tuple(sorted({word for c in ordered for word in c.keywords})),
        description=join([c.description for c in ordered]),
        source_ids=_first(MAX_SOURCES, (c.chunk_id for c in ordered)),
        file_paths=_first(MAX_FILE_PATHS, (c.file_path for c in ordered if c.file_path != UNKNOWN_SOURCE)),
        support=len(ordered),
        created_at=ordered[0].added_at // 1_000_000,
    )


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


def _first(count: int, values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))[:count]
