"""What does exact search cost, by the number of passages?

    python -m benchmarks.exact_search [--passages 10000,30000]

Passages of 200 made-up words in one SQLite file, a phrase that ten of them have, and one that none
has. Prints Markdown: seconds, and seconds of CPU, of the search alone.
"""

import argparse
import asyncio
import random
import tempfile
import time
from pathlib import Path

from contracts.graph import Partition
from contracts.ids import chunk_id
from runtime.batching import batched
from runtime.stores.documents.sqlite.store import SqliteRows
from services.query.adapters.documents import RowDocuments, RowPassages
from services.query.lookup.documents import StoredDocuments
from services.query.lookup.keywords import Keyword
from services.query.lookup.passage_search import search_passages
from services.query.passage import Passage

PHRASE = "Harbour Office"
MATCHES = 10
WORDS = 200
IN_DOCUMENT = 20
"""Passages of a document."""

PARTITION = Partition("w", 0)


def passages(count: int) -> list[Passage]:
    """Return passages of which `MATCHES` have the phrase."""
    choice = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(choice.choices(letters, k=choice.randint(3, 10))) for _ in range(30_000)]
    result: list[Passage] = []
    for number in range(count):
        text = " ".join(choice.choices(words, k=WORDS))
        if number % (count // MATCHES) == 0:
            text += f" {PHRASE}."
        id, order = f"doc-{number // IN_DOCUMENT}", number % IN_DOCUMENT
        result.append(Passage(chunk_id(id, order), id, order, text, f"{id}.txt"))
    return result


async def measure(count: int, folder: Path) -> str:
    """Return a line of the table for so many passages."""
    rows = SqliteRows(folder / f"{count}.db")
    await rows.prepare()
    stored_passages = RowPassages(rows)
    for batch in batched(passages(count), 2000):
        await stored_passages.put(PARTITION, batch)
    stored_documents = StoredDocuments(RowDocuments(rows), stored_passages, PARTITION)
    cells: list[str] = []
    for phrase in (PHRASE, "no such phrase"):
        start, cpu_start = time.perf_counter(), time.process_time()
        await search_passages(stored_documents, [Keyword.of(phrase)], None, offset=0, limit=20)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu_start
        cells.append(f"{seconds:.2f} s, {cpu:.2f} s of CPU")
    await rows.close()
    return f"| {count:,} | {' | '.join(cells)} |"


async def main(counts: list[int]) -> None:
    """Print the table."""
    print(f"| passages | a phrase that {MATCHES} have | one that none has |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for count in counts:
            print(await measure(count, Path(folder)), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", default="10000,30000")
    arguments = parser.parse_args()
    asyncio.run(main([int(count) for count in arguments.passages.split(",")]))
