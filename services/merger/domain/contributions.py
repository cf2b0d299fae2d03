"""Contributions: what one chunk says about one entity or relation."""

from dataclasses import dataclass, replace
from typing import Literal

from contracts.events import EntitiesExtracted
from contracts.graph import UNKNOWN_TYPE
from contracts.ids import pair

Kind = Literal["entity", "end", "relation"]

Key = tuple[str, ...]
"""An entity's name alone, or the two sorted names of a relation."""


@dataclass(frozen=True, slots=True)
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
    """True if a newer version of the chunk no longer says this."""


def contributions(event: EntitiesExtracted) -> list[Contribution]:
    """Return what this chunk contributes, each entity and relation once: of two descriptions the longer counts."""
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
    """Combine two rows of one chunk about the same key."""
    longer = max(left, right, key=lambda c: (len(c.description), c.description, c.type))
    return replace(
        longer,
        keywords=tuple(sorted({*left.keywords, *right.keywords})),
        weight=max(left.weight, right.weight),
    )
