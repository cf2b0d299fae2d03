"""How fast questions find their context: every mode, alone and eight at once, beside LightRAG over the same documents.

    python -m benchmarks.queries [--count 1000] [--asked 200] [--peer-python PYTHON]

Indexes texts of `tests/support/corpus.py` with the mock model of the tests, then asks for retrieval only (ours: `POST
/query/data` over HTTP; LightRAG: `aquery_data` in its own process, without HTTP) with keywords given, so that no side
calls a language model; both embed through the mock model's route. PYTHON is that of a virtual environment with
`lightrag-hku==1.5.7`; without it our side runs alone. Prints tables in Markdown.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

import httpx

from benchmarks.peer import lightrag, lightstream_stack, model
from tests.support import corpus
from tests.support.stack import Stack

MODES = ("naive", "local", "global", "hybrid", "mix", "walk")
AT_ONCE = (1, 8)
WARMING = 16

Ask = Callable[[int], Awaitable[None]]


def main() -> None:
    """Run the sides and print their tables."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--count", type=int, default=1000, help="documents")
    arguments.add_argument("--asked", type=int, default=200, help="questions per row")
    arguments.add_argument("--peer-python", type=Path)
    asked = arguments.parse_args()
    texts = corpus.documents(asked.count)
    found: dict[str, dict[str, Any]] = {}
    if asked.peer_python:
        with model([]) as (url, _), lightrag(asked.peer_python, url, "shared") as (step, _):
            step(do="fill", texts=texts)
            peer = [mode for mode in MODES if mode != "walk"]
            found["LightRAG"] = {
                f"{mode} {n}": step(do="ask", questions=questions(asked.asked), mode=mode, at_once=n)
                for mode in peer
                for n in AT_ONCE
            }
    with model([]) as (url, _), lightstream_stack(url) as stack:
        stack.add(texts)
        stack.settled(asked.count)
        found["Lightstream"] = asyncio.run(measured(stack, asked.asked))
    print(f"{asked.count} documents, {asked.asked} questions a row\n")
    print(table(found))


def questions(count: int) -> list[dict[str, Any]]:
    """Questions about the harbour's world with their keywords, the same for the same count."""
    dice = Random(11)
    made: list[dict[str, Any]] = []
    for _ in range(count):
        person, other = dice.sample(corpus.PEOPLE, 2)
        town, ship, good = dice.choice(corpus.TOWNS), dice.choice(corpus.SHIPS), dice.choice(corpus.GOODS)
        text, low, high = dice.choice(
            [
                (f"Who met {person} at the Customs House in {town}?", [person, "Customs House", town], ["meetings"]),
                (f"Which captain brought the {ship} to {town}?", [ship, town], ["arrivals of ships"]),
                (f"Did {person} sell {good} to {other}?", [person, other, good], ["trade"]),
                (f"Who paid the dues of the {ship} in {good}?", [ship, good], ["payment of dues"]),
            ]
        )
        made.append({"query": text, "ll_keywords": low, "hl_keywords": high})
    return made


async def measured(stack: Stack, count: int) -> dict[str, Any]:
    """Milliseconds and questions a second of each mode."""
    asked = questions(count)
    found: dict[str, Any] = {}
    for mode in MODES:
        for at_once in AT_ONCE:
            async with httpx.AsyncClient(base_url=stack.state.api, timeout=60, trust_env=False) as client:

                async def ask(number: int, mode: str = mode, client: httpx.AsyncClient = client) -> None:
                    answer = await client.post("/query/data", json={**asked[number % count], "mode": mode})
                    answer.raise_for_status()

                found[f"{mode} {at_once}"] = await timed(ask, count, at_once)
                print(mode, at_once, found[f"{mode} {at_once}"], file=sys.stderr)
    return found


async def timed(ask: Ask, count: int, at_once: int) -> dict[str, float]:
    """Ask `count` questions, so many at once."""
    for number in range(WARMING):
        await ask(number)
    took: list[float] = []
    numbers = iter(range(count))

    async def one_after_the_other() -> None:
        for number in numbers:
            began = time.perf_counter()
            await ask(number)
            took.append((time.perf_counter() - began) * 1000)

    began = time.perf_counter()
    await asyncio.gather(*(one_after_the_other() for _ in range(at_once)))
    seconds = time.perf_counter() - began
    took.sort()
    return {"p50": took[count // 2], "p95": took[int(count * 0.95)], "rate": count / seconds}


def table(found: dict[str, dict[str, Any]]) -> str:
    """A row for each mode and concurrency: p50 and p95 in ms and questions a second of each side, and their ratio."""
    sides = list(found)
    head = ["mode", "at once", *(f"{side}: {figure}" for side in sides for figure in ("p50 ms", "p95 ms", "per s"))]
    ours = found["Lightstream"]
    lines = ["| " + " | ".join([*head, *(["times as many per s"] if len(sides) > 1 else [])]) + " |"]
    lines.append("|---" * (lines[0].count("|") - 1) + "|")
    for row, own in ours.items():
        cells = row.split()
        for side in sides:
            figures = found[side].get(row)
            cells += [f"{figures[name]:.1f}" for name in ("p50", "p95", "rate")] if figures else ["–"] * 3
        if len(sides) > 1:
            peer = found[sides[0]].get(row)
            cells.append(f"{own['rate'] / peer['rate']:.1f}" if peer else "–")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
