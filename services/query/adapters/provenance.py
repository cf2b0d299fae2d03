"""What single chunks say of an entity or relation, read page by page from the rows that the merger writes.

An entity's node lists at most 200 of its chunks; here are all of them.
"""

from collections.abc import Collection

from contracts.contribution_rows import CONTRIBUTIONS_TABLE, FOLDED_TABLE, Names, is_active, key_hash, provenance_of
from contracts.graph import Partition, Provenance
from runtime.stores.documents.port import Rows, Table

LEAST_READ = 100
"""Rows of one reading: most of them may have been taken back."""


class RowProvenance:
    """What stands of all that chunks say. What newer versions and deletions took back never shows.

    For a thing that people have renamed or merged these are the supports of everything folded under its present name,
    without those that somebody's deletion has hidden; a chunk may then be among them under several names.
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
        """Up to `limit` supports behind the place `after`, by place: an order of hashes that never varies.

        `among`: only those in these documents. Fewer than `limit` are the last ones. Without `among` a page costs its
        own length, and that of what was taken back between, however many there are; with it, all that these documents
        say of the names is read for each page. Raises what `Rows` raises.
        """
        raws = await self._raws(partition, names)
        found: list[Provenance] = []
        for start in sorted(raws):
            if after < f"{start};" and len(found) < limit:  # ";" is the character after ":"
                place, room = max(after, f"{start}:"), limit - len(found)
                if among is None:
                    found += await self._page(partition, start, raws[start], place, room)
                else:
                    found += await self._of_documents(partition, start, raws[start], place, room, among)
        return found

    async def _raws(self, partition: Partition, names: Names) -> dict[str, int]:
        """By hash, the keys that are folded under the names, each with the version until which nothing counts."""
        key = key_hash(names)
        row = (await self._rows.get(Table(FOLDED_TABLE, partition), [key])).get(key)
        return {key_hash(raw): until for raw, until in row["raws"]} if row else {key: 0}

    async def _page(self, partition: Partition, start: str, until: int, after: str, limit: int) -> list[Provenance]:
        found: list[Provenance] = []
        size = max(limit, LEAST_READ)
        while len(found) < limit:
            page = await self._rows.scan(Table(CONTRIBUTIONS_TABLE, partition), after, size)
            ours = [(place, row) for place, row in page if row["key"] == start]
            found += [provenance_of(place, row) for place, row in ours if is_active(row, until)]
            if len(ours) < size:
                break
            after = page[-1][0]
        return found[:limit]

    async def _of_documents(
        self, partition: Partition, start: str, until: int, after: str, limit: int, among: Collection[str]
    ) -> list[Provenance]:
        rows = await self._rows.find(
            Table(CONTRIBUTIONS_TABLE, partition), {"key": start, "document_id": sorted(among)}
        )
        return [provenance_of(place, row) for place, row in rows if place > after and is_active(row, until)][:limit]
