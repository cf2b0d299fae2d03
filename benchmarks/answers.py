"""How often does an answer without a language model quote the sentence that answers the question?

    python -m benchmarks.answers [--show]

Asks 60 questions about Python, in our own words, of its language reference and the descriptions of its modules (as they
stand on the machine), over stores in memory with the embedder of the offline stack, in mode naive. Each question names
words of the sentence that answers it. Prints Markdown; `--show` also prints what was not found.
"""

import argparse
import asyncio
import tempfile
import time
from collections import Counter
from pathlib import Path

from contracts.values import Chunking
from runtime.models.minilm import MiniLmEmbedder
from runtime.models.open import open_tokenizer
from runtime.models.scripted import CountingEmbedder
from services.chunker.domain import document
from services.query.answering.ask import ask
from services.query.offline.models import NO_MODEL
from services.query.partitions import Partitions
from services.query.question import Question
from tests.support import real_texts
from tests.support.querying import LIVE, World

PAIRS = [line.split(" | ") for line in Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines()]
"""Question, and words that the sentence with its answer has."""


def texts() -> dict[str, str]:
    """Each text by its name."""
    with tempfile.TemporaryDirectory() as folder:
        real_texts.write(Path(folder))
        return {path.stem: path.read_text("utf-8") for path in sorted(Path(folder).rglob("*.*"))}


async def index(world: World, read: dict[str, str]) -> None:
    """Take in the texts, cut as the chunker cuts them."""
    tokens = open_tokenizer()
    for number, (name, text) in enumerate(read.items()):
        chunks = document.chunks("d", lambda text=text: [text], tokens, Chunking(size=1200, overlap=100))
        await world.index(name, *(chunk.content for chunk in chunks), version=1 + 10_000 * number)


def plain(text: str) -> str:
    """The text with single blanks."""
    return " ".join(text.split())


async def measured(show: bool) -> str:
    """Ask every question; the table."""
    world = World(embedder=CountingEmbedder(MiniLmEmbedder()))
    read = texts()
    assert [words for _, words in PAIRS if not any(words in plain(text) for text in read.values())] == []
    await index(world, read)
    counts: Counter[str] = Counter()
    deps, seconds, lengths = world.deps(min_score=0.2), 0.0, 0
    for query, words in PAIRS:
        began = time.perf_counter()
        answer = await ask(Question(query, "naive"), Partitions.of("w", LIVE), deps)
        seconds += time.perf_counter() - began
        text = plain(answer.text.removesuffix(NO_MODEL))
        lengths += len(text)
        contents = [plain(passage.content) for _, passage in answer.found.passages]
        counts["passage"] += any(words in content for content in contents)
        counts["answer"] += words in text
        counts["beginning"] += words in text[: len(text) // 3]
        if show and words not in text:
            print(f"- {query}\n  wanted: {words}\n  got: {text}\n")
    rows = [
        ("a passage that was found holds the sentence", counts["passage"]),
        ("the answer quotes it", counts["answer"]),
        ("the first third of the answer quotes it", counts["beginning"]),
    ]
    table = [f"| {what} | {count} of {len(PAIRS)} | {count / len(PAIRS):.0%} |" for what, count in rows]
    each = f"{1000 * seconds / len(PAIRS):.0f} ms for a question, {lengths // len(PAIRS)} characters for an answer."
    return "\n".join(["| what | questions | part |", "|---|---|---|", *table, "", each])


def main() -> None:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--show", action="store_true")
    print(asyncio.run(measured(parser.parse_args().show)))


if __name__ == "__main__":
    main()
