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

from contracts.graph import UNKNOWN_TYPE, Entity, Relation
from contracts.graph_edits import EditedValues
from contracts.ids import UNKNOWN_SOURCE
from knowledge.contributions import Contribution, Key
from knowledge.edits import Edits, earliest

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
    return (
        contribution.added_at,
        contribution.document_id,
        contribution.order,
        contribution.kind,
        contribution.names,
        contribution.chunk_id,
    )


def active_contributions(contributions: Iterable[Contribution]) -> list[Contribution]:
    """Return the contributions that are not retracted, in canonical order."""
    active = [contribution for contribution in contributions if not contribution.is_retracted]
    return sorted(active, key=position_of)


def fragments(contributions: Sequence[Contribution]) -> list[str]:
    """Return the distinct descriptions of contributions in canonical order. Those of relations
    describe an entity only while no other does.
    """
    descriptions: dict[str, None] = {}
    descriptions_of_relations: dict[str, None] = {}
    for contribution in contributions:
        if contribution.kind == "end":
            descriptions_of_relations[contribution.description] = None
        else:
            descriptions[contribution.description] = None
    return list(descriptions or descriptions_of_relations)


def aggregate(contributions: Sequence[Contribution]) -> Aggregate:
    """Aggregate active contributions in canonical order. `IncrementalAggregate` keeps the same
    result up to date.
    """
    if not contributions:
        return Aggregate()
    if len(contributions) == 1:
        return _aggregate_of(contributions[0])
    chunks: dict[str, None] = {}
    file_paths: dict[str, None] = {}
    votes = Counter[str]()
    keywords = Counter[str]()
    for contribution in contributions:
        chunks[contribution.chunk_id] = None
        keywords.update(set(contribution.keywords))
        if contribution.file_path != UNKNOWN_SOURCE:
            file_paths[contribution.file_path] = None
        if contribution.kind == "entity":
            votes[contribution.type] += 1
    return Aggregate(
        support=len(chunks),
        # `max` takes the first of equals, and a Counter keeps the canonical order.
        type=max(votes, key=lambda kind: votes[kind]) if votes else UNKNOWN_TYPE,
        weight=fsum(contribution.weight for contribution in contributions),
        keywords=most_frequent(keywords),
        source_ids=tuple(chunks)[:MAX_SOURCES],
        file_paths=tuple(file_paths)[:MAX_FILE_PATHS],
        created_at=contributions[0].added_at // 1_000_000,
    )


def _aggregate_of(contribution: Contribution) -> Aggregate:
    """Return what `aggregate` returns for a single contribution, which most keys have, without
    counting.
    """
    is_unknown = contribution.file_path == UNKNOWN_SOURCE
    return Aggregate(
        support=1,
        type=contribution.type if contribution.kind == "entity" else UNKNOWN_TYPE,
        weight=contribution.weight,
        keywords=tuple(sorted(set(contribution.keywords))[:MAX_KEYWORDS]),
        source_ids=(contribution.chunk_id,),
        file_paths=() if is_unknown else (contribution.file_path,),
        created_at=contribution.added_at // 1_000_000,
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
    is_tombstone = not aggregate.support and values is None
    overrides = values or EditedValues()
    text = description if overrides.description is None else overrides.description
    sources: dict[str, Any] = {
        name: getattr(aggregate, name) for name in ("source_ids", "file_paths", "support")
    }
    sources["created_at"] = earliest(aggregate.created_at, edits.edited_at.get(key, 0) // 1_000_000)
    if len(key) == 1:
        if is_tombstone:
            return Entity(key[0], revision, is_gone=True)
        return Entity(
            key[0], revision, type=overrides.type or aggregate.type, description=text, **sources
        )
    source, target = key
    if is_tombstone:
        return Relation(source, target, revision, is_gone=True)
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
