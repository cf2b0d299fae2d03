"""What chunks say of entities and relations, kept for whoever asks next: what is hidden from one
reader is seen by another.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from cachetools import LRUCache

from contracts.graph import Partition, Provenance
from knowledge.contributions import Key
from services.query.visibility.contributions import Contributions

MAX_SUPPORTS = 50_000
"""Contributions of chunks that are kept, some 700 bytes each; the entities and relations that were
least recently asked for leave first.
"""


class ChunksOfItem(NamedTuple):
    """Chunks that speak of an entity or relation, which has this revision."""

    revision: int
    chunks: Collection[str]


class _ItemSupports(NamedTuple):
    """What chunks say of one entity or relation of some revision; None of those that say
    nothing.
    """

    revision: int
    by_chunk: dict[str, Provenance | None]


class KeptSupports:
    """Reads what chunks say of entities and relations that nobody edited, and keeps it as long as
    these have the same revision.
    """

    def __init__(self) -> None:
        self._items: LRUCache[tuple[Partition, Key], _ItemSupports] = LRUCache(
            MAX_SUPPORTS, getsizeof=lambda item: 1 + len(item.by_chunk)
        )

    async def read(
        self, graph: Partition, chunks: Mapping[Key, ChunksOfItem], contributions: Contributions
    ) -> dict[Key, list[Provenance]]:
        """Return by key what the chunks say, in their order; one read for all that is not kept."""
        items = {key: self._item(graph, key, of_item.revision) for key, of_item in chunks.items()}
        absent_chunks = {
            key: [chunk for chunk in of_item.chunks if chunk not in items[key].by_chunk]
            for key, of_item in chunks.items()
        }
        absent_chunks = {key: of_item for key, of_item in absent_chunks.items() if of_item}
        supports = await contributions.in_chunks(graph, absent_chunks) if absent_chunks else {}
        for key, of_item in absent_chunks.items():
            by_chunk = {support.chunk_id: support for support in supports[key]}
            items[key].by_chunk.update((chunk, by_chunk.get(chunk)) for chunk in of_item)
            self._items[graph, key] = items[key]
        return {
            key: [support for chunk in of_item.chunks if (support := items[key].by_chunk[chunk])]
            for key, of_item in chunks.items()
        }

    def _item(self, graph: Partition, key: Key, revision: int) -> _ItemSupports:
        item = self._items.get((graph, key))
        return item if item and item.revision == revision else _ItemSupports(revision, {})
