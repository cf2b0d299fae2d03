"""What many chunks say about one thing, made one: pure functions of the set of contributions, whatever their order.

Contributions are folded in canonical order: document time, document id, chunk order. Entity types are voted on,
keywords united, weights added (LightRAG's fields). What a person said of the thing stands over all of it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any

from contracts.graph import UNKNOWN_TYPE, Entity, Relation
from contracts.ids import UNKNOWN_SOURCE
from contracts.values import EditedValues
from services.merger.domain.contributions import Contribution, Key
from services.merger.domain.edits import Edits, earliest

MAX_SOURCES = 200
MAX_FILE_PATHS = 75
MAX_KEYWORDS = 100
"""Keywords of a relation that are written: those that most chunks give, of equals the first in the alphabet."""

Place = tuple[int, str, int, str, Key, str]


@dataclass(frozen=True)
class Tally:
    """What is counted of the contributions to one key, descriptions apart. The blank one: nothing speaks for it."""

    support: int = 0
    type: str = UNKNOWN_TYPE
    weight: float = 0.0
    keywords: tuple[str, ...] = ()
    source_ids: tuple[str, ...] = ()
    file_paths: tuple[str, ...] = ()
    created_at: int = 0


def place(contribution: Contribution) -> Place:
    """Where it stands in canonical order; no two contributions to one key share a place."""
    c = contribution
    return (c.added_at, c.document_id, c.order, c.kind, c.names, c.chunk_id)


def standing(contributions: Iterable[Contribution], edits: Edits) -> list[Contribution]:
    """Those that count, in canonical order."""
    return sorted((c for c in contributions if not c.retracted and edits.counts(c)), key=place)


def fragments(ordered: Sequence[Contribution]) -> list[str]:
    """The distinct descriptions. Those of relations speak for an entity only while nothing describes it."""
    described = [c for c in ordered if c.kind != "end"] or ordered
    return list(dict.fromkeys(c.description for c in described))


def tally(ordered: Sequence[Contribution]) -> Tally:
    """What is counted of `standing` contributions. `Hub.tally` keeps the same up to date."""
    if not ordered:
        return Tally()
    votes = Counter(c.type for c in ordered if c.kind == "entity")
    chunks = tuple(dict.fromkeys(c.chunk_id for c in ordered))
    paths = dict.fromkeys(c.file_path for c in ordered if c.file_path != UNKNOWN_SOURCE)
    return Tally(
        support=len(chunks),
        # `max` takes the first of equals, and a Counter keeps the canonical order.
        type=max(votes, key=lambda kind: votes[kind]) if votes else UNKNOWN_TYPE,
        weight=fsum(c.weight for c in ordered),
        keywords=most_frequent(Counter(word for c in ordered for word in set(c.keywords))),
        source_ids=chunks[:MAX_SOURCES],
        file_paths=tuple(paths)[:MAX_FILE_PATHS],
        created_at=ordered[0].added_at // 1_000_000,
    )


def most_frequent(counts: Mapping[str, int]) -> tuple[str, ...]:
    """The keywords to write, by the alphabet."""
    return tuple(sorted(sorted(counts, key=lambda word: (-counts[word], word))[:MAX_KEYWORDS]))


def fold(key: Key, counted: Tally, description: str, revision: int, edits: Edits) -> Entity | Relation:
    """The entity or relation under a present key, or its tombstone when nothing and nobody speaks for it.

    `counted` and `description` are made of the `standing` contributions, the latter of their `fragments`.
    """
    values = edits.said.get(key)
    gone = not counted.support and values is None
    said = values or EditedValues()
    text = description if said.description is None else said.description
    sources: dict[str, Any] = {name: getattr(counted, name) for name in ("source_ids", "file_paths", "support")}
    sources["created_at"] = earliest(counted.created_at, edits.since.get(key, 0) // 1_000_000)
    if len(key) == 1:
        if gone:
            return Entity(key[0], revision, gone=True)
        return Entity(key[0], revision, type=said.type or counted.type, description=text, **sources)
    source, target = key
    if gone:
        return Relation(source, target, revision, gone=True)
    weight = counted.weight or 1.0
    return Relation(
        source,
        target,
        revision,
        weight=weight if said.weight is None else said.weight,
        keywords=counted.keywords if said.keywords is None else tuple(sorted(set(said.keywords))),
        description=text,
        **sources,
    )
