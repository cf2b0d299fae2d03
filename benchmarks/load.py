"""What 200 clients at once do to the embedded stack: is anything lost, refused or grown, and how
long does it take?

    YARDSTICK_DATA=FOLDER python -m benchmarks.load [--clients 200] [--seconds 60] [--documents 200]
        [--uploads 0.25] [--model lexical]

Starts a stack without a language model in a scratch folder, adds the first documents of the
yardstick, and lets every client ask (answers are quotations) or upload, one request after the
other; `--uploads` is the share of uploads. Then waits until everything that was accepted has come
to an end, and holds against each other what was answered, what the log has and what the API lists.
`--model ""` is the default embedding model. Prints tables in Markdown; ends with an error when
something was lost, or failed without saying when to try again.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from random import Random
from typing import Any

import httpx

from benchmarks.measuring.processes import load, usage
from benchmarks.yardstick.documents import (
    FORMS,
    Document,
    Question,
    dealt,
    documents,
    passages,
    questions,
)
from contracts.events import DocumentAdded
from runtime.bus.codec import decode
from runtime.bus.nats.connection import connected
from runtime.bus.nats.log import NatsLog
from tests.support.stack import FINAL, Stack, running

MODES = ("mix", "mix", "naive", "local", "global", "hybrid")
PATIENCE = 300.0
"""Seconds a client waits for an answer."""

DRAIN = 3600.0


@dataclass
class Record:
    """What the clients saw, and how much memory (MiB) each process had, second by second."""

    took: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    codes: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    accepted: dict[str, str] = field(default_factory=dict[str, str])
    """Track id by name of the document."""
    unsure: set[str] = field(default_factory=set[str])
    """Documents whose upload was cut off."""
    faults: list[str] = field(default_factory=list[str])
    memory: dict[str, list[float]] = field(default_factory=dict[str, list[float]])
    seconds: float = 0.0
    drained: float = 0.0


@dataclass(frozen=True)
class Work:
    """What the clients take from: documents that were not added yet, and questions about those that
    were.
    """

    seeded: list[Document]
    fresh: Iterator[Document]
    questions: Iterator[Question]
    uploads: float
    """The share of uploads among requests."""


def main() -> None:
    """Run it, print the tables, and say whether all is well."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--clients", type=int, default=200)
    arguments.add_argument("--seconds", type=float, default=60.0)
    arguments.add_argument("--model", default="lexical", help="EMBEDDING_MODEL")
    arguments.add_argument("--documents", type=int, default=200)
    arguments.add_argument("--uploads", type=float, default=0.25)
    given = arguments.parse_args()
    seeded = documents(given.documents)
    every = questions(seeded, sum(len(set(each.titles)) for each in seeded) * len(FORMS))
    work = Work(seeded, islice(dealt(passages()), len(seeded), None), cycle(every), given.uploads)
    with (
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder) / "stack", EMBEDDING_MODEL=given.model) as stack,
    ):
        stack.add({each.name: each.text for each in seeded})
        stack.settled(len(seeded), seconds=PATIENCE)
        before = load()
        record = asyncio.run(loaded(stack, work, given.clients, given.seconds))
        lost = asyncio.run(missing(stack, work, record))
    print(
        f"{len(seeded)} documents before; load before {before}\n\n{tables(record, given.clients)}"
    )
    problems = [*lost, *record.faults]
    print("\n".join(problems) or "Nothing was lost, and nothing failed.", file=sys.stderr)
    sys.exit(1 if problems else 0)


async def loaded(stack: Stack, work: Work, clients: int, seconds: float) -> Record:
    """Everybody at once for so long, then nobody until all is done."""
    record = Record()
    limits = httpx.Limits(max_connections=clients, max_keepalive_connections=clients)
    async with (
        sampled(stack, record),
        httpx.AsyncClient(
            base_url=stack.state.api, limits=limits, timeout=PATIENCE, trust_env=False
        ) as http,
    ):
        began = time.monotonic()
        await asyncio.gather(
            *(visit(http, record, work, number, began + seconds) for number in range(clients))
        )
        record.seconds = time.monotonic() - began
        await drained(http, record, len(work.seeded))
        record.drained = time.monotonic() - began - record.seconds
    return record


async def visit(
    http: httpx.AsyncClient, record: Record, work: Work, client: int, end: float
) -> None:
    """One client: a question or a document, again and again."""
    dice = Random(client)
    while time.monotonic() < end:
        if dice.random() < work.uploads:
            document = next(work.fresh)
            file = {"file": (document.name, document.text.encode())}
            answer = await timed(record, "upload", http.post("/documents/upload", files=file))
            if answer is None:
                record.unsure.add(document.name)
            elif answer.status_code == 200:
                record.accepted[document.name] = answer.json()["track_id"]
        else:
            body = {"query": next(work.questions).text, "mode": dice.choice(MODES)}
            await timed(record, "question", http.post("/query", json=body))


async def timed(record: Record, kind: str, request: Any) -> httpx.Response | None:
    """The answer, written down; None when there was none."""
    began = time.monotonic()
    try:
        answer: httpx.Response = await request
    except httpx.TransportError as error:
        record.codes[kind, type(error).__name__] += 1
        record.faults.append(f"{kind}: {type(error).__name__}")
        return None
    record.codes[kind, str(answer.status_code)] += 1
    record.took.setdefault(kind, []).append(time.monotonic() - began)
    if answer.status_code >= 500 and not (
        answer.status_code == 503 and "retry-after" in answer.headers
    ):
        record.faults.append(f"{kind}: {answer.status_code} {answer.text[:200]}")
    if answer.status_code == 503 and "retry-after" in answer.headers:
        await asyncio.sleep(min(5.0, float(answer.headers["retry-after"])))
    return answer


async def drained(http: httpx.AsyncClient, record: Record, seeded: int) -> None:
    """Wait until no document is being worked on and every accepted one is known."""
    end = time.monotonic() + DRAIN
    wanted = seeded + len(record.accepted)
    while time.monotonic() < end:
        result = (await http.get("/documents/status_counts")).json()["status_counts"]
        if result["all"] >= wanted and sum(result[status] for status in FINAL) == result["all"]:
            return
        await asyncio.sleep(1)
    record.faults.append(f"not done within {DRAIN:.0f} s")


async def missing(stack: Stack, work: Work, record: Record) -> list[str]:
    """What is wrong with the documents that were accepted: in the log once, in the list once, and
    processed.
    """
    logged: Counter[str] = Counter()
    async with connected(stack.settings.nats_url, name="benchmark") as client:
        async for page in NatsLog(client.jetstream()).read(0, ["kb.v1.default.*.DocumentAdded"]):
            for message in page:
                event = decode(message.data, message.subject).data
                assert isinstance(event, DocumentAdded)
                logged[event.file_path] += 1
    listed = await states(stack)
    problems: list[str] = []
    for name, track in record.accepted.items():
        result = listed.get(name, [])
        if logged[name] != 1 or [(status, of) for status, of in result] != [("processed", track)]:
            problems.append(f"{name}: {logged[name]} times in the log, in the list as {result}")
    strangers = (
        set(listed) - set(record.accepted) - record.unsure - {each.name for each in work.seeded}
    )
    return [*problems, *(f"{name} is there and was never accepted" for name in strangers)]


async def states(stack: Stack) -> dict[str, list[tuple[str, str]]]:
    """Status and track id of every document that the API lists, by name."""
    result: dict[str, list[tuple[str, str]]] = {}
    async with httpx.AsyncClient(base_url=stack.state.api, timeout=60, trust_env=False) as http:
        page, more = 1, True
        while more:
            body = {"page": page, "page_size": 200, "sort_field": "id"}
            answer = (await http.post("/documents/paginated", json=body)).json()
            for document in answer["documents"]:
                result.setdefault(document["file_path"], []).append(
                    (document["status"], document["track_id"])
                )
            page, more = page + 1, answer["pagination"]["has_next"]
    return result


@asynccontextmanager
async def sampled(stack: Stack, record: Record) -> AsyncGenerator[None]:
    """Look at the memory of every process each second."""

    async def look() -> None:
        while True:
            for name, child in stack.state.children.items():
                record.memory.setdefault(name, []).append(usage(child.identity.pid).resident)
            await asyncio.sleep(1)

    looking = asyncio.create_task(look())
    await asyncio.sleep(1)
    try:
        yield
    finally:
        looking.cancel()


def tables(record: Record, clients: int) -> str:
    """Requests and their times, answers, and memory."""
    lines = [
        f"{clients} clients for {record.seconds:.0f} s; {len(record.accepted)} documents "
        "accepted, all of them done "
        f"{record.drained:.0f} s later",
        "",
        "| request | count | per s | p50 s | p95 s | p99 s | answers |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind, took in sorted(record.took.items()):
        took.sort()
        p50, p95, p99 = (
            took[min(len(took) - 1, int(len(took) * part))] for part in (0.5, 0.95, 0.99)
        )
        codes = ", ".join(
            f"{count} × {code}" for (of, code), count in sorted(record.codes.items()) if of == kind
        )
        rate = len(took) / record.seconds
        lines.append(
            f"| {kind} | {len(took)} | {rate:.1f} | {p50:.2f} | {p95:.2f} | {p99:.2f} | {codes} |"
        )
    lines += ["", "| process | MiB at the start | peak | end |", "|---|---|---|---|"]
    for name, sizes in sorted(record.memory.items()):
        lines.append(f"| {name} | {sizes[0]:.0f} | {max(sizes):.0f} | {sizes[-1]:.0f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
