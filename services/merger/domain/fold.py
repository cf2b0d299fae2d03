"""What many chunks say about one thing, made one: pure functions of the set of contributions, whatever their order.

Contributions are folded in canonical order: document time, document id, chunk order. Entity types are voted on,
keywords united, weights added (LightRAG's fields). What a person said of the thing stands over all of it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from contracts.graph import UNKNOWN_TYPE, Entity, Relation
from contracts.ids import UNKNOWN_SOURCE
from contracts.values import EditedValues
from services.merger.domain.contributions import Contribution, Key
from services.merger.domain.edits import Edits

MAX_SOURCES = 200
MAX_FILE_PATHS = 75


def standing(contributions: Iterable[Contribution], edits: Edits) -> list[Contribution]:
    """Those that count, in canonical order."""
    left = [c for c in contributions if not c.retracted and edits.counts(c)]
    return sorted(left, key=lambda c: (c.added_at, c.document_id, c.order, c.kind, c.names))


def fragments(ordered: Sequence[Contribution]) -> list[str]:
    """The distinct descriptions. Those of relations speak for an entity only while nothing describes it."""
    described = [c for c in ordered if c.kind != "end"] or ordered
    return list(dict.fromkeys(c.description for c in described))


def fold(key: Key, ordered: Sequence[Contribution], description: str, revision: int, edits: Edits) -> Entity | Relation:
    """The entity or relation under a present key, or its tombstone when nothing and nobody speaks for it.

    `description` is what is made of the `fragments` of the `standing` contributions.
    """
    values = edits.said.get(key)
    gone = not ordered and values is None
    said = values or EditedValues()
    text = description if said.description is None else said.description
    if len(key) == 1:
        if gone:
            return Entity(key[0], revision, gone=True)
        votes = Counter(c.type for c in ordered if c.kind == "entity")
        # `max` takes the first of equals, and a Counter keeps the canonical order.
        voted = max(votes, key=lambda kind: votes[kind]) if votes else UNKNOWN_TYPE
        return Entity(key[0], revision, type=said.type or voted, description=text, **_sources(ordered))
    source, target = key
    if gone:
        return Relation(source, target, revision, gone=True)
    weight = sum(sorted(c.weight for c in ordered)) or 1.0
    keywords = {word for c in ordered for word in c.keywords} if said.keywords is None else said.keywords
    return Relation(
        source,
        target,
        revision,
        weight=weight if said.weight is None else said.weight,
        keywords=tuple(sorted(keywords)),
        description=text,
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
