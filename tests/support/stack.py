"""A whole stack as a user runs it: started, asked and stopped through the command line, in a folder
of its own.
"""

import asyncio
import json
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import httpx

from contracts.topology import CONSUMERS
from embedded.data_folder import DataFolder, StackState
from embedded.orphans import ProcessIdentity
from lightstream_rag.client import Lightstream
from lightstream_rag.documents import Chunking
from lightstream_rag.errors import Unavailable
from operations.target import target_of_stack
from runtime.bus.nats.connection import connected
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import log_streams
from runtime.bus.nats.parked import NatsParkedEvents
from runtime.settings import Settings
from tests.support import commands
from tests.support.waiting import PATIENCE, pauses

T = TypeVar("T")
FINAL = ("processed", "failed", "partial")

MODEL_VARIABLES = ("OPENAI_", "LLM_", "EMBEDDING_")

PARTITIONS = int(os.environ.get("TEST_PARTITIONS", "1"))
"""Partitions of the log of every new stack; `make partitions` runs tests with several."""


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without any model, and with `extra`."""
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(MODEL_VARIABLES)
    }
    return {**clean, "EMBEDDING_MODEL": "lexical", **extra}


@dataclass
class Stack:
    """A stack in `folder`, which need not be running."""

    folder: Path
    env: dict[str, str] = field(default_factory=dict[str, str])

    def run(self, *arguments: str, stdin: str | None = None) -> commands.Done:
        """A command of the command line."""
        return commands.give(
            [*arguments, "--data", str(self.folder)],
            environment(self.env),
            self.folder.parent,
            stdin,
        )

    def json(self, *arguments: str) -> Any:
        """What a command answers with --json. It must succeed."""
        done = self.run(*arguments, "--json")
        assert done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
        return json.loads(done.stdout)

    def up(self, *options: str) -> None:
        done = self.run("up", "--detach", *options)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{self.logs()}"

    def down(self) -> None:
        done = self.run("down")
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"

    @property
    def state(self) -> StackState:
        return DataFolder(self.folder).read()

    @property
    def settings(self) -> Settings:
        """Where its parts are, for a test that talks to them directly."""
        return target_of_stack(DataFolder(self.folder), self.state).settings

    def processes(self) -> set[ProcessIdentity]:
        """All that belong to it at this moment."""
        return {child.identity for child in self.state.children.values()}

    def pid(self, name: str) -> int:
        return self.state.children[name].identity.pid

    def kill(self, name: str) -> None:
        """kill -9; the supervisor starts it again."""
        os.kill(self.pid(name), signal.SIGKILL)

    def service(self, workspace: str = "default") -> Lightstream:
        """The query service, asked once for each question."""
        # Asked ten times a second by tests that wait; certificates, which nobody shows here, take
        # 22 ms to be loaded.
        plain = httpx.HTTPTransport(verify=False, trust_env=False)
        return Lightstream(
            self.state.api, transport=plain, workspace=workspace, timeout=PATIENCE, attempts=1
        )

    def client(self, workspace: str = "default") -> httpx.Client:
        """Plain HTTP, for tests of the routes themselves."""
        return httpx.Client(
            base_url=self.state.api,
            headers={"X-Workspace": workspace},
            timeout=PATIENCE,
            trust_env=False,
            verify=False,
        )

    def add(
        self, texts: Mapping[str, str], workspace: str = "default", chunking: Chunking | None = None
    ) -> None:
        """Publish documents through the API, a hundred a request."""
        with self.service(workspace) as service:
            add(service, texts, chunking)

    def counts(self, workspace: str = "default") -> dict[str, int]:
        """Documents by status; none while nobody answers."""
        try:
            with self.service(workspace) as service:
                return service.status_counts()
        except Unavailable:
            return {}

    def settled(
        self, count: int, workspace: str = "default", seconds: float = PATIENCE
    ) -> dict[str, int]:
        """Wait until `count` documents have come to an end."""

        def done() -> dict[str, int] | None:
            result = self.counts(workspace)
            return result if ended(result, count) else None

        return until(done, lambda: f"{self.counts(workspace)}\n{self.logs()}", seconds)

    def digest(self, workspace: str = "default") -> dict[str, Any]:
        return self.json("digest", "--workspace", workspace)

    def logs(self) -> str:
        """The end of every process's log."""
        return "\n".join(
            f"== {log.name}\n"
            + "\n".join(log.read_text("utf-8", "replace").splitlines()[-6:])[:3000]
            for log in sorted(self.folder.rglob("*.log"))
        )


def add(service: Lightstream, texts: Mapping[str, str], chunking: Chunking | None = None) -> None:
    """Publish documents through the API, a hundred a request."""
    names = list(texts)
    for start in range(0, len(names), 100):
        part = names[start : start + 100]
        service.add_texts([texts[name] for name in part], part, chunking=chunking)


def ended(counts: Mapping[str, int], count: int) -> bool:
    """Whether `count` documents, by status, have come to an end and there are no others."""
    return sum(counts.get(status, 0) for status in FINAL) == counts.get("all") == count


def until(
    look: Callable[[], T | None], explain: Callable[[], str] = str, seconds: float = PATIENCE
) -> T:
    """Look again and again until there is something to see."""
    end = time.monotonic() + seconds
    intervals = pauses()
    while time.monotonic() < end:
        result = look()
        if result:
            return result
        time.sleep(next(intervals))
    raise AssertionError(f"not within {seconds:.0f} s: {explain()}")


@contextmanager
def running(folder: Path, *options: str, **env: str) -> Generator[Stack]:
    """A running stack, started with these options, stopped in the end, with nothing left of it."""
    stack = Stack(folder, env)
    partitions = ["--partitions", str(PARTITIONS)] if PARTITIONS > 1 else []
    stack.up(*options, *partitions)
    seen = stack.processes()
    try:
        yield stack
    finally:
        seen |= stack.processes()
        stack.down()
    assert not [process for process in seen if process.alive], "a process was left running"


def unacknowledged(stack: Stack) -> dict[str, tuple[int, int]]:
    """`pending` of its bus."""
    return asyncio.run(pending(stack.settings.nats_url))


async def pending(bus: str) -> dict[str, tuple[int, int]]:
    """Messages that wait, and that were delivered but not acknowledged, by consumer of the bus at
    that address.
    """
    async with connected(bus, name="test") as client:
        jetstream = client.jetstream()
        streams = await log_streams(jetstream)
        durables = [durable for of in CONSUMERS for durable in of.in_partitions(streams.count)]
        waiting_counts, open_counts = Counter[str](), Counter[str]()
        for durable in durables:
            info = await jetstream.consumer_info(durable.stream, durable.name)
            waiting_counts[durable.name] += info.num_pending or 0
            open_counts[durable.name] += info.num_ack_pending or 0
        return {name: (waiting_counts[name], open_counts[name]) for name in waiting_counts}


def at_rest(stack: Stack) -> bool:
    """Whether nothing waits, is under way or parked, and nothing was published meanwhile."""
    return asyncio.run(_at_rest(stack.settings.nats_url))


async def _at_rest(bus: str) -> bool:
    async with connected(bus, name="test") as client:
        log = NatsLog(client.jetstream())
        end = await log.end()
        if any(left != (0, 0) for left in (await pending(bus)).values()):
            return False
        # Only now: an event is parked before it is acknowledged, and what comes of it is published
        # before it is taken off the list.
        records = await NatsParkedEvents(client.jetstream()).changes("*", 0)
        return not any(record.event for record in records) and await log.end() == end
