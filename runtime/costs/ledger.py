"""The ledger in the document store: the table `costs`, a row for each event that names what a model
was paid, and the table `cost_sums`, what the entries of a block sum up to.

A block is a stretch of the log. Whoever writes entries marks their blocks afterwards, so a sum
counts only where its block was not marked since it was read; of the others the entries are read.
What was written and not marked, because the process ended, is delivered again. So sums are always
those of the entries, in whatever order these come, and there is nothing to lose.
"""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import fields

from contracts.graph import Partition
from contracts.ids import sha256
from runtime.batching import batched
from runtime.costs.port import CostEntry
from runtime.costs.report import summed_entries
from runtime.stores.documents.port import Row, Rows, Table

PAGE = 5000
"""Rows per read of a scan."""

BLOCK = 2048
"""Sequences of the log in a block: so many entries are read, not summed up, of the newest one."""

OLDER_AT_ONCE = 2000
"""Entries of an older program that are given their block with each write."""

DOCUMENTS_AT_ONCE = 50
"""Documents whose entries are read at once: one may have thousands."""

FIRST = "order"
"""Field by which older programs let the entry with the lowest sequence win."""

OPEN = "open"
"""State of a block of which the entries must be read."""

SETTLED = "settled"

_FIELDS = tuple(field.name for field in fields(CostEntry))
_DEFAULTS = vars(CostEntry("", "", "", "", 0))


class RowLedger:
    """`Ledger` over `Rows`."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def put(self, partition: Partition, entries: Mapping[str, CostEntry]) -> None:
        """See `Ledger.put`."""
        await self._write(
            partition,
            {
                sha256(id)[:32]: {**vars(entry), FIRST: -entry.sequence}
                for id, entry in entries.items()
            },
        )
        # Entries without a block stand first, so that one row tells whether there are any.
        if await self._of_older_programs(partition, 1):
            await self._write(partition, await self._of_older_programs(partition, OLDER_AT_ONCE))

    async def entries(self, partition: Partition, document: str = "") -> AsyncIterator[CostEntry]:
        """See `Ledger.entries`."""
        if document:
            async for entry in self.entries_of(partition, [document]):
                yield entry
            return
        after = ""
        while page := await self._rows.scan(_entries(partition), after, PAGE):
            for _, row in page:
                yield _entry(row)
            after = page[-1][0]

    async def entries_of(
        self, partition: Partition, documents: Sequence[str]
    ) -> AsyncIterator[CostEntry]:
        """See `Ledger.entries_of`."""
        for ids in batched(documents, DOCUMENTS_AT_ONCE):
            for _, row in await self._rows.find(_entries(partition), {"document": list(ids)}):
                yield _entry(row)

    async def sums(self, partition: Partition) -> AsyncIterator[CostEntry]:
        """See `Ledger.sums`."""
        if await self._of_older_programs(partition, 1):
            async for entry in self.entries(partition):
                yield entry
            return
        after = ""
        while page := await self._rows.scan(_sums(partition), after, PAGE):
            for key, row in page:
                stored_sums: list[Row] = row.get("sums", [])
                if row["state"] == SETTLED:
                    for stored_sum in stored_sums:
                        yield CostEntry(**{**_DEFAULTS, **stored_sum})
                else:
                    for entry in await self._of_block(partition, int(key)):
                        yield entry
            after = page[-1][0]

    async def _write(self, partition: Partition, new_rows: Mapping[str, Row]) -> None:
        """Write the rows, of each the one with the lowest sequence, and mark their blocks."""
        blocks: set[int] = set()

        def first_ones(stored_rows: dict[str, Row]) -> dict[str, Row]:
            changed_rows: dict[str, Row] = {}
            for key, row in new_rows.items():
                stored_row = stored_rows.get(key)
                first = _first(stored_row, row)
                # Also of a row that is there: its block may not have been marked.
                blocks.update([first["block"], *first.get("earlier_blocks", [])])
                if first != stored_row:
                    changed_rows[key] = first
            return changed_rows

        await self._rows.update(_entries(partition), new_rows.keys(), first_ones)
        if await self._mark(partition, blocks):
            await self._settle(partition)

    async def _mark(self, partition: Partition, blocks: Collection[int]) -> bool:
        """Mark the blocks, and return whether one of them is new."""
        has_new = False

        def marked(stored_rows: dict[str, Row]) -> dict[str, Row]:
            nonlocal has_new
            has_new = has_new or any(key not in stored_rows for key in keys)
            return {
                key: {"state": OPEN, "marks": stored_rows.get(key, {"marks": 0})["marks"] + 1}
                for key in keys
            }

        keys = [_key_of(block) for block in sorted(blocks)]
        await self._rows.update(_sums(partition), keys, marked)
        return has_new

    async def _settle(self, partition: Partition) -> None:
        """Sum up the blocks that are open, but for the newest one, which goes on."""
        open_rows = await self._rows.find(_sums(partition), {"state": OPEN})
        for key, row in sorted(open_rows)[:-1]:
            entries = summed_entries(await self._of_block(partition, int(key)))
            sums = [_without_defaults(vars(entry)) for entry in entries]

            def settled(
                stored_rows: dict[str, Row],
                key: str = key,
                marks: int = row["marks"],
                sums: list[Row] = sums,
            ) -> dict[str, Row]:
                if stored_rows[key]["marks"] != marks:
                    return {}
                return {key: {"state": SETTLED, "marks": marks, "sums": sums}}

            await self._rows.update(_sums(partition), [key], settled)

    async def _of_block(self, partition: Partition, block: int) -> list[CostEntry]:
        rows = await self._rows.find(_entries(partition), {"block": block})
        return [_entry(row) for _, row in rows]

    async def _of_older_programs(self, partition: Partition, limit: int) -> dict[str, Row]:
        """Return entries without a block, as older programs write them."""
        rows = await self._rows.find(_entries(partition), {}, order="block", limit=limit)
        return {key: row for key, row in rows if "block" not in row}


def _entries(partition: Partition) -> Table:
    return Table("costs", partition)


def _sums(partition: Partition) -> Table:
    return Table("cost_sums", partition)


def _key_of(block: int) -> str:
    return f"{block:016}"


def _first(stored_row: Row | None, row: Row) -> Row:
    """Return the row with the lower sequence, with its block and those where the entry stood
    before.
    """
    is_stored_first = stored_row is not None and stored_row["sequence"] <= row["sequence"]
    first = stored_row if stored_row is not None and is_stored_first else row
    block = first["sequence"] // BLOCK
    earlier_blocks = set[int]()
    if stored_row is not None:
        earlier_blocks = {*stored_row.get("earlier_blocks", []), stored_row.get("block", block)}
    blocks_left = sorted(earlier_blocks - {block})
    return {**first, "block": block, **({"earlier_blocks": blocks_left} if blocks_left else {})}


def _without_defaults(row: Row) -> Row:
    return {name: value for name, value in row.items() if value != _DEFAULTS[name]}


def _entry(row: Row) -> CostEntry:
    # Other versions of this code write more fields, or fewer.
    return CostEntry(**{name: row[name] for name in _FIELDS if name in row})
