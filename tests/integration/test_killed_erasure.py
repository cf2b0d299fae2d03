"""An erasure that is killed at any of its steps ends, by the same command, as one that nobody
killed.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError
from pydantic import SecretStr

from contracts import subjects
from contracts.graph import PROJECTIONS, Partition
from operations import open_stack, projections
from operations.erasure import erase as erasing
from operations.erasure.erase import Erasure, erase
from operations.erasure.receipts import Receipt
from operations.target import Target
from publishing.documents import add_document
from publishing.draft import DocumentDraft, Submission
from runtime.bus import topology
from runtime.bus.memory import MemoryLog
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.parked import NatsParkedEvents
from runtime.bus.parking.port import ParkedEvent
from runtime.errors import InvalidInput
from runtime.settings import Settings
from runtime.stores.documents.port import INDEXES, Table
from runtime.stores.documents.sqlite.store import SqliteRows
from runtime.stores.graph.memory import MemoryGraph
from runtime.stores.vectors.memory import MemoryVectors, Tables
from tests.support.nats_accounts import nats_account
from tests.support.nats_server import BusServer, connected
from tests.support.shared_servers import SharedServers
from tests.support.shares import share
from tests.unit.operations.test_bulk_load import recorded

LONG = "Zephyrine Quillfeather sold the Kestrel. " * 10_000
ERASED = ("a", "long")
WRITES = (
    (JetStreamContext, ("publish", "delete_msg")),
    (SqliteRows, ("put", "put_newer", "update", "append", "delete", "delete_older", "drop")),
    (MemoryGraph, ("put", "drop")),
    (MemoryVectors, ("prepare", "put", "delete", "drop")),
)
"""Every call by which an erasure changes something."""


class Killed(BaseException):
    """No handler of errors sees it, as none sees a kill."""


@dataclass
class Killer:
    """Ends the process at the write number `at`: before it is made, or behind it."""

    at: int = 0
    behind: bool = False
    count: int = 0

    def begin(self, at: int, *, behind: bool) -> None:
        self.at, self.behind, self.count = at, behind, 0

    def wrapped(self, write: Callable[..., Any]) -> Callable[..., Any]:
        async def counted(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            dies = self.count == self.at
            if dies and not self.behind:
                raise Killed
            result = await write(*args, **kwargs)
            if dies:
                raise Killed
            return result

        return counted


@dataclass
class Stack:
    """A stack of a bus of its own, SQLite, and a graph and vectors in memory, without services."""

    target: Target
    jetstream: JetStreamContext
    graph: MemoryGraph = field(default_factory=MemoryGraph)
    tables: Tables = field(default_factory=dict[Any, Any])

    async def erase(self) -> list[Receipt]:
        return await erase(self.target, Erasure("w", ERASED, "asked for"), lambda _: None)

    async def content(self) -> dict[str, Any]:
        """What is left everywhere, but for tombstones and the numbers of generations."""
        result: dict[str, Any] = {
            name: await self._messages(name) for name in ("KB_BLOBS", "KB_DEAD", "KB_PARKED")
        }
        result["KB_EVENTS"] = [
            entry
            for entry in await self._messages("KB_EVENTS")
            if not entry[1].endswith(".DocumentErased")
        ]
        result["digests"] = [
            await projections.digests(self.target.settings, name) for name in ("w", "other")
        ]
        rows = SqliteRows(
            Path(self.target.settings.documents_url.get_secret_value().removeprefix("sqlite://"))
        )
        for name in ("extractions", "condensed", "keywords", "answers", "embeddings", "archive"):
            result[name] = {
                partition.workspace: await rows.scan(Table(name, partition))
                for partition in await rows.partitions(name)
            }
        tables = {
            name: await rows.partitions(name)
            for name in INDEXES
            if name not in ("schema", "checkpoints")
        }
        result["generations"] = {
            name: len({partition.generation for partition in partitions})
            for name, partitions in tables.items()
        }
        await rows.close()
        return result

    async def _messages(self, stream: str) -> list[tuple[int, str]]:
        result: list[tuple[int, str]] = []
        while True:
            try:
                message = await self.jetstream.get_msg(
                    stream, seq=result[-1][0] + 1 if result else 1, subject=">", next=True
                )
            except NotFoundError:
                return result
            result.append((message.seq or 0, message.subject or ""))


@asynccontextmanager
async def opened(
    server: BusServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Stack]:
    """A stack with the recorded events and, of the documents that are to be erased, something in
    every other place.
    """
    async with connected(server) as client:
        jetstream = client.jetstream(timeout=5)
        await topology.apply(jetstream)
        settings = Settings(
            nats_url=server.url,
            documents_url=SecretStr(f"sqlite://{folder / 'documents.db'}"),
            embedding_model="lexical",
        )
        stack = Stack(Target("the stack", settings, "", environ={}), jetstream)

        async def handled(*_: object) -> bool:
            return True

        monkeypatch.setattr(erasing, "are_handled", handled)
        monkeypatch.setattr(open_stack, "open_graph", lambda _: stack.graph)
        for module in ("operations.open_stack", "runtime.projections.embedding"):
            monkeypatch.setattr(
                f"{module}.open_vectors",
                lambda _, model, dimension: MemoryVectors(model, dimension, stack.tables),
            )
        await _fill(stack)
        yield stack


async def _fill(stack: Stack) -> None:
    log = NatsLog(stack.jetstream)
    for message in recorded(MemoryLog()).messages:
        await stack.jetstream.publish(message.subject, message.data, headers=dict(message.headers))
    await add_document(
        log,
        NatsBlobs(stack.jetstream),
        DocumentDraft.of(Submission(text=LONG, id="long")),
        workspace="w",
        source="tests",
    )
    [message] = [
        event async for page in log.read(0, [subjects.of_document("w", "long")]) for event in page
    ]
    await log.dead_letter(message, "chunker", "for this test")
    event = ParkedEvent(
        durable="chunker",
        sequence=message.sequence,
        subject=message.subject,
        reason="newer-version",
        event_type="DocumentAdded",
        workspace="w",
        parked_at=1.0,
        not_before=1.0,
    )
    assert await NatsParkedEvents(stack.jetstream).put(event)
    await projections.rebuild(
        stack.target, projections.RebuildRequest(PROJECTIONS, "lexical"), lambda _: None, "w"
    )
    rows = SqliteRows(
        Path(stack.target.settings.documents_url.get_secret_value().removeprefix("sqlite://"))
    )
    for name in ("condensed", "keywords", "answers"):
        await rows.put(Table(name, Partition("w", 0)), {"a": {"text": LONG}})
    archive_rows = {"000000000001": {"document": subjects.token("a"), "line": b"x"}}
    await rows.put(Table("archive", Partition("w", 0)), archive_rows)
    await rows.put(Table("embeddings", Partition("w", 0)), {"of-a-text-of-a": {"f32": b"1234"}})
    await rows.close()


class Whole(NamedTuple):
    """An erasure that nobody killed: its receipts, the number of its writes, what was left."""

    receipts: list[Receipt]
    writes: int
    content: dict[str, Any]


@asynccontextmanager
async def filled(
    shared_servers: SharedServers, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Stack]:
    """A stack on a bus of its own."""
    await asyncio.to_thread(folder.mkdir)
    async with (
        nats_account(shared_servers) as server,
        opened(server, folder, monkeypatch) as stack,
    ):
        yield stack


async def erased(stack: Stack, killer: Killer) -> Whole:
    """Erase without a kill."""
    killer.begin(0, behind=False)
    receipts = await stack.erase()
    return Whole(receipts, killer.count, await stack.content())


def events_of(receipts: Sequence[Receipt]) -> list[set[int]]:
    return [set(receipt.events) for receipt in receipts]


@pytest.fixture
def killer(monkeypatch: pytest.MonkeyPatch) -> Killer:
    killer = Killer()
    for owner, names in WRITES:
        for name in names:
            monkeypatch.setattr(owner, name, killer.wrapped(getattr(owner, name)))
    return killer


@pytest.mark.parametrize("slowness", share((3, 10), daily=1))
async def test_an_erasure_that_is_killed_again_and_again_ends_as_one_that_nobody_killed(
    shared_servers: SharedServers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    killer: Killer,
    slowness: int,
) -> None:
    """Each start comes further than the one before, by the more writes the less the slowness; every
    other one dies with its last write done.
    """
    async with filled(shared_servers, tmp_path / "whole", monkeypatch) as stack:
        whole = await erased(stack, killer)
    for name in ("KB_BLOBS", "KB_DEAD", "KB_PARKED"):
        assert whole.content[name] == []
    assert not [
        subject
        for _, subject in whole.content["KB_EVENTS"]
        if ".w.a." in subject or ".w.long." in subject
    ]
    assert (whole.content["answers"], whole.content["archive"]) == ({}, {})

    async with filled(shared_servers, tmp_path / "killed", monkeypatch) as stack:
        at = 0
        deaths = 0
        outcome = None
        while outcome is None:
            at += 1 + at // slowness
            killer.begin(at, behind=bool(deaths % 2))
            try:
                outcome = await stack.erase()
            except Killed:
                deaths += 1
                killer.begin(0, behind=False)
            except InvalidInput as error:  # the one before died behind its very last write
                assert "is erased already" in str(error)
                outcome = whole.receipts
        assert deaths > 2 * slowness, f"of {whole.writes} writes"
        assert await stack.content() == whole.content
    assert events_of(outcome) == events_of(whole.receipts)


async def test_an_erasure_that_is_killed_between_two_receipts_gives_both_when_it_is_begun_again(
    shared_servers: SharedServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killer: Killer
) -> None:
    async with filled(shared_servers, tmp_path / "whole", monkeypatch) as stack:
        whole = await erased(stack, killer)
    async with filled(shared_servers, tmp_path / "killed", monkeypatch) as stack:
        killer.begin(whole.writes, behind=False)  # the last write is the second receipt
        with pytest.raises(Killed):
            await stack.erase()
        killer.begin(0, behind=False)
        assert events_of(await stack.erase()) == events_of(whole.receipts)
        assert await stack.content() == whole.content
