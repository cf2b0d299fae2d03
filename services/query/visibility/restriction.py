"""Entities and relations restricted to some documents, without a trace of the others."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Generic, NamedTuple, Protocol, TypeVar

from contracts.graph import UNKNOWN_TYPE, Entity, Partition, Provenance, Relation
from contracts.ids import SEPARATOR, UNKNOWN_SOURCE, chunk_place

T = TypeVar("T", Entity, Relation)

MAX_DESCRIPTION = 6000
"""Longest description, in characters."""

MAX_PROVENANCE = 200
"""Contributions of these documents that are read per entity or relation."""

FEW_DOCUMENTS = 64
"""Documents whose contributions are looked up by their ids; of more, the contributions to an entity
or relation are read, and those of other documents left out.
"""

MAX_PAGES = 10
"""Reads of `MAX_PROVENANCE` contributions after which no more are looked for."""


class Contributions(Protocol):
    """Reads what chunks contribute: see `ProvenanceReader`."""

    async def of(
        self,
        partition: Partition,
        names: Sequence[str],
        *,
        after: str = "",
        limit: int = 100,
        among: Collection[str] | None = None,
    ) -> list[Provenance]:
        """See `ProvenanceReader.of`."""
        ...


class Restricted(NamedTuple, Generic[T]):
    """An entity or a relation as some documents describe it; None where none does. `is_lasting`:
    it stays so while the graph has the same revision of it.
    """

    item: T | None
    is_lasting: bool = True


async def restrict_item(
    item: T, documents: frozenset[str], graph: Partition, contributions: Contributions
) -> Restricted[T]:
    """Return an entity or a relation as these documents alone describe it."""
    names = (item.name,) if isinstance(item, Entity) else item.key
    if not has_all_sources(item, documents):
        if has_no_source(item, documents):
            return Restricted(None)
        supports = await provenance_among(names, documents, graph, contributions)
        return Restricted(restricted(item, supports))
    if isinstance(item, Entity):
        return Restricted(item)
    supports = await contributions.of(graph, names, limit=MAX_PROVENANCE)
    ends = unspoken_names(item, supports)
    for name in ends:
        of_end = await contributions.of(graph, [name], limit=MAX_PROVENANCE)
        if not is_visible_name(name, of_end, documents):
            return Restricted(None, is_lasting=False)
    return Restricted(item, is_lasting=not ends)


async def provenance_among(
    names: Sequence[str], documents: frozenset[str], graph: Partition, reader: Contributions
) -> list[Provenance]:
    """Return what these documents contribute to an entity or relation, up to `MAX_PROVENANCE`
    contributions.
    """
    if len(documents) <= FEW_DOCUMENTS:
        return await reader.of(graph, names, limit=MAX_PROVENANCE, among=documents)
    contributions: list[Provenance] = []
    after = ""
    for _ in range(MAX_PAGES):
        page = await reader.of(graph, names, after=after, limit=MAX_PROVENANCE)
        contributions += [source for source in page if source.document_id in documents]
        if len(page) < MAX_PROVENANCE or len(contributions) >= MAX_PROVENANCE:
            break
        after = page[-1].cursor
    return contributions[:MAX_PROVENANCE]


def has_all_sources(item: Entity | Relation, documents: Collection[str]) -> bool:
    """Return whether these documents alone speak of the entity or relation, as far as its list of
    sources tells; a longer list than is kept tells nothing.
    """
    if not item.source_ids or item.support > len(item.source_ids):
        return False
    places = map(chunk_place, item.source_ids)
    return all(place is not None and place[0] in documents for place in places)


def has_no_source(item: Entity | Relation, documents: Collection[str]) -> bool:
    """Return whether none of these documents speaks of the entity or relation, as far as its list
    of sources tells.
    """
    if not item.source_ids or item.support > len(item.source_ids):
        return False
    places = map(chunk_place, item.source_ids)
    return all(place is not None and place[0] not in documents for place in places)


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
