"""Folds what many chunks say about one key into one entity or relation, whatever order the
contributions came in.

Contributions are folded in canonical order: document time, document id, chunk order. Entity types
are voted on, keywords united, weights added (LightRAG's fields). Values that a user has edited
override all of it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from contracts.folding.contributions import Contribution, Key
from contracts.folding.edits import Edits, earliest
from contracts.graph import UNKNOWN_TYPE, Entity, Relation
from contracts.ids import UNKNOWN_SOURCE
from contracts.values import EditedValues

MAX_SOURCES = 200
"""Chunk ids of an entity or relation that are stored: the first in canonical order."""

MAX_FILE_PATHS = 75
"""File paths of an entity or relation that are stored: the first in canonical order."""

MAX_KEYWORDS = 100
"""Keywords of a relation that are stored: those that most chunks give, in case of a tie the first
in the alphabet.
"""

Position = tuple[int, str, int, str, Key, str]
"""The position of a contribution in canonical order; see `position_of`."""


@dataclass(frozen=True)
class Aggregate:
    """The fields of an entity or relation that its contributions add up to, without the
    description.

    Without contributions all fields have their defaults.
    """

    support: int = 0
    type: str = UNKNOWN_TYPE
    weight: float = 0.0
    keywords: tuple[str, ...] = ()
    source_ids: tuple[str, ...] = ()
    file_paths: tuple[str, ...] = ()
    created_at: int = 0


def position_of(contribution: Contribution) -> Position:
    """Return its position in canonical order; no two contributions to one key share one."""
    c = contribution
    return (c.added_at, c.document_id, c.order, c.kind, c.names, c.chunk_id)


def active_contributions(contributions: Iterable[Contribution]) -> list[Contribution]:
    """Return the contributions that are not retracted, in canonical order."""
    return sorted((c for c in contributions if not c.retracted), key=position_of)


def fragments(ordered: Sequence[Contribution]) -> list[str]:
    """Return the distinct descriptions. Those of relations describe an entity only while no other
    does.
    """
    described = [c for c in ordered if c.kind != "end"] or ordered
    return list(dict.fromkeys(c.description for c in described))


def aggregate(ordered: Sequence[Contribution]) -> Aggregate:
    """Aggregate active contributions in canonical order. `IncrementalAggregate` keeps the same
    result up to date.
    """
    if not ordered:
        return Aggregate()
    if len(ordered) == 1:
        return _aggregate_of_one(ordered[0])
    votes = Counter(c.type for c in ordered if c.kind == "entity")
    chunks = tuple(dict.fromkeys(c.chunk_id for c in ordered))
    paths = dict.fromkeys(c.file_path for c in ordered if c.file_path != UNKNOWN_SOURCE)
    return Aggregate(
        support=len(chunks),
        # `max` takes the first of equals, and a Counter keeps the canonical order.
        type=max(votes, key=lambda kind: votes[kind]) if votes else UNKNOWN_TYPE,
        weight=fsum(c.weight for c in ordered),
        keywords=most_frequent(Counter(word for c in ordered for word in set(c.keywords))),
        source_ids=chunks[:MAX_SOURCES],
        file_paths=tuple(paths)[:MAX_FILE_PATHS],
        created_at=ordered[0].added_at // 1_000_000,
    )


def _aggregate_of_one(only: Contribution) -> Aggregate:
    """Return what `aggregate` returns for the only contribution, which most keys have, without
    counting.
    """
    return Aggregate(
        support=1,
        type=only.type if only.kind == "entity" else UNKNOWN_TYPE,
        weight=only.weight,
        keywords=tuple(sorted(set(only.keywords))[:MAX_KEYWORDS]),
        source_ids=(only.chunk_id,),
        file_paths=() if only.file_path == UNKNOWN_SOURCE else (only.file_path,),
        created_at=only.added_at // 1_000_000,
    )


def most_frequent(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Return the keywords to store, in alphabetical order."""
    return tuple(sorted(sorted(counts, key=lambda word: (-counts[word], word))[:MAX_KEYWORDS]))


def fold(
    key: Key, aggregate: Aggregate, description: str, revision: int, edits: Edits
) -> Entity | Relation:
    """Return the entity or relation under a canonical key, or its tombstone without contributions
    and edits.

    `aggregate` and `description` are made of the active contributions, the latter of their
    `fragments`.
    """
    values = edits.values.get(key)
    gone = not aggregate.support and values is None
    overrides = values or EditedValues()
    text = description if overrides.description is None else overrides.description
    sources: dict[str, Any] = {
        name: getattr(aggregate, name) for name in ("source_ids", "file_paths", "support")
    }
    sources["created_at"] = earliest(aggregate.created_at, edits.edited_at.get(key, 0) // 1_000_000)
    if len(key) == 1:
        if gone:
            return Entity(key[0], revision, gone=True)
        return Entity(
            key[0], revision, type=overrides.type or aggregate.type, description=text, **sources
        )
    source, target = key
    if gone:
        return Relation(source, target, revision, gone=True)
    weight = aggregate.weight or 1.0
    return Relation(
        source,
        target,
        revision,
        weight=weight if overrides.weight is None else overrides.weight,
        keywords=aggregate.keywords
        if overrides.keywords is None
        else tuple(sorted(set(overrides.keywords))),
        description=text,
        **sources,
    )
