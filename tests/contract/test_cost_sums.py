"""Sums of the ledger are those of its entries on every store, and are read without these."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from random import Random
from typing import Any
from uuid import uuid4

import pytest

from contracts.graph import Partition
from contracts.ids import sha256
from runtime.costs import ledger as ledger_module
from runtime.costs.ledger import RowLedger
from runtime.costs.port import CostEntry
from runtime.costs.prices import parse_prices
from runtime.costs.report import CostReport, cost_report
from runtime.stores.documents.port import Change, Row, Rows, Table, Where
from tests.support.shares import share

pytestmark = pytest.mark.asyncio(loop_scope="module")

PRICES = parse_prices('{"m": {"prompt": 2, "cached": 0.5, "completion": 10}}')


@pytest.fixture
def here() -> Partition:
    """A partition that nobody else has."""
    return Partition(f"w-{uuid4().hex[:12]}", 3)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of ten sequences."""
    monkeypatch.setattr(ledger_module, "BLOCK", 10)


def entry(sequence: int, **fields: Any) -> CostEntry:
    place = sequence % 7
    return replace(
        CostEntry(
            day=f"2026-03-{1 + sequence // 40:02d}",
            document=f"d-{sequence % 5}",
            stage=("extractor", "merger", "query-answer")[sequence % 3],
            model=("m", "other")[sequence % 2],
            sequence=sequence,
            prompt=100 + sequence,
            cached=(0, 40, 900)[sequence % 3],
            completion=place,
            calls=1 + place,
            milliseconds=10 * place,
            saved=place == 5,
            in_batch=place == 6,
        ),
        **fields,
    )


async def reported(ledger: RowLedger, here: Partition, by: Any = None) -> CostReport:
    """The report from sums, which is that from entries."""
    of_sums = await cost_report(ledger.sums(here), PRICES, by)
    of_entries = await cost_report(ledger.entries(here), PRICES, by)
    assert of_sums.total.as_json() == of_entries.total.as_json()
    assert {name: group.as_json() for name, group in of_sums.groups.items()} == {
        name: group.as_json() for name, group in of_entries.groups.items()
    }
    return of_sums


@pytest.mark.parametrize("seed", share(range(10), daily=3))
async def test_sums_are_those_of_the_entries_in_any_order(
    rows: Rows, here: Partition, seed: int
) -> None:
    random = Random(seed)
    entries = [(f"e-{sequence}", entry(sequence)) for sequence in range(1, 120)]
    # The same events once more in the log: of each the first counts, whenever it comes.
    entries += [
        (id, replace(first, sequence=first.sequence + 37))
        for id, first in entries
        if random.random() < 0.2
    ]
    delivered = [*entries, *random.sample(entries, 30)]
    if seed % 3:
        random.shuffle(delivered)
    ledgers = [RowLedger(rows), RowLedger(rows)]
    while delivered:
        batch = [delivered.pop(0) for _ in range(min(len(delivered), random.randrange(1, 25)))]
        await random.choice(ledgers).put(here, dict(reversed(batch)))
        if random.random() < 0.3:
            await reported(ledgers[0], here)
    for by in ("day", "stage", "model"):
        report = await reported(ledgers[0], here, by)
    assert report.total.calls == sum(
        entry(sequence).calls for sequence in range(1, 120) if not entry(sequence).saved
    )


async def test_what_an_older_program_wrote_counts_and_is_summed_up_with_the_next_write(
    rows: Rows, here: Partition
) -> None:
    older_rows: dict[str, Row] = {}
    for sequence in range(1, 60):
        older_row = {**vars(entry(sequence)), "order": -sequence}
        older_rows[sha256(f"e-{sequence}")[:32]] = older_row
    await rows.put_newer(Table("costs", here), older_rows, "order")
    ledger = RowLedger(rows)
    assert (await reported(ledger, here)).total.calls
    await ledger.put(here, {"e-7": entry(7), "new": entry(61)})
    assert (await reported(ledger, here)).total.unpriced
    states = [row["state"] for _, row in await rows.scan(Table("cost_sums", here))]
    assert states == ["settled"] * 6 + ["open"]
    # While programs of both versions run:
    await rows.put_newer(Table("costs", here), {"late": {**vars(entry(62)), "order": -62}}, "order")
    await reported(ledger, here)


class PutDuringReading:
    """Rows in which another process writes an entry while those of a block are read."""

    def __init__(self, rows: Rows, here: Partition) -> None:
        self._rows, self._here = rows, here
        self.late_entries = [(f"late-{sequence}", entry(sequence)) for sequence in (3, 14, 25)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rows, name)

    async def find(self, table: Table, where: Where, **paging: Any) -> list[tuple[str, Row]]:
        found_rows = await self._rows.find(table, where, **paging)
        if "block" in where and self.late_entries:
            id, late_entry = self.late_entries.pop()
            await RowLedger(self._rows).put(self._here, {id: late_entry})
        return found_rows


async def test_an_entry_that_comes_while_its_block_is_summed_up_is_not_lost(
    rows: Rows, here: Partition
) -> None:
    racing: Any = PutDuringReading(rows, here)
    ledger = RowLedger(racing)
    for start in range(1, 60, 6):
        await ledger.put(
            here, {f"e-{sequence}": entry(sequence) for sequence in range(start, start + 6)}
        )
    assert not racing.late_entries
    await reported(RowLedger(rows), here)


class CountedRows:
    """Rows that count those of entries that are asked for by their fields."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.entries = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rows, name)

    async def find(self, table: Table, where: Where, **paging: Any) -> list[tuple[str, Row]]:
        found_rows = await self._rows.find(table, where, **paging)
        self.entries += len(found_rows) if table.name == "costs" else 0
        return found_rows


async def test_a_write_reads_one_entry_of_those_that_are_there(rows: Rows, here: Partition) -> None:
    await RowLedger(rows).put(here, {f"e-{n}": entry(n) for n in range(1, 96)})
    counted: Any = CountedRows(rows)
    await RowLedger(counted).put(here, {"e-96": entry(96)})
    assert counted.entries == 1


class UnmarkedRows:
    """Rows of a process that ends after the entries are written, before their blocks are marked."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.is_killed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rows, name)

    async def update(
        self, table: Table, keys: Collection[str], change: Change
    ) -> Mapping[str, Row]:
        if table.name == "cost_sums" and self.is_killed:
            raise RuntimeError("killed")
        return await self._rows.update(table, keys, change)


async def test_a_process_that_is_killed_between_both_writes_leaves_nothing_wrong(
    rows: Rows, here: Partition
) -> None:
    killed: Any = UnmarkedRows(rows)
    await RowLedger(rows).put(here, {f"e-{n}": entry(n) for n in range(10, 60)})
    killed.is_killed = True
    # A new entry in a block that is summed up, and one that moves into it from a later one.
    late_entries = {"new": entry(15), "e-57": entry(16)}
    with pytest.raises(RuntimeError):
        await RowLedger(killed).put(here, late_entries)
    await RowLedger(rows).put(here, late_entries)
    await reported(RowLedger(rows), here)
