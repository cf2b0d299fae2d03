"""How many passages a second does the offline extractor read, and what does it find in them?

    python -m benchmarks.extractor [--seconds 20]

The texts are real: Python's language reference and what its modules say of themselves, one after
another, cut into passages of 1,200 tokens as the chunker cuts them. One process, one thread. Prints
a table in Markdown.
"""

import argparse
import tempfile
import time
from collections import Counter
from itertools import cycle
from pathlib import Path

from offline.extraction.extract import MODEL, PROMPT_VERSION, extract
from runtime.models.open import open_tokenizer
from tests.support import real_texts

SIZE, OVERLAP = 1200, 100
"""Tokens."""


def main() -> None:
    """Run it and print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=float, default=20.0)
    seconds = arguments.parse_args().seconds
    passages = cut()
    result: Counter[str] = Counter()
    for passage in passages:
        extraction = extract(passage)
        result["entities"] += len(extraction.entities)
        result["relations"] += len(extraction.relations)
        result["telling"] += sum(
            tie.keywords != ("mentioned together",) for tie in extraction.relations
        )
    began, count, characters = time.process_time(), 0, 0
    for passage in cycle(passages):
        extract(passage)
        count, characters = count + 1, characters + len(passage)
        if (spent := time.process_time() - began) > seconds:
            break
    print(f"{MODEL}, {PROMPT_VERSION}, {len(passages)} passages of at most 1,200 tokens\n")
    print(
        "| passages/s on one core | million characters/s | entities a passage | relations a "
        "passage | with a phrase |"
    )
    print("|---|---|---|---|---|")
    share = 100 * result["telling"] / result["relations"]
    print(
        f"| {count / spent:.0f} | {characters / spent / 1e6:.2f} | "
        f"{result['entities'] / len(passages):.1f} "
        f"| {result['relations'] / len(passages):.1f} | {share:.0f} % |"
    )


def cut() -> list[str]:
    """The texts as passages."""
    folder = Path(tempfile.mkdtemp())
    real_texts.write(folder)
    text = "\n\n".join(path.read_text("utf-8") for path in sorted(folder.rglob("*.*")))
    tokenizer = open_tokenizer()
    tokens = tokenizer.encode(text)
    return [
        tokenizer.decode(tokens[start : start + SIZE])
        for start in range(0, len(tokens), SIZE - OVERLAP)
    ]


if __name__ == "__main__":
    main()
