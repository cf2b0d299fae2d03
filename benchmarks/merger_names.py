"""What merging costs where very many names are frequent: the merger alone, in one process.

    python -m benchmarks.merger_names [--documents 24000] [--block 4000] [--cache-mb 64] [--rest 4]

Gives the handler of the merger what is said in short documents whose names follow Zipf's law, 64
documents at once, with rows in a SQLite file and the graph in memory. Prints Markdown: CPU a
document, block by block. With a smaller cache it shows earlier what happens once names no longer
fit. With `--rest` a model that takes no time summarises what has not changed for so many batches,
as the service does while documents come.
"""

import argparse
import asyncio
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain, count
from pathlib import Path
from typing import Any

from benchmarks.measuring.processes import load
from benchmarks.measuring.tables import table
from benchmarks.yardstick.documents import Document
from benchmarks.yardstick.short_documents import short_documents
from contracts.events import EntitiesExtracted
from contracts.graph import Generations
from contracts.values import ExtractedRelation, TokenUsage
from knowledge.descriptions import Group, SummaryLimits
from runtime.batching import batched
from runtime.bus.port import Delivery
from runtime.stores.documents.sqlite.store import SqliteRows
from runtime.stores.graph.memory import MemoryGraph
from services.merger.adapters.contributions import RowContributions, RowSummaries
from services.merger.aggregate_cache import AggregateCache
from services.merger.handler import on_description_summarized, on_entities_extracted
from services.merger.port import MergeDependencies, Summary
from services.merger.summarize import on_graph_merged
from tests.support.events import NOON, delivered, document, entity, extracted, relation

HEAD = ("documents", "load", "summaries a document", "CPU, ms a document")
BATCH = 64
"""Documents that are merged at once."""


def relations_of(text: Document) -> Iterator[ExtractedRelation]:
    """Relate the two names of each sentence."""
    for sentence in text.text.split(". "):
        names = sorted(name for name in text.titles if name in sentence)
        if len(names) == 2:
            yield relation(*names, sentence, "named together")


def event_of(number: int, text: Document) -> EntitiesExtracted:
    """What is extracted from a document."""
    entities = [entity(name, "person", f"{name}: {text.text[:150]}") for name in text.titles]
    added_at = NOON + timedelta(seconds=number)
    version = document(text.name, number, added_at=added_at, file_path=text.name)
    return extracted(version, 0, entities, list(relations_of(text)))


class InstantSummarizer:
    """Summarises without a model, in a few words that differ from group to group."""

    model = "none"
    prompt_version = "none"

    async def summarize(self, workspace: str, group: Group) -> Summary:
        """See `Summarizer.summarize`."""
        return Summary(f"{len(group.texts)} texts about {group.hash}. " * 4, TokenUsage())


async def no_debounce(_: datetime) -> None:
    """What is given has rested already."""


@dataclass
class BulkLoad:
    """Merges documents batch by batch, and summarises what has rested for `rest` batches."""

    dependencies: MergeDependencies
    rest: int
    summaries: int = 0
    _resting: deque[list[Delivery[Any]]] = field(default_factory=deque[list[Delivery[Any]]])
    _sequences: Iterator[int] = field(default_factory=lambda: count(1))

    async def merge(self, events: Sequence[EntitiesExtracted]) -> None:
        """Merge the next batch."""
        merged = await on_entities_extracted(
            self._delivered(events), Generations(), dependencies=self.dependencies
        )
        self._resting.append(self._delivered(chain.from_iterable(merged)))
        if len(self._resting) > self.rest > 0:
            await self._summarize(self._resting.popleft())

    async def _summarize(self, merged: Sequence[Delivery[Any]]) -> None:
        """Summarise until nothing of a batch lacks a summary, as the service does."""
        while merged:
            summarized = await on_graph_merged(
                merged,
                Generations(),
                dependencies=self.dependencies,
                summarizer=InstantSummarizer(),
                debounce=no_debounce,
            )
            events: Any = list(chain.from_iterable(summarized))
            self.summaries += len(events)
            answers = await on_description_summarized(
                self._delivered(events), Generations(), dependencies=self.dependencies
            )
            merged = self._delivered(chain.from_iterable(answers))

    def _delivered(self, events: Iterable[Any]) -> list[Delivery[Any]]:
        return [delivered(event, next(self._sequences)) for event in events]


async def merge(
    documents: Sequence[Document], options: argparse.Namespace, rows: SqliteRows
) -> None:
    """Merge the documents, and print a row for each block."""
    dependencies = MergeDependencies(
        RowContributions(rows),
        RowSummaries(rows),
        MemoryGraph(),
        SummaryLimits(),
        AggregateCache(options.cache_mb * 2**20),
    )
    bulk_load = BulkLoad(dependencies, options.rest)
    print(table(HEAD, []))
    merged = 0
    for documents_of_block in batched(documents, options.block):
        start, summaries = time.process_time(), bulk_load.summaries
        for batch in batched(enumerate(documents_of_block, merged + 1), BATCH):
            await bulk_load.merge([event_of(*numbered) for numbered in batch])
        block_size = len(documents_of_block)
        merged += block_size
        milliseconds = (time.process_time() - start) * 1000 / block_size
        of_block = (bulk_load.summaries - summaries) / block_size
        print(f"| {merged:,} | {load()} | {of_block:.2f} | {milliseconds:.1f} |", flush=True)


async def run(options: argparse.Namespace) -> None:
    """Merge short documents in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        rows = SqliteRows(Path(folder, "rows.sqlite"))
        await rows.prepare()
        await merge(short_documents(options.documents), options, rows)
        await rows.close()


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=24_000)
    parser.add_argument("--block", type=int, default=4000, help="documents of a row")
    parser.add_argument("--cache-mb", type=int, default=64, help="see MERGE_CACHE_MB")
    parser.add_argument("--rest", type=int, default=0, help="batches; 0: nothing is summarised")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
