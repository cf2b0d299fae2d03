"""What a page of the list of documents costs, by the number of documents of the workspace, and what
it costs to say what was spent, by the number of entries of its ledger.

    python -m benchmarks.lists [--documents 1000,10000,50000] [--repeats 5] [--pages "last page,…"]
    python -m benchmarks.lists --documents "" --entries 50000

Rows are written into a SQLite file as the status projection writes them, without services. Prints
for each kind of page the milliseconds of CPU (the least of the repeats), the instructions of
SQLite's machine in thousands, which depend on nothing but the rows and the plan, and how many rows
were decoded.
"""

import argparse
import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measuring.tables import number, table
from contracts.graph import Partition
from runtime.batching import batched
from runtime.costs import ledger as ledger_module
from runtime.costs.ledger import RowLedger
from runtime.costs.port import CostEntry
from runtime.costs.prices import Prices
from runtime.costs.report import cost_report
from runtime.stores.documents.sqlite.store import SqliteRows
from services.query.adapters import documents as adapter
from services.query.adapters.documents import RowDocuments
from services.query.status.document_status import STEPS, DocumentStatus, Failure
from services.query.status.port import Listing
from services.query.status.scope import Scope
from services.query.visibility.documents import ReadDocuments, RestrictedDocuments

PARTITION = Partition("w", 1)
PAGE_SIZE = 50
FAILURE = Failure("extractor", "extracted", None, "the model did not answer")
STEPS_COUNTED = 100
"""Instructions of SQLite between two calls of the counter."""
SHARES = {"1 %": 100, "50 %": 2}
"""Of documents that a viewer sees: one of so many."""

Work = Callable[[], Awaitable[object]]


@dataclass
class Counter:
    """What was read since it was set to 0."""

    instructions: int = 0
    rows: int = 0


def states(count: int) -> Iterable[DocumentStatus]:
    """Documents of six chunks, of which one in a thousand failed and one in five hundred is being
    processed; they changed in another order than they were added in.
    """
    for place in range(count):
        is_new, is_failed = place % 500 == 7, place % 1000 == 8
        bits = 0 if is_new or is_failed else 63
        change_place = place * 7919 % count
        yield DocumentStatus(
            id=f"doc-{place * 104729 % 2**31:032x}",
            file_path=f"shelf {place % 40}/report {place:06d}.md",
            track_id=f"upload-{place // 20}",
            metadata={"tags": "red, old" if place % 40 == 7 else "blue"},
            summary="The harbour office moved to the northern pier in the spring. " * 4,
            length=6000,
            created_at=f"2026-01-01T{place // 3600 % 24:02d}:00:00.{place:06d}+00:00",
            updated_at=f"2026-02-01T00:00:00.{change_place:06d}+00:00",
            version=place + 1,
            added=1_700_000_000_000_000 + place,
            chunk_count=6,
            bits=dict.fromkeys(STEPS, bits),
            sequence=place + 1,
            failures=(FAILURE,) if is_failed else (),
        )


def pages(documents: ReadDocuments, count: int) -> dict[str, Work]:
    """Return the readings that are measured, by their names."""
    newest_first = Listing(order="updated_at", descending=True, limit=PAGE_SIZE)
    middle = count // 2 // PAGE_SIZE * PAGE_SIZE
    last_skip = (count - 1) // PAGE_SIZE * PAGE_SIZE
    listings = {
        "first page": newest_first,
        "page in the middle": replace(newest_first, skip=middle),
        "last page": replace(newest_first, skip=last_skip),
        "first by name": replace(newest_first, order="file_path"),
        "middle by name": replace(newest_first, order="file_path", skip=middle),
        "failed ones": replace(newest_first, statuses=["failed", "partial"]),
        "processed, middle": replace(newest_first, statuses=["processed"], skip=middle),
        "name has a text": replace(newest_first, names=("report 0001",)),
    }
    work: dict[str, Work] = {
        name: lambda listing=listing: documents.page(PARTITION, listing)
        for name, listing in listings.items()
    }
    work["counts alone"] = lambda: documents.counts(PARTITION)
    work["one upload"] = lambda: documents.by_track_id(PARTITION, "upload-7")
    if isinstance(documents, RowDocuments):
        of_path, tagged = Scope(file_path_prefix="shelf 7/"), Scope(tags=("red",))
        recent = Scope(added_from=datetime(2026, 1, 1, 12, tzinfo=UTC))
        work["in a path"] = lambda: documents.in_scope(PARTITION, of_path)
        work["added since noon"] = lambda: documents.in_scope(PARTITION, recent)
        work["in a path, with a tag"] = lambda: documents.in_scope(
            PARTITION, replace(of_path, tags=tagged.tags)
        )
        blue = Scope(tags=("blue",))
        work["with the tag of most"] = lambda: documents.in_scope(PARTITION, blue)
        work["with a tag"] = lambda: documents.in_scope(PARTITION, tagged)
    return work


async def count_instructions(rows: SqliteRows, counter: Counter) -> None:
    """Let the connections of the file count, and the adapter the rows that it decodes."""

    def note() -> int:
        counter.instructions += STEPS_COUNTED
        return 0

    def attach(connection: sqlite3.Connection) -> None:
        connection.set_progress_handler(note, STEPS_COUNTED)

    await rows._file.query(attach)  # pyright: ignore[reportPrivateUsage]
    status_of = adapter._status  # pyright: ignore[reportPrivateUsage]

    def decoded(row: dict[str, object]) -> DocumentStatus:
        counter.rows += 1
        return status_of(row)

    adapter._status = decoded  # pyright: ignore[reportPrivateUsage]


async def measured(work: Work, repeats: int, counter: Counter) -> tuple[str, str, str]:
    """Return milliseconds of CPU, thousands of instructions and rows decoded of one reading."""
    times: list[float] = []
    for _ in range(repeats):
        counter.instructions = counter.rows = 0
        start = time.process_time()
        await work()
        times.append(time.process_time() - start)
    return number(1000 * min(times), 1), number(counter.instructions / 1000), number(counter.rows)


async def measure(count: int, repeats: int, wanted_pages: frozenset[str]) -> None:
    """Print a table for a workspace of so many documents, of the wanted readings; all without."""
    with tempfile.TemporaryDirectory() as folder:
        rows = SqliteRows(Path(folder) / "documents.db")
        await rows.prepare()
        documents = RowDocuments(rows)
        ids: list[str] = []
        for batch in batched(states(count), 1000):
            await documents.put(PARTITION, batch)
            ids += [status.id for status in batch]
        counter = Counter()
        await count_instructions(rows, counter)
        lines: list[tuple[str, ...]] = []
        sides: dict[str, ReadDocuments] = {
            "everything": documents,
            **{
                name: RestrictedDocuments(documents, frozenset(ids[::share]))
                for name, share in SHARES.items()
            },
        }
        for side, reader in sides.items():
            visible_count = len(reader.ids) if isinstance(reader, RestrictedDocuments) else count
            for name, work in pages(reader, visible_count).items():
                if wanted_pages and name not in wanted_pages:
                    continue
                lines.append((side, name, *await measured(work, repeats, counter)))
        head = ("who sees", f"{count:,} documents", "CPU, ms", "instructions, k", "rows")
        print(table(head, lines), "\n", flush=True)
        await rows.close()


def cost_entries(count: int) -> Iterable[tuple[str, CostEntry]]:
    """Entries of two months: of seven documents' events one is about a summary or a question."""
    for place in range(count):
        yield (
            f"event-{place}",
            CostEntry(
                day=f"2026-{1 + place * 2 // count:02d}-{1 + place * 60 // count % 30:02d}",
                document=f"doc-{place // 7}" if place % 7 else "",
                stage=("merger", "extractor", "indexer")[place % 3],
                model=("large", "small")[place % 2],
                sequence=2 * place,
                prompt=1000,
                completion=100,
                calls=1,
            ),
        )


async def measure_ledger(count: int, repeats: int) -> None:
    """Print a table for a ledger of so many entries."""
    with tempfile.TemporaryDirectory() as folder:
        rows = SqliteRows(Path(folder) / "documents.db")
        await rows.prepare()
        ledger = RowLedger(rows)
        for batch in batched(cost_entries(count), 200):
            await ledger.put(PARTITION, dict(batch))
        counter = Counter()
        await count_instructions(rows, counter)
        entry_of = ledger_module._entry  # pyright: ignore[reportPrivateUsage]

        def decoded(row: dict[str, object]) -> CostEntry:
            counter.rows += 1
            return entry_of(row)

        ledger_module._entry = decoded  # pyright: ignore[reportPrivateUsage]
        work: dict[str, Work] = {
            "all, from entries": lambda: cost_report(ledger.entries(PARTITION), Prices()),
            "all, from sums": lambda: cost_report(ledger.sums(PARTITION), Prices()),
            "one document": lambda: cost_report(ledger.entries(PARTITION, "doc-7"), Prices()),
        }
        lines = [(name, *await measured(call, repeats, counter)) for name, call in work.items()]
        head = (f"{count:,} entries", "CPU, ms", "instructions, k", "entries decoded")
        print(table(head, lines), "\n", flush=True)
        await rows.close()


async def main() -> None:
    """Measure workspaces of each size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", default="1000,10000,50000")
    parser.add_argument("--entries", default="", help="sizes of ledgers")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--pages", default="", help="names of readings; all without")
    arguments = parser.parse_args()
    for count in map(int, filter(None, arguments.entries.split(","))):
        await measure_ledger(count, arguments.repeats)
    for count in map(int, filter(None, arguments.documents.split(","))):
        wanted_pages = frozenset(filter(None, arguments.pages.split(",")))
        await measure(count, arguments.repeats, wanted_pages)


if __name__ == "__main__":
    asyncio.run(main())
