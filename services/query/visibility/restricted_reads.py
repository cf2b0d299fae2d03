"""Reads entities and relations as some documents alone describe them: all at once, and no more than
their lists of chunks leave open.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from contracts.graph import Entity, Partition, Provenance, Relation
from knowledge.contributions import Key
from services.query.visibility.contributions import Contributions, PagedContributions
from services.query.visibility.kept_supports import ChunksOfItem, KeptSupports
from services.query.visibility.listed_sources import ListedSources, listed_sources
from services.query.visibility.restriction import (
    MAX_PROVENANCE,
    is_visible_name,
    restricted,
    unspoken_names,
)

T = TypeVar("T", Entity, Relation)

FEW_DOCUMENTS = 64
"""Documents whose contributions are looked up by their ids; of more, the contributions to an entity
or relation are read, and those of other documents left out.
"""

ENOUGH_SUPPORTS = 50
"""Chunks of an entity's list that describe it well enough, though it does not list all."""

MAX_PAGES = 10
"""Reads of `MAX_PROVENANCE` contributions after which no more are looked for."""


class Restricted(NamedTuple, Generic[T]):
    """An entity or a relation as some documents describe it; None where none does. `is_lasting`:
    it stays so while the graph has the same revision of it.
    """

    item: T | None
    is_lasting: bool = True


def key_of(item: Entity | Relation) -> Key:
    """Return the name of an entity, alone, or the two sorted names of a relation."""
    return (item.name,) if isinstance(item, Entity) else item.key


async def restrict_items(
    items: Sequence[T],
    documents: frozenset[str],
    graph: Partition,
    contributions: Contributions,
    kept_supports: KeptSupports,
) -> list[Restricted[T]]:
    """Return entities or relations as these documents alone describe them, in their order.

    One read finds those that people have edited, and one what visible chunks say of the others.
    What is edited, or lists fewer chunks than speak of it, is read by itself.
    """
    sources = {key_of(item): listed_sources(item, documents) for item in items}
    edited_keys = await edited_keys_among(items, sources, graph, contributions)
    results: dict[Key, Restricted[T]] = {}
    partly_visible: list[T] = []
    read_alone: list[T] = []
    for item in items:
        key = key_of(item)
        if sources[key].is_wholly_hidden:
            results[key] = Restricted(None)
        elif key in edited_keys or not _tells_enough(item, sources[key]):
            read_alone.append(item)
        elif sources[key].is_wholly_visible:
            results[key] = Restricted(item)
        else:
            partly_visible.append(item)
    chunks = {
        key_of(item): ChunksOfItem(item.revision, sources[key_of(item)].visible)
        for item in partly_visible
    }
    supports = await kept_supports.read(graph, chunks, contributions)
    for item in partly_visible:
        results[key_of(item)] = Restricted(_of_supports(item, supports[key_of(item)], documents))
    results_of_others = await asyncio.gather(
        *(restrict_item(item, documents, graph, contributions) for item in read_alone)
    )
    results |= zip(map(key_of, read_alone), results_of_others, strict=True)
    return [results[key_of(item)] for item in items]


def _of_supports(item: T, supports: Sequence[Provenance], documents: frozenset[str]) -> T | None:
    # A chunk's id is what its publisher has made it, and may name another document.
    return restricted(item, [support for support in supports if support.document_id in documents])


def _tells_enough(item: Entity | Relation, sources: ListedSources) -> bool:
    """Return whether what is seen of an entity or relation can be put together of the chunks that
    it lists. The weight of a relation is how many chunks speak of it.
    """
    is_described = isinstance(item, Entity) and len(sources.visible) >= ENOUGH_SUPPORTS
    return sources.is_complete or is_described


async def listed_weights(
    items: Sequence[T], documents: frozenset[str], graph: Partition, contributions: Contributions
) -> dict[Key, float | None]:
    """Return the weights that entities or relations have by these documents alone, None for what
    these do not speak of, as far as lists of chunks tell: of what else there is nothing.

    What chunks say is not read: only which of the entities and relations people have edited.
    """
    sources = {key_of(item): listed_sources(item, documents) for item in items}
    edited_keys = await edited_keys_among(items, sources, graph, contributions)
    weights: dict[Key, float | None] = {}
    for item in items:
        key = key_of(item)
        if sources[key].is_wholly_hidden:
            weights[key] = None
        elif key in edited_keys:
            continue
        elif isinstance(item, Entity) and sources[key].visible:
            weights[key] = 1.0
        elif isinstance(item, Relation) and sources[key].is_complete:
            count = len(sources[key].visible)
            weights[key] = item.weight if sources[key].is_wholly_visible else float(count)
    return weights


async def edited_keys_among(
    items: Sequence[Entity | Relation],
    sources: Mapping[Key, ListedSources],
    graph: Partition,
    contributions: Contributions,
) -> set[Key]:
    """Return the keys of those that people have edited and that are seen otherwise for it: a wholly
    visible entity is seen as it is.
    """
    keys: list[Key] = []
    for item in items:
        of_item = sources[key_of(item)]
        is_as_it_is = isinstance(item, Entity) and of_item.is_wholly_visible
        if not is_as_it_is and not of_item.is_wholly_hidden:
            keys.append(key_of(item))
    return await contributions.edited_keys(graph, keys)


async def restrict_item(
    item: T, documents: frozenset[str], graph: Partition, contributions: PagedContributions
) -> Restricted[T]:
    """Return an entity or a relation as these documents alone describe it, by all that chunks
    contribute to it.
    """
    names = key_of(item)
    if not listed_sources(item, documents).is_wholly_visible:
        supports = await provenance_among(names, documents, graph, contributions)
        return Restricted(restricted(item, supports))
    supports = await contributions.of(graph, names, limit=MAX_PROVENANCE)
    ends = unspoken_names(item, supports) if isinstance(item, Relation) else ()
    for name in ends:
        of_end = await contributions.of(graph, [name], limit=MAX_PROVENANCE)
        if not is_visible_name(name, of_end, documents):
            return Restricted(None, is_lasting=False)
    return Restricted(item, is_lasting=not ends)


async def visible_chunks(
    entities: Sequence[Entity],
    documents: frozenset[str],
    graph: Partition,
    contributions: PagedContributions,
) -> dict[str, list[str]]:
    """Return by name the chunks in these documents that speak of the entities, up to
    `MAX_PROVENANCE` of each.
    """
    chunks: dict[str, list[str]] = {}
    read_alone: list[str] = []
    for entity in entities:
        sources = listed_sources(entity, documents)
        if sources.is_complete:
            chunks[entity.name] = list(sources.visible)
        else:
            read_alone.append(entity.name)
    supports = await asyncio.gather(
        *(provenance_among((name,), documents, graph, contributions) for name in read_alone)
    )
    for name, of_name in zip(read_alone, supports, strict=True):
        chunks[name] = [support.chunk_id for support in of_name]
    return chunks


async def provenance_among(
    names: Sequence[str], documents: frozenset[str], graph: Partition, reader: PagedContributions
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
