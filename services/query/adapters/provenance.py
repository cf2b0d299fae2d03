"""Reads the contributions of single chunks to an entity or relation from the merger's rows, page by page.

An entity's node lists at most 200 of its chunks; here are all of them.
"""

from collections.abc import Collection

from contracts.contribution_rows import CONTRIBUTIONS_TABLE, FOLDED_TABLE, Names, is_active, key_hash, provenance_of
from contracts.graph import Partition, Provenance
from runtime.stores.documents.port import Rows, Table

LEAST_READ = 100
"""Fewest rows of one read, because most of them may be retracted."""


class RowProvenance:
    """`ProvenanceReader` over `Rows`. It leaves out contributions that newer versions or deletions retracted.

    For a renamed or merged entity it returns the contributions under all original names, without those that an edit
    has deleted; one chunk may then appear under several names.
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
        """Return up to `limit` contributions after the row key `after`, in the fixed order of row keys (hashes).

        `among` restricts them to these documents. Fewer than `limit` means there are no more. Without `among` a page
        reads only its own rows and the retracted ones between them; with it, each page reads all contributions of
        these documents to the names. Raises what `Rows` raises.
        """
        original_keys = await self._original_keys(partition, names)
        result: list[Provenance] = []
        for start in sorted(original_keys):
            if after < f"{start};" and len(result) < limit:  # ";" is the character after ":"
                place, remaining = max(after, f"{start}:"), limit - len(result)
                if among is None:
                    result += await self._page(partition, start, original_keys[start], place, remaining)
                else:
                    result += await self._of_documents(partition, start, original_keys[start], place, remaining, among)
        return result

    async def _original_keys(self, partition: Partition, names: Names) -> dict[str, int]:
        """Return the hash of each original key of these names, with the version up to which its rows are inactive."""
        key = key_hash(names)
        row = (await self._rows.get(Table(FOLDED_TABLE, partition), [key])).get(key)
        return {key_hash(raw): until for raw, until in row["raws"]} if row else {key: 0}

    async def _page(self, partition: Partition, start: str, until: int, after: str, limit: int) -> list[Provenance]:
        result: list[Provenance] = []
        size = max(limit, LEAST_READ)
        while len(result) < limit:
            page = await self._rows.scan(Table(CONTRIBUTIONS_TABLE, partition), after, size)
            own_rows = [(place, row) for place, row in page if row["key"] == start]
            result += [provenance_of(place, row) for place, row in own_rows if is_active(row, until)]
            if len(own_rows) < size:
                break
            after = page[-1][0]
        return result[:limit]

    async def _of_documents(
        self, partition: Partition, start: str, until: int, after: str, limit: int, among: Collection[str]
    ) -> list[Provenance]:
        rows = await self._rows.find(
            Table(CONTRIBUTIONS_TABLE, partition), {"key": start, "document_id": sorted(among)}
        )
        return [provenance_of(place, row) for place, row in rows if place > after and is_active(row, until)][:limit]
