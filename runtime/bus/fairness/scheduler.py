"""Fair turns between workspaces: what stands behind another workspace's backlog is handled before
it is delivered.

While a consumer has a backlog, or all its workers are long at what they have, its service looks
ahead in the log and handles messages of the workspaces that would have to wait, each in its turn,
beside ordinary delivery. When such a message is delivered at last it is acknowledged at once; where
that is not known any more (a restart, another replica) it is handled twice, which every handler
allows for. So overtaking keeps no state that matters: it can be lost, and only the waiting comes
back.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from contracts import subjects
from runtime.bus.fairness.queue import FairQueue, Turn
from runtime.bus.nats.lookahead import Lookahead
from runtime.bus.nats.messages import NatsMessage
from runtime.bus.port import Message, SharedValues
from runtime.bus.processor import EventProcessor

logger = structlog.get_logger(__name__)

LEAST_GAP = 32
"""Messages that must be ahead of one that overtakes: a shorter wait is not worth the read."""

LONG = 0.5
"""Seconds of work on one batch after which nobody waits for its end."""

SLOTS, TURN = 2, 8
"""Turns at once, at least, and messages of a turn at most: the next workspace waits for no more
than those.
"""

FARTHEST = 100_000
"""Messages of a backlog that are looked at."""

PAUSE = 0.25
"""Seconds until it is looked again when nobody waits who may overtake."""

AGAIN = 2.0
"""Seconds until what did not go is tried again: a look, a turn, a delivery of a message whose turn
is under way.
"""


@dataclass(frozen=True)
class _Ahead(NatsMessage):
    """A message that is handled before its delivery: ack and nak go to the scheduler, not to the
    server.
    """

    scheduler: "FairScheduler"

    @property
    def attempt(self) -> int:
        return 1

    async def ack(self) -> None:
        self.scheduler.handled.add(self.sequence)

    async def nak(self, delay: float) -> None:
        self.scheduler.refused[self.sequence] = delay

    async def heartbeat(self) -> None: ...


@dataclass
class FairScheduler:
    """The fair turns of one consumer in one process. `claims` keep replicas from taking the same
    turn.

    `workers`: batches that ordinary delivery handles at once. `handled` and `refused` are what
    became of messages taken ahead.
    """

    processor: EventProcessor
    look: Lookahead
    claims: SharedValues
    workers: int = 1
    handled: set[int] = field(default_factory=set[int])
    refused: dict[int, float] = field(default_factory=dict[int, float])

    def __post_init__(self) -> None:
        self.gap = max(LEAST_GAP, 2 * self.processor.durable.batch)
        self.queue = FairQueue()
        self._in_hand: set[int] = set()
        self._claimed: set[int] = set()
        self._position = self._pending = 0
        self._served: dict[int, tuple[float, set[str]]] = {}
        self._awake = asyncio.Event()

    async def process(self, messages: Sequence[NatsMessage]) -> None:
        """Bring delivered messages to an end: those that were taken ahead are acknowledged, the
        others handled.
        """
        admitted = await self._admit(messages)
        if not admitted:
            return
        self._served[id(admitted)] = (
            time.monotonic(),
            {subjects.workspace_token(message.subject) for message in admitted},
        )
        long = asyncio.get_running_loop().call_later(LONG, self._awake.set)
        try:
            await self.processor.process(admitted)
        finally:
            long.cancel()
            del self._served[id(admitted)]

    async def _admit(self, messages: Sequence[NatsMessage]) -> list[Message]:
        admitted: list[Message] = []
        for message in messages:
            self._position = max(self._position, message.sequence)
            self._pending = message.raw.metadata.num_pending or 0
            if message.sequence in self.handled:
                await message.ack()
                self.handled.discard(message.sequence)
            elif message.sequence in self._in_hand:
                await message.nak(AGAIN)
            else:
                admitted.append(message)
        self.queue.delivered(self._position)
        self._forget_old()
        if self._pending > self.gap:
            self._awake.set()
        return admitted

    def _is_held_up(self) -> bool:
        """Return whether every worker has been busy with its batch for long."""
        started = max((since for since, _ in self._served.values()), default=0.0)
        return len(self._served) >= self.workers and time.monotonic() - started >= LONG

    async def run(self) -> None:
        """Run turns for ever, whenever a workspace would have to wait."""
        turns: set[asyncio.Task[None]] = set()
        try:
            while True:
                await self._awake.wait()
                if self._pending <= self.gap and not self._is_held_up():
                    self._awake.clear()
                    continue
                try:
                    turns = await self._look_and_take(turns)
                except Exception as error:
                    # Ordinary delivery goes on whatever happens here.
                    logger.warning(
                        "cannot look ahead", durable=self.processor.durable.name, error=repr(error)
                    )
                    await asyncio.sleep(AGAIN)
        finally:
            for task in turns:
                task.cancel()
            await asyncio.gather(*turns, return_exceptions=True)
            await self.look.close()

    async def _look_and_take(self, turns: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        count = 0
        if len(self.queue) < FARTHEST:
            headers = await self.look.headers(self._position, wait=PAUSE)
            count = len(headers)
            for sequence, workspace, subject_filter in headers:
                self.queue.add(sequence, workspace, subject_filter)
        turns = {task for task in turns if not task.done()}
        slots = max(SLOTS, self.workers)
        while len(turns) < slots and (turn := self._next()):
            turns.add(asyncio.create_task(self._take(turn)))
        if len(turns) >= slots:
            await asyncio.wait(turns, timeout=PAUSE, return_when=asyncio.FIRST_COMPLETED)
        elif not count:
            await asyncio.sleep(PAUSE)
        return turns

    def _next(self) -> Turn | None:
        # Who is about to be delivered waits for it, but not for the end of long work.
        gap = 0 if self._is_held_up() else self.gap
        served = {workspace for _, workspaces in self._served.values() for workspace in workspaces}
        return self.queue.take(
            min(TURN, self.processor.durable.batch), time.monotonic(), gap=gap, served=served
        )

    async def _take(self, turn: Turn) -> None:
        """Handle the messages of this turn that we claimed.

        Those that fail are offered again; lost ones come by ordinary delivery.
        """
        ours: list[int] = []
        try:
            ours = [sequence for sequence in turn.sequences if await self._claim(sequence)]
            self._in_hand.update(ours)
            if ours:
                messages = await self.look.messages(turn.filter, turn.workspace, ours)
                await self.processor.process([_Ahead(message.raw, self) for message in messages])
        except Exception as error:
            # Nothing is lost: what is not handled here is delivered in its order.
            logger.warning(
                "a turn was not taken", durable=self.processor.durable.name, error=repr(error)
            )
            self.refused |= dict.fromkeys(ours, AGAIN)
        finally:
            self._in_hand.difference_update(ours)
        delays = {
            sequence: self.refused.pop(sequence) for sequence in ours if sequence in self.refused
        }
        if delays:
            again = Turn(turn.workspace, turn.filter, sorted(delays))
            self.queue.put_back(again, time.monotonic() + max(delays.values()))

    def _forget_old(self) -> None:
        """Forget sequences that delivery has passed: other replicas were given those messages."""
        if len(self._claimed) > FARTHEST:
            self.handled = {sequence for sequence in self.handled if sequence > self._position}
            self._claimed = {sequence for sequence in self._claimed if sequence > self._position}

    async def _claim(self, sequence: int) -> bool:
        if sequence not in self._claimed:
            if not await self.claims.write(f"{self.processor.durable.name}.{sequence}", b"", 0):
                return False
            self._claimed.add(sequence)
        return True
