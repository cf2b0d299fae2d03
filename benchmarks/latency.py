"""How much waiting is added to that for the model, and how long one small document takes on an idle
stack.

    YARDSTICK_DATA=FOLDER python -m benchmarks.latency [--documents 64] [--seconds 2]
        [--calls-at-once 16] [--alone 20] [--stores embedded] [--peer-python PYTHON] [--set
        NAME=VALUE]

First: N documents with a model that takes so many seconds a call, LLM_MAX_ASYNC=16 and default
settings otherwise. The least time they can take is calls × seconds ÷ calls at once; the table says
how many times that it was until all were processed. Then, with a model that answers at once: one
passage is published and awaited until its status is `processed`, again and again; the table has the
medians in milliseconds, and when the log had each event of it.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from datetime import datetime
from statistics import median
from typing import Any

import httpx

from benchmarks.measuring.model import Model, mock_model
from benchmarks.measuring.opening import PEERS, Opened, add_sides, given_sides, opened
from benchmarks.measuring.processes import load
from benchmarks.measuring.sides import SUMMARIES, Side, consumed
from benchmarks.measuring.tables import number, table
from benchmarks.yardstick.documents import Document, Passage, documents, passages
from contracts.ids import document_id
from runtime.bus.nats.connection import connected
from runtime.bus.nats.log import NatsLog

LOOK = 0.003
"""Seconds between two looks at the status of a document."""
PATIENCE = 60.0
"""Seconds for one document."""
REST = 1.0
"""Seconds without work before each."""


def main() -> None:
    """Run the sides and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a chat call")
    parser.add_argument("--calls-at-once", type=int, default=16)
    parser.add_argument(
        "--alone", type=int, default=20, help="documents that are published one by one"
    )
    add_sides(parser)
    given = parser.parse_args()
    texts, bulk, alone = documents(given.documents), list[list[str]](), list[list[str]]()
    for name in given_sides(given):
        most = {"MAX_ASYNC_LLM" if name in PEERS else "LLM_MAX_ASYNC": str(given.calls_at_once)}
        settings = most if name in PEERS else {**most, **dict(given.set)}
        with (
            mock_model() as model,
            opened(name, model, peer_python=given.peer_python, **settings) as side,
        ):
            if texts:
                bulk.append([name, *waited(side, texts, model, given.seconds, given.calls_at_once)])
            if isinstance(side, Side) and given.alone:
                alone += [
                    [name, *row]
                    for row in asyncio.run(one_by_one(side, passages()[-given.alone :]))
                ]
    if bulk:
        head = [
            "side",
            "documents",
            "chat calls",
            "at once at most",
            "seconds",
            "least",
            "times the least",
            "load before",
        ]
        print(f"{given.seconds:.1f} s a call, {given.calls_at_once} at once\n\n{table(head, bulk)}")
    if alone:
        print(
            f"\n{table(['side', 'after publishing one passage', 'median, ms', 'longest, ms', 'load'], alone)}"  # noqa: E501
        )


def waited(
    side: Opened, texts: Sequence[Document], model: Model, seconds: float, at_once: int
) -> list[str]:
    """Calls, seconds until all are processed, and the least they could take."""
    model.configure(chat_latency=seconds * 1000)
    model.reset()
    before = load()
    processed, _ = side.index(texts)
    stats = model.stats()
    model.configure(chat_latency=0)
    calls = sum(count for kind, count in stats["kinds"].items() if kind in ("extract", "glean"))
    least = calls * seconds / at_once
    counts = [str(len(texts)), str(calls), str(stats["most_chat_calls"])]
    return [*counts, number(processed), number(least), number(processed / least, 2), before]


async def one_by_one(side: Side, of: Sequence[Passage]) -> list[list[str]]:
    """Publish passages one by one, and give the time until each of its events and until it is
    processed.
    """
    times: dict[str, list[float]] = {}
    before = load()
    async with httpx.AsyncClient(base_url=side.api, timeout=PATIENCE, trust_env=False) as http:
        for number_, passage in enumerate(of):
            await consumed(side.bus, but=SUMMARIES)
            await asyncio.sleep(REST)
            name = f"alone-{number_}.txt"
            body = {"text": f"{passage.title}\n{passage.text}", "file_source": name}
            began = time.monotonic()
            added = (await http.post("/documents/text", json=body)).raise_for_status().json()
            published = time.monotonic() - began
            await until_processed(http, added["track_id"])
            processed = time.monotonic() - began
            events = await moments(side.bus, document_id(name))
            for event, after in {"answered": published, **events, "processed": processed}.items():
                times.setdefault(event, []).append(after * 1000)
    return [
        [event, number(median(took)), number(max(took)), before] for event, took in times.items()
    ]


async def until_processed(http: httpx.AsyncClient, track: str) -> None:
    """Return when the document is processed. Raises AssertionError when it fails or takes too
    long.
    """
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        result: list[dict[str, Any]] = (await http.get(f"/documents/track_status/{track}")).json()[
            "documents"
        ]
        if result and result[0]["status"] == "processed":
            return
        assert not result or result[0]["status"] in ("pending", "processing"), result
        await asyncio.sleep(LOOK)
    raise AssertionError(f"not processed within {PATIENCE:.0f} s")


async def moments(bus: str, document: str) -> dict[str, float]:
    """Seconds between DocumentAdded and the last event of each other type of this document, by the
    log's clock.
    """
    result: dict[str, datetime] = {}
    async with connected(bus, name="benchmark") as client:
        async for page in NatsLog(client.jetstream()).read(0, [f"kb.v1.default.{document}.*"]):
            for message in page:
                result[message.subject.rpartition(".")[2]] = message.published_at
    began = result.pop("DocumentAdded")
    return {
        f"{event} in the log": (at - began).total_seconds()
        for event, at in sorted(result.items(), key=lambda i: i[1])
    }


if __name__ == "__main__":
    main()
