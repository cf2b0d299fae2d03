"""What merging costs where very many names are frequent: the merger alone, in one process.

    python -m benchmarks.merger_names [--documents 24000] [--block 4000] [--cache-mb 64]

Gives the handler of the merger what is said in short documents whose names follow Zipf's law, 64
documents at once, with rows in a SQLite file and the graph in memory. Prints Markdown: CPU a
document, block by block. With a smaller cache it shows earlier what happens once names no longer
fit.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.measuring.processes import load
from benchmarks.measuring.tables import table
from benchmarks.yardstick.documents import Document
from benchmarks.yardstick.short_documents import short_documents
from contracts.graph import Generations
from contracts.values import ExtractedRelation
from knowledge.descriptions import SummaryLimits
from runtime.batching import batched
from runtime.bus.port import Delivery
from runtime.stores.documents.sqlite.store import SqliteRows
from runtime.stores.graph.memory import MemoryGraph
from services.merger.adapters.contributions import RowContributions, RowSummaries
from services.merger.aggregate_cache import AggregateCache
from services.merger.handler import on_entities_extracted
from services.merger.port import MergeDependencies
from tests.support.events import NOON, delivered, document, entity, extracted, relation

HEAD = ("documents", "load", "CPU, ms a document")
BATCH = 64
"""Documents that are merged at once."""


def relations_of(text: Document) -> Iterator[ExtractedRelation]:
    """Relate the two names of each sentence."""
    for sentence in text.text.split(". "):
        names = sorted(name for name in text.titles if name in sentence)
        if len(names) == 2:
            yield relation(*names, sentence, "named together")


def delivery_of(sequence: int, text: Document) -> Delivery[Any]:
    """What is extracted from a document, as it is delivered."""
    entities = [entity(name, "person", f"{name}: {text.text[:150]}") for name in text.titles]
    added_at = NOON + timedelta(seconds=sequence)
    version = document(text.name, sequence, added_at=added_at, file_path=text.name)
    return delivered(extracted(version, 0, entities, list(relations_of(text))), sequence)


async def merge(documents: Sequence[Document], block: int, cache_bytes: int, file: Path) -> None:
    """Merge the documents, and print a row for each block."""
    rows = SqliteRows(file)
    await rows.prepare()
    dependencies = MergeDependencies(
        RowContributions(rows),
        RowSummaries(rows),
        MemoryGraph(),
        SummaryLimits(),
        AggregateCache(cache_bytes),
    )
    print(table(HEAD, []))
    merged = 0
    for documents_of_block in batched(documents, block):
        start = time.process_time()
        for batch in batched(enumerate(documents_of_block, merged + 1), BATCH):
            deliveries = [delivery_of(*numbered) for numbered in batch]
            await on_entities_extracted(deliveries, Generations(), dependencies=dependencies)
        merged += len(documents_of_block)
        milliseconds = (time.process_time() - start) * 1000 / len(documents_of_block)
        print(f"| {merged:,} | {load()} | {milliseconds:.1f} |", flush=True)
    await rows.close()


def main() -> None:
    """Merge short documents in a new folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=24_000)
    parser.add_argument("--block", type=int, default=4000, help="documents of a row")
    parser.add_argument("--cache-mb", type=int, default=64, help="see MERGE_CACHE_MB")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(
            merge(
                short_documents(options.documents),
                options.block,
                options.cache_mb * 2**20,
                Path(folder, "rows.sqlite"),
            )
        )


if __name__ == "__main__":
    main()
