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
    is_retracted: bool = False
    """True if a newer version of the chunk no longer says this."""


def contributions(event: EntitiesExtracted) -> list[Contribution]:
    """Return what this chunk contributes, each entity and relation once: of two descriptions the
    longer counts.
    """
    document = event.document
    chunk = event.chunk
    added_at = round(document.added_at.timestamp() * 1_000_000)
    origin = (chunk.id, document.id, chunk.order, document.version, added_at, document.file_path)

    def contribution(kind: Kind, key: Key, description: str, *values: Any) -> Contribution:
        return Contribution(kind, key, description, *origin, *values)

    relations: dict[Key, Contribution] = {}
    for row in event.relations:
        key = pair(row.source, row.target)
        relation = contribution(
            "relation", key, row.description, UNKNOWN_TYPE, row.keywords, row.weight
        )
        relations[key] = _combine(relations[key], relation) if key in relations else relation
    entities: dict[Key, Contribution] = {}
    for row in event.entities:
        key = (row.name,)
        entity = contribution("entity", key, row.description, row.type)
        entities[key] = _combine(entities[key], entity) if key in entities else entity
    for relation in sorted(relations.values(), key=lambda row: (row.names, row.description)):
        for name in relation.names:
            if (name,) not in entities:
                entities[name,] = contribution("end", (name,), relation.description)
    return [*entities.values(), *relations.values()]


def _combine(first: Contribution, second: Contribution) -> Contribution:
    """Combine two rows of one chunk about the same key."""
    longer_row = max(
        first, second, key=lambda row: (len(row.description), row.description, row.type)
    )
    return replace(
        longer_row,
        keywords=tuple(sorted({*first.keywords, *second.keywords})),
        weight=max(first.weight, second.weight),
    )
