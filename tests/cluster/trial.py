"""Documents flow through a service on a cluster, servers are killed, and nothing that was confirmed
is lost.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.errors import APIError

from contracts import subjects
from contracts.topology import CONSUMERS
from operations import bus_accounts
from runtime.bus.nats.connection import connected
from runtime.bus.nats.log import NatsLog
from runtime.bus.port import Message
from runtime.errors import Unavailable
from tests.support.nats_cluster import SIZE, NatsCluster, declare, nats_cluster
from tests.support.nats_server import until
from tests.support.trial_service import document, trial_service
from tests.support.waiting import eventually

PUBLISHERS = 4

ELECTED = "$JS.EVENT.ADVISORY.*.LEADER_ELECTED.>"
"""Where the servers say that a stream or a consumer has another leader."""

OF_OTHERS = {durable.name for durable in CONSUMERS} - {"chunker"}
"""Consumers that the service at work does not use."""


@dataclass
class Trial:
    """A cluster under load. `confirmed`: the sequence of each document that the log confirmed to a
    publisher.
    """

    cluster: NatsCluster
    jetstream: JetStreamContext
    publishing: NatsLog
    """The log as another system's publisher sees it, through an account of its own."""
    confirmed: dict[str, int] = field(default_factory=dict[str, int])
    refused: int = 0
    """Publishes that got no answer within their patience, and were repeated with the same id."""
    going: bool = True
    last: float = 0.0
    written: list[datetime] = field(default_factory=list[datetime])
    """When the service wrote, in the log's order; known in the end."""
    needed: list[datetime] = field(default_factory=list[datetime])
    """When a stream or consumer got a leader that the service may wait for, by the servers'
    clock.
    """
    pause: float = 0.0
    """The longest time between two confirmations since it was last set to zero, in seconds."""
    resumed: float = 0.0
    """When that pause ended, as `elected`."""
    elected: float = 0.0
    """When the log last got a leader, by the clock of this process."""

    @property
    def log(self) -> NatsLog:
        """The log as a process sees it that never was away from it."""
        return NatsLog(self.jetstream)

    async def publish(self, publisher: int) -> None:
        """Publish one document after the other, and never give one up."""
        number = 0
        while self.going:
            name = f"doc-{publisher}-{number}"
            try:
                sequence = await self.publishing.publish(document(name))
            except Unavailable:
                self.refused += 1
                continue
            assert self.confirmed.setdefault(name, sequence) == sequence
            now = time.monotonic()
            number = number + 1
            if now - self.last > self.pause:
                self.pause, self.resumed = now - self.last, now
            self.last = now
            await asyncio.sleep(0.1)  # not for luck: the service has to keep pace

    async def note_election(self, message: Msg) -> None:
        """Note that the log, or another stream or consumer, has a leader."""
        advisory = json.loads(message.data)
        if advisory["stream"] == "KB_EVENTS" and "consumer" not in advisory:
            self.elected = time.monotonic()
        if advisory.get("consumer") not in OF_OTHERS:
            self.needed.append(datetime.fromisoformat(advisory["timestamp"]))

    async def more(self, count: int) -> None:
        """Wait until so many more documents are confirmed."""
        goal = len(self.confirmed) + count

        async def reached() -> bool:
            return len(self.confirmed) >= goal

        await until(reached, f"{count} more documents confirmed")

    async def kill(
        self, number: int, *, emptied: bool = False, away: float = 0.0, stopped: bool = False
    ) -> tuple[float, float]:
        """Kill a server, start it again, and wait until it has everything.

        Return for how long nothing was confirmed, and how much of it was after the log had a leader
        again. It is `away` for that many seconds; `emptied`: it comes back with a new disk;
        `stopped`: it is told to end.
        """
        self.pause, self.last = 0.0, time.monotonic()
        kill_time = self.last
        await (self.cluster.servers[number].stop() if stopped else self.cluster.kill(number))
        if away:
            await asyncio.sleep(away)  # not for luck: an orchestrator needs time to start it again
        await self.cluster.restart(number, emptied=emptied)
        await self.more(5 * PUBLISHERS)
        pause = self.pause
        resumed = self.resumed
        later = min(pause, resumed - self.elected) if kill_time < self.elected < resumed else pause
        await self.cluster.whole(self.jetstream)
        return pause, later

    def silences(self, shortest: float) -> list[tuple[float, float]]:
        """For how many seconds the service wrote nothing, where it was longer than that.

        Beside each stands how many of these were after the last election that it may have waited
        for.
        """
        silences = [
            (before, after)
            for before, after in pairwise(self.written)
            if (after - before).total_seconds() > shortest
        ]
        elections = [
            max((election for election in self.needed if before < election < after), default=before)
            for before, after in silences
        ]
        return [
            ((after - before).total_seconds(), (after - election).total_seconds())
            for (before, after), election in zip(silences, elections, strict=True)
        ]

    async def problems(self) -> list[str]:
        """Stop publishing, wait until the service has handled everything, and return what is not as
        it must be.
        """
        self.going = False
        result: dict[str, dict[str, int]] = {"DocumentAdded": {}, "DocumentDeleted": {}}

        async def handled() -> bool:
            # The consumer's leader may be being elected, or may know little a moment after it was.
            with suppress(APIError, NatsError, Unavailable):
                info = await self.jetstream.consumer_info("KB_EVENTS", "chunker")
                if info.num_pending == 0 and info.num_ack_pending == 0:
                    deletions = subjects.of_type("DocumentDeleted")
                    messages = [m async for page in self.log.read(0, [deletions]) for m in page]
                    return len(messages) >= len(self.confirmed)
            return False

        await until(handled, "the service has handled everything")
        problems: list[str] = []
        # A server that came back a moment ago may not answer yet.
        for message in await eventually(self._messages):
            _, name, kind = subjects.split(message.subject)
            if name in result[kind]:
                problems.append(f"{kind} of {name} is stored twice")
            result[kind][name] = message.sequence
            if kind == "DocumentDeleted":
                self.written.append(message.published_at)
        if result["DocumentAdded"] != self.confirmed:
            lost_documents = self.confirmed.items() - result["DocumentAdded"].items()
            examples = sorted(lost_documents)[:5]
            problems.append(
                f"confirmed and not where it was: {examples}, {len(lost_documents)} in all"
            )
        if unhandled := self.confirmed.keys() - result["DocumentDeleted"].keys():
            problems.append(f"{len(unhandled)} documents were never handled")
        return problems

    async def _messages(self) -> list[Message]:
        """All messages about documents. Raises `Unavailable`."""
        return [
            message
            async for page in self.log.read()
            for message in page
            if message.subject != subjects.PROBE
        ]


@asynccontextmanager
async def trial(folder: Path, size: int = SIZE) -> AsyncGenerator[Trial]:
    """So many servers, each with a copy of every stream, a service on them, and publishers at
    work.
    """
    async with (
        nats_cluster(folder / "cluster", size) as cluster,
        connected(cluster.url("operator"), name="trial") as client,
        connected(cluster.url("publisher"), name="publishers") as publishing,
    ):
        jetstream = client.jetstream(timeout=10)
        await declare(jetstream, size)
        # The service is told of one server; the cluster tells it of the others.
        async with trial_service(cluster.url("operator", 0), folder):
            running = Trial(
                cluster, jetstream, NatsLog(publishing.jetstream(prefix=bus_accounts.IMPORTED_API))
            )
            await client.subscribe(ELECTED, cb=running.note_election)
            publishers = [
                asyncio.create_task(running.publish(number)) for number in range(PUBLISHERS)
            ]
            try:
                await running.more(PUBLISHERS)
                yield running
            finally:
                running.going = False
                for publisher in publishers:
                    publisher.cancel()
                await asyncio.gather(*publishers, return_exceptions=True)
