"""Entities and relations restricted to some documents, without a trace of the others."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from contracts.graph import UNKNOWN_TYPE, Entity, Provenance, Relation
from contracts.ids import SEPARATOR, UNKNOWN_SOURCE

T = TypeVar("T", Entity, Relation)

MAX_DESCRIPTION = 6000
"""Longest description, in characters."""

MAX_PROVENANCE = 200
"""Contributions of these documents that are read per entity or relation."""


def restricted(item: T, supports: Sequence[Provenance]) -> T | None:
    """Return the entity or relation rebuilt from these contributions, oldest document first; None
    without any of its name.

    Descriptions that a model condensed are left out, for they may rest on other documents; so are
    keywords.
    """
    ordered_supports = sorted(supports, key=lambda s: (s.added_at, s.document_id, s.order))
    if not has_own_name(item, supports):
        return None
    chunks = tuple(dict.fromkeys(support.chunk_id for support in ordered_supports))
    paths = dict.fromkeys(
        support.file_path for support in ordered_supports if support.file_path != UNKNOWN_SOURCE
    )
    result = replace(
        item,
        description=SEPARATOR.join(
            dict.fromkeys(support.description for support in ordered_supports)
        )[:MAX_DESCRIPTION],
        source_ids=chunks,
        file_paths=tuple(paths),
        support=len(chunks),
        created_at=ordered_supports[0].added_at // 1_000_000,
    )
    return (
        replace(result, keywords=(), weight=float(len(chunks)))
        if isinstance(result, Relation)
        else replace(result, type=_type_of(ordered_supports))
    )


def has_own_name(item: Entity | Relation, supports: Sequence[Provenance]) -> bool:
    """Return whether any of these contributions has the name that the entity or relation has now:
    the name of one that was renamed or merged may be the word of another document.
    """
    names = (item.name,) if isinstance(item, Entity) else item.key
    return any(support.names == names for support in supports)


def unspoken_names(item: Relation, supports: Sequence[Provenance]) -> set[str]:
    """Return the ends of a relation that none of these contributions to it names: people have
    renamed or merged them.
    """
    return {*item.key}.difference(*(support.names for support in supports))


def is_visible_name(name: str, supports: Sequence[Provenance], documents: Collection[str]) -> bool:
    """Return whether an entity of a name is shown where these documents are seen, by the
    contributions to it: one of them has the name, or there are no others.
    """
    visible_supports = [support for support in supports if support.document_id in documents]
    return any(support.names == (name,) for support in visible_supports) or (
        len(visible_supports) == len(supports) < MAX_PROVENANCE
    )


def _type_of(supports: Sequence[Provenance]) -> str:
    """Return the type that most of these contributions give, of equally many the first by name."""
    votes = Counter(support.type for support in supports if support.type)
    votes = Counter({type: votes[type] for type in sorted(votes)})
    return max(votes, key=lambda type: (type != UNKNOWN_TYPE, votes[type]), default=UNKNOWN_TYPE)
