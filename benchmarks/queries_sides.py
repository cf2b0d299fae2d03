"""The sides of `benchmarks.queries`, one after the other, each with documents of its own and a new model process.

What a row costs is the CPU of processes, descendants included, read from /proc before and after it.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.peer import lightrag, lightstream_stack, model, used_by
from benchmarks.questions import ask, bodies, connections
from lightstream.client import Lightstream
from services.query.settings import QuerySettings
from tests.support.language_model import LanguageModel
from tests.support.production import Deployment, deployment
from tests.support.stack import Stack, add, ended, pending, until

Figures = dict[str, float]
Row = tuple[str, int]
"""Mode, and how many questions at once."""

OURSELVES = "load generator"
GROUPS = ("query", "vectors", "rest of the stack", "mock model", OURSELVES)
WARMING = 16
"""Questions asked before each row, for every process that answers."""

PATIENCE = 3600.0
"""Seconds for the documents to be indexed."""


@dataclass(frozen=True)
class Task:
    """What each side is to do."""

    texts: Mapping[str, str]
    questions: Sequence[dict[str, Any]]
    modes: Sequence[str]
    at_once: Sequence[int]
    workers: int

    def variables(self, url: str) -> dict[str, str]:
        """What both stacks are told, given the address of the model."""
        threshold = QuerySettings.model_fields["cosine_threshold"].default
        model = LanguageModel(url=url).environment()
        return {**model, "COSINE_THRESHOLD": str(threshold), "WORKERS": str(self.workers)}


@dataclass(frozen=True)
class Side:
    """A running stack of ours."""

    api: str
    bus: str
    logs: Callable[[], str]
    cpu: Callable[[], Figures]
    """CPU seconds of its processes and of the model until now, by group."""


def peer(python: Path, task: Task) -> dict[Row, Figures]:
    """LightRAG's rows; it has no walk."""
    with model([]) as (url, _), lightrag(python, url, "shared") as (step, _):
        step(do="fill", texts=dict(task.texts))
        found: dict[Row, Figures] = {}
        for mode, n in product([mode for mode in task.modes if mode != "walk"], task.at_once):
            found[mode, n] = step(do="ask", questions=list(task.questions), mode=mode, at_once=n)
            print(mode, n, found[mode, n], file=sys.stderr)
        return found


def embedded(task: Task) -> dict[Row, Figures]:
    """The rows of an embedded stack."""
    with model([]) as (url, seen), lightstream_stack(url, **task.variables(url)) as stack:
        return rows(side_of_stack(stack, seen), task)


def side_of_stack(stack: Stack, seen: Callable[[], Figures]) -> Side:
    """Its supervisor belongs to the rest."""
    supervisor = stack.state.supervisor
    assert supervisor

    def cpu() -> Figures:
        query, vectors = (used_by(stack.pid(name))["cpu"] for name in ("query", "milvus-lite"))
        rest = used_by(supervisor.pid)["cpu"] - query - vectors
        return {"query": query, "vectors": vectors, "rest of the stack": rest, "mock model": seen()["cpu"]}

    return Side(stack.state.api, stack.settings.nats_url, stack.logs, cpu)


def production(task: Task) -> dict[Row, Figures]:
    """The rows of the services as processes on the servers of production."""

    async def run(url: str, seen: Callable[[], Figures], folder: Path) -> dict[Row, Figures]:
        async with deployment(folder, **task.variables(url)) as found:
            return await asyncio.to_thread(rows, side_of_deployment(found, seen), task)

    with model([]) as (url, seen), tempfile.TemporaryDirectory() as folder:
        return asyncio.run(run(url, seen, Path(folder)))


def side_of_deployment(found: Deployment, seen: Callable[[], Figures]) -> Side:
    """Its servers but Milvus, and its services but query, are the rest."""

    def cpu() -> Figures:
        processes = {**found.servers, **found.services}
        spent = {name: used_by(process.pid)["cpu"] for name, process in processes.items()}
        query, vectors, rest = spent.pop("query"), spent.pop("milvus"), sum(spent.values())
        return {"query": query, "vectors": vectors, "rest of the stack": rest, "mock model": seen()["cpu"]}

    return Side(found.env["LIGHTSTREAM_API_URL"], found.env["NATS_URL"], found.logs, cpu)


def rows(side: Side, task: Task) -> dict[Row, Figures]:
    """Fill it, then time each mode and each concurrency."""
    fill(side, task.texts)
    found: dict[Row, Figures] = {}
    for mode in task.modes:
        for at_once in task.at_once:
            found[mode, at_once] = row(side, bodies(task.questions, mode), at_once, WARMING * task.workers)
            print(mode, at_once, found[mode, at_once], file=sys.stderr)
    return found


def fill(side: Side, texts: Mapping[str, str]) -> None:
    """Add documents through the API, and wait until all are processed and nobody has anything left to do."""
    with Lightstream(side.api, timeout=PATIENCE) as service:
        add(service, texts)
        until(lambda: ended(service.status_counts(), len(texts)), side.logs, PATIENCE)
        counts = service.status_counts()
        assert counts.get("processed") == len(texts), f"{counts}\n{side.logs()}"
    # Summaries are made a while after the documents are processed, and would be paid for by the first rows.
    until(lambda: not any(map(any, asyncio.run(pending(side.bus)).values())), side.logs, PATIENCE)


def row(side: Side, asked: Sequence[bytes], at_once: int, warming: int) -> Figures:
    """Latency and rate, and CPU milliseconds per question by group."""
    with connections(side.api, at_once) as connected:
        ask(connected, [asked[number % len(asked)] for number in range(warming)])
        before, own = side.cpu(), time.process_time()
        figures = ask(connected, asked)
        spent = {OURSELVES: time.process_time() - own}
        spent |= {group: seconds - before[group] for group, seconds in side.cpu().items()}
    return {**figures, **{group: spent[group] * 1000 / len(asked) for group in GROUPS}}
