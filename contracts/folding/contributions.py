"""Contributions: what one chunk says about one entity or relation."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from contracts.events import EntitiesExtracted
from contracts.graph import UNKNOWN_TYPE
from contracts.ids import pair

Kind = Literal["entity", "end", "relation"]

Key = tuple[str, ...]
"""An entity's name alone, or the two sorted names of a relation."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one chunk says about one entity (`names` has one element) or relation (two, sorted).

    Kind `end`: the chunk names the entity only as the end of a relation. It keeps the entity alive,
    with type UNKNOWN and the relation's description, until some chunk describes it.
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
    """Return what this chunk contributes, each entity and relation once: of two descriptions the
    longer counts.
    """
    document, chunk = event.document, event.chunk
    added_at = round(document.added_at.timestamp() * 1_000_000)

    def said(kind: Kind, names: Key, description: str, *more: Any) -> Contribution:
        place = (chunk.id, document.id, chunk.order, document.version, added_at, document.file_path)
        return Contribution(kind, names, description, *place, *more)

    relations: dict[Key, Contribution] = {}
    for row in event.relations:
        key = pair(row.source, row.target)
        new = said("relation", key, row.description, UNKNOWN_TYPE, row.keywords, row.weight)
        relations[key] = _one(relations[key], new) if key in relations else new
    entities: dict[Key, Contribution] = {}
    for row in event.entities:
        key = (row.name,)
        new = said("entity", key, row.description, row.type)
        entities[key] = _one(entities[key], new) if key in entities else new
    for relation in sorted(relations.values(), key=lambda r: (r.names, r.description)):
        for name in relation.names:
            if (name,) not in entities:
                entities[name,] = said("end", (name,), relation.description)
    return [*entities.values(), *relations.values()]


def _one(left: Contribution, right: Contribution) -> Contribution:
    """Combine two rows of one chunk about the same key."""
    longer = max(left, right, key=lambda c: (len(c.description), c.description, c.type))
    return replace(
        longer,
        keywords=tuple(sorted({*left.keywords, *right.keywords})),
        weight=max(left.weight, right.weight),
    )
