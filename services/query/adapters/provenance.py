"""Reads the contributions of single chunks to an entity or relation from the merger's rows, page by
page.

An entity's node lists at most 200 of its chunks; here are all of them.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from contracts.graph import ChunkContribution, Partition, Provenance
from knowledge.contribution_rows import (
    CONTRIBUTIONS_TABLE,
    EDITS_COUNTER,
    FOLDED_TABLE,
    MENTIONS_TABLE,
    Names,
    chunk_contributions_in,
    chunk_hash,
    key_hash,
    mention_prefix,
    mentioning_chunk,
    provenance_of,
    sources_in,
)
from knowledge.contributions import Key
from knowledge.homonyms import Source
from runtime.stores.documents.port import Row, Rows, Table

LEAST_READ = 100
"""Fewest rows of one read, because most of them may be retracted."""


class RowProvenance:
    """`ProvenanceReader` over `Rows`. It leaves out contributions that newer versions or deletions
    retracted.

    For a renamed or merged entity it returns the contributions under all original names, without
    those that an edit has deleted; one chunk may then appear under several names.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def of(
        self,
        partition: Partition,
        names: Names,
        *,
        after: str = "",
        limit: int = 100,
        among: Collection[str] | None = None,
    ) -> list[Provenance]:
        """Return up to `limit` contributions after the row key `after`, in the fixed order of row
        keys (hashes).

        `among` restricts them to these documents. Fewer than `limit` means there are no more.
        Without `among` a page reads only its own rows and the retracted ones between them; with it,
        each page reads all contributions of these documents to the names. Raises what `Rows`
        raises.
        """
        result: list[Provenance] = []
        for prefix, sources in sorted((await self._sources(partition, names)).items()):
            start = max(after, prefix)
            while len(result) < limit and start.startswith(prefix):
                places, start = await self._mentions(
                    partition, prefix, start, among, limit - len(result)
                )
                result += await self._contributions(partition, places, sources, among)
        return result[:limit]

    async def of_chunks(
        self, partition: Partition, chunks: Collection[str]
    ) -> dict[str, list[ChunkContribution]]:
        """See `ProvenanceReader.of_chunks`. One read of as many rows."""
        rows = await self._rows.get(
            Table(CONTRIBUTIONS_TABLE, partition), [chunk_hash(chunk) for chunk in chunks]
        )
        row_of = {chunk: rows.get(chunk_hash(chunk)) for chunk in chunks}
        return {
            chunk: contributions
            for chunk, row in row_of.items()
            if row and (contributions := chunk_contributions_in(row))
        }

    async def edited_keys(self, partition: Partition, keys: Collection[Key]) -> set[Key]:
        """See `ProvenanceReader.edited_keys`. Where nothing was ever edited, one row is read."""
        if not keys or not await self._rows.existing(
            Table(MENTIONS_TABLE, partition), [EDITS_COUNTER]
        ):
            return set()
        by_hash = {key_hash(key): key for key in keys}
        rows = await self._rows.get(Table(FOLDED_TABLE, partition), by_hash.keys())
        return {
            by_hash[hash]
            for hash, row in rows.items()
            if sources_in(row) != [Source(by_hash[hash])]
        }

    async def in_chunks(
        self, partition: Partition, chunks: Mapping[Key, Collection[str]]
    ) -> dict[Key, list[Provenance]]:
        """See `ProvenanceReader.in_chunks`. One read of the rows of all these chunks."""
        hashes = {chunk_hash(chunk) for of_key in chunks.values() for chunk in of_key}
        rows = await self._rows.get(Table(CONTRIBUTIONS_TABLE, partition), hashes)
        by_key: dict[Key, list[Provenance]] = {}
        for key, of_key in chunks.items():
            prefix = mention_prefix(key)
            supports = [
                provenance_of(prefix + hash, rows[hash], key)
                for hash in map(chunk_hash, of_key)
                if hash in rows
            ]
            by_key[key] = [support for support in supports if support]
        return by_key

    async def _sources(self, partition: Partition, names: Names) -> dict[str, list[Source]]:
        """Return the sources of the names by the prefix of their mentions."""
        key = key_hash(names)
        row = (await self._rows.get(Table(FOLDED_TABLE, partition), [key])).get(key)
        sources: defaultdict[str, list[Source]] = defaultdict(list)
        for source in sources_in(row) if row else [Source(tuple(names))]:
            sources[mention_prefix(source.key)].append(source)
        return sources

    async def _mentions(
        self,
        partition: Partition,
        prefix: str,
        after: str,
        among: Collection[str] | None,
        limit: int,
    ) -> tuple[list[str], str]:
        """Return row keys of mentions after `after`, and the key to read on from; empty after the
        last.
        """
        if among is not None:
            table = Table(CONTRIBUTIONS_TABLE, partition)
            chunks = [
                key for key, _ in await self._rows.find(table, {"document_id": sorted(among)})
            ]
            return sorted(
                place for place in (prefix + chunk for chunk in chunks) if place > after
            ), ""
        size = max(limit, LEAST_READ)
        page = [
            key for key, _ in await self._rows.scan(Table(MENTIONS_TABLE, partition), after, size)
        ]
        own_keys = [key for key in page if key.startswith(prefix)]
        return own_keys, own_keys[-1] if len(own_keys) == size else ""

    async def _contributions(
        self,
        partition: Partition,
        places: Sequence[str],
        sources: Sequence[Source],
        among: Collection[str] | None,
    ) -> list[Provenance]:
        """Return what the chunks of these mentions say of the key that all these sources have."""
        table = Table(CONTRIBUTIONS_TABLE, partition)
        rows = await self._rows.get(table, [mentioning_chunk(place) for place in places])

        def counts(row: Row) -> bool:
            id = row["document_id"]
            version = row["version"]
            of_document = any(
                id in source.documents and version > source.cutoff for source in sources
            )
            return of_document and (among is None or id in among)

        placed_rows = [
            (place, row) for place in places if (row := rows.get(mentioning_chunk(place)))
        ]
        supports = [
            provenance_of(place, row, sources[0].key) for place, row in placed_rows if counts(row)
        ]
        return [support for support in supports if support]
