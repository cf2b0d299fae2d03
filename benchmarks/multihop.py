"""Of questions of two to four hops, how many have every passage they need among the first eight?

    python -m benchmarks.multihop [--seeds 1] [--distractors 300] [--modes walk,mix] [--embedder
    minilm|lexical] python -m benchmarks.multihop --real [FOLDER] [--sets musique,hotpotqa]
    [--titles titled,plain] [--documents 20000] [--cache FOLDER]

The world of `benchmarks/multihop_world.py` goes through the chunker, the offline extractor, the
merger and the indexer, with stores in memory, and is asked in each mode with `chunk_top_k` 8.
Embeddings are kept in a folder of the machine's temporary files, so that a second run takes a
minute. With `--real` the sets of `benchmarks/multihop_sets.py` are asked instead; FOLDER is that of
YARDSTICK_DATA if none is given. Prints tables in Markdown.
"""

import argparse
import asyncio
import os
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import multihop_sets
from benchmarks.multihop_stores import CACHE_FOLDER, LIVE, CachedEmbedder, filled
from benchmarks.multihop_world import MultihopQuestion, World, world
from benchmarks.yardstick.documents import VARIABLE
from contracts.graph import VECTOR_KINDS, Partition
from offline.embeddings.lexical import LexicalEmbedder
from runtime.models.minilm import MiniLmEmbedder
from runtime.models.port import Embedder
from services.query.partitions import Partitions
from services.query.question import Question
from services.query.retrieval.retrieve import retrieve
from tests.support.querying import QueryHarness

MODES = ("walk", "naive", "local", "global", "hybrid", "mix")
TOP = 8


@dataclass
class Row:
    """What one question brought in one mode."""

    asking: MultihopQuestion
    mode: str
    whole: bool
    seconds: float


async def ask_all(
    stores: QueryHarness, questions: Sequence[MultihopQuestion], mode: Any
) -> list[Row]:
    """Every question in one mode."""
    deps = stores.deps(embed=stores.embedder.embed, min_score=0.2)
    partitions = Partitions.of("w", LIVE)
    rows: list[Row] = []
    for asking in questions:
        began = time.perf_counter()
        result = await retrieve(Question(asking.text, mode, chunk_top_k=TOP), partitions, deps)
        seconds = time.perf_counter() - began
        first = [passage for _, passage in result.passages[:TOP]]
        whole = all(
            any(p.file_path == file and said in p.content for p in first)
            for file, said in asking.needed
        )
        rows.append(Row(asking, mode, whole, seconds))
    return rows


def table(rows: Sequence[Row], modes: Sequence[str]) -> str:
    """Shares by hops and by variant."""
    groups: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        for group in ("all", f"{row.asking.hops} hops", row.asking.variant):
            groups[group][row.mode].append(row.whole)
    lines = [
        "| questions | number | " + " | ".join(f"`{mode}`" for mode in modes) + " |",
        "|---|---|" + "---|" * len(modes),
    ]
    for group in sorted(groups, key=lambda name: (name != "all", not name[0].isdigit(), name)):
        shares = [
            f"{100 * sum(result) / len(result):.1f} %"
            for mode in modes
            if (result := groups[group][mode])
        ]
        lines.append(f"| {group} | {len(groups[group][modes[0]])} | " + " | ".join(shares) + " |")
    return "\n".join(lines)


async def measured(made: World, modes: Sequence[str], embedder: Embedder) -> list[Row]:
    """Fill, and ask every question in every mode."""
    began = time.perf_counter()
    stores = await filled(made.documents, embedder)
    partition = Partition("w", 1)
    counts = [await stores.vectors.count(partition, kind) for kind in VECTOR_KINDS]
    print(
        f"{len(made.documents)} documents, {counts[0]} passages, {counts[1]} entities, "
        f"{counts[2]} relations"
    )
    print(f"(filled in {time.perf_counter() - began:.0f} s)\n")
    return [row for mode in modes for row in await ask_all(stores, made.questions, mode)]


def print_results(rows: Sequence[Row], modes: Sequence[str], failures: int) -> None:
    """Print what was found and how long it took."""
    print(table(rows, modes))
    for mode in modes:
        spent = sorted(row.seconds for row in rows if row.mode == mode)
        print(
            f"\n{mode}: median {1000 * spent[len(spent) // 2]:.0f} ms, slowest "
            f"{1000 * spent[-1]:.0f} ms"
        )
    for row in [row for row in rows if not row.whole and row.mode == "walk"][:failures]:
        print(
            f"- {row.asking.hops} {row.asking.variant}: {row.asking.text}\n    {row.asking.needed}"
        )


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "--seeds",
        default="1",
        help="worlds, separated by commas; their questions are counted together",
    )
    arguments.add_argument("--things", type=int, default=300)
    arguments.add_argument("--distractors", type=int, default=300)
    arguments.add_argument("--questions", type=int, default=300)
    arguments.add_argument("--modes", help="separated by commas")
    arguments.add_argument("--embedder", default="minilm", choices=("minilm", "lexical"))
    arguments.add_argument(
        "--cache", type=Path, default=CACHE_FOLDER, help="folder where embeddings are kept"
    )
    arguments.add_argument("--failures", type=int, default=0, help="questions of `walk` to show")
    real = arguments.add_argument_group("sets of real text instead of worlds")
    real.add_argument(
        "--real", nargs="?", type=Path, const=os.environ.get(VARIABLE, ""), metavar="FOLDER"
    )
    real.add_argument("--sets", default=",".join(multihop_sets.SETS))
    real.add_argument(
        "--titles", default="titled,plain", help="of the documents: titled, plain or both"
    )
    real.add_argument(
        "--documents", type=int, default=0, help="that many at least, with passages of other sets"
    )
    return arguments


def measure_worlds(
    given: argparse.Namespace, embedder: CachedEmbedder, modes: Sequence[str]
) -> None:
    """Fill a world per seed, ask, and print."""
    rows = list[Row]()
    for seed in map(int, given.seeds.split(",")):
        made = world(
            seed, things=given.things, distractors=given.distractors, questions=given.questions
        )
        result = asyncio.run(measured(made, modes, embedder))
        whole = [row.whole for row in result if row.mode == modes[0]]
        print(f"seed {seed}: {100 * sum(whole) / len(whole):.1f} % by {modes[0]}\n")
        rows += result
    print_results(rows, modes, given.failures)


def main() -> None:
    """Run it and print the tables."""
    given = parser().parse_args()
    given.cache.mkdir(parents=True, exist_ok=True)
    embedder = CachedEmbedder(
        MiniLmEmbedder() if given.embedder == "minilm" else LexicalEmbedder(384), given.cache
    )
    modes = given.modes.split(",") if given.modes else multihop_sets.MODES if given.real else MODES
    if given.real:
        for name in given.sets.split(","):
            for style in given.titles.split(","):
                asyncio.run(
                    multihop_sets.measure(
                        given.real, name, style == "titled", modes, embedder, given.documents
                    )
                )
    else:
        measure_worlds(given, embedder, modes)


if __name__ == "__main__":
    main()
