"""Fair turns between workspaces: what stands behind another workspace's backlog is handled before it is delivered.

While a consumer has a backlog, its service looks ahead in the log and handles messages of the workspaces that would
have to wait, each in its turn, beside ordinary delivery. When such a message is delivered at last it is acknowledged
at once; where that is not known any more (a restart, another replica) it is handled twice, which every handler allows
for. So overtaking keeps no state that matters: it can be lost, and only the waiting comes back.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog

from runtime.bus.edge import Edge
from runtime.bus.fair_queue import FairQueue, Turn
from runtime.bus.nats_lookahead import Lookahead
from runtime.bus.nats_messages import NatsMessage
from runtime.bus.port import Message, Values

logger = structlog.get_logger(__name__)

LEAST_GAP = 32
"""Messages that must stand before one that overtakes: a shorter wait is not worth the reading."""

FARTHEST = 100_000
"""Messages of a backlog that are looked at."""

PAUSE = 0.25
"""Seconds until it is looked again when nobody waits who may overtake."""

IN_HAND = 2.0
"""Seconds until a message comes again that is delivered while its turn is under way."""


@dataclass(frozen=True)
class _Ahead(NatsMessage):
    """A message that is handled before its delivery: what becomes of it is told to the lane, not to the server."""

    lane: "OvertakingLane"

    @property
    def attempt(self) -> int:
        return 1

    async def ack(self) -> None:
        self.lane.handled.add(self.sequence)

    async def nak(self, delay: float) -> None:
        self.lane.refused[self.sequence] = delay

    async def heartbeat(self) -> None: ...


@dataclass
class OvertakingLane:
    """The fair turns of one consumer in one process. `claims` keep replicas from taking the same turn.

    `slots`: turns that may be under way at once. `handled` and `refused` are what became of messages taken ahead.
    """

    edge: Edge
    look: Lookahead
    claims: Values
    slots: int = 1
    handled: set[int] = field(default_factory=set[int])
    refused: dict[int, float] = field(default_factory=dict[int, float])

    def __post_init__(self) -> None:
        self.gap = max(LEAST_GAP, 2 * self.edge.durable.batch)
        self.queue = FairQueue(self.gap)
        self._in_hand: set[int] = set()
        self._claimed: set[int] = set()
        self._position = 0
        self._backlog = asyncio.Event()

    async def process(self, messages: Sequence[NatsMessage]) -> None:
        """Bring delivered messages to an end: those that were taken ahead are acknowledged, the others handled."""
        if admitted := await self._admit(messages):
            await self.edge.process(admitted)

    async def _admit(self, messages: Sequence[NatsMessage]) -> list[Message]:
        admitted: list[Message] = []
        for message in messages:
            self._position = max(self._position, message.sequence)
            if message.sequence in self.handled:
                await message.ack()
                self.handled.discard(message.sequence)
            elif message.sequence in self._in_hand:
                await message.nak(IN_HAND)
            else:
                admitted.append(message)
        self.queue.delivered(self._position)
        self._forget_old()
        if messages and (messages[-1].raw.metadata.num_pending or 0) > self.gap:
            self._backlog.set()
        elif messages:
            self._backlog.clear()
        return admitted

    async def run(self) -> None:
        """Take turns for ever, while there is a backlog."""
        turns: set[asyncio.Task[None]] = set()
        try:
            while True:
                await self._backlog.wait()
                try:
                    turns = await self._look_and_take(turns)
                except Exception as error:
                    # Ordinary delivery goes on whatever happens here.
                    logger.warning("cannot look ahead", durable=self.edge.durable.name, error=repr(error))
                    await asyncio.sleep(IN_HAND)
        finally:
            for task in turns:
                task.cancel()
            await asyncio.gather(*turns, return_exceptions=True)
            await self.look.close()

    async def _look_and_take(self, turns: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        seen = 0
        if len(self.queue) < FARTHEST:
            headers = await self.look.headers(self._position, wait=PAUSE)
            seen = len(headers)
            for sequence, workspace, subject_filter in headers:
                self.queue.add(sequence, workspace, subject_filter)
        turns = {task for task in turns if not task.done()}
        while len(turns) < self.slots and (turn := self.queue.take(self.edge.durable.batch, time.monotonic())):
            turns.add(asyncio.create_task(self._take(turn)))
        if len(turns) >= self.slots:
            await asyncio.wait(turns, timeout=PAUSE, return_when=asyncio.FIRST_COMPLETED)
        elif not seen:
            await asyncio.sleep(PAUSE)
        return turns

    async def _take(self, turn: Turn) -> None:
        """Handle what of this turn is ours. What fails is offered again; what is lost comes by ordinary delivery."""
        ours: list[int] = []
        try:
            ours = [sequence for sequence in turn.sequences if await self._claim(sequence)]
            self._in_hand.update(ours)
            if ours:
                found = await self.look.messages(turn.filter, turn.workspace, ours)
                await self.edge.process([_Ahead(message.raw, self) for message in found])
        except Exception as error:
            # Nothing is lost: what is not handled here is delivered in its order.
            logger.warning("a turn was not taken", durable=self.edge.durable.name, error=repr(error))
            self.refused |= dict.fromkeys(ours, IN_HAND)
        finally:
            self._in_hand.difference_update(ours)
        delays = {sequence: self.refused.pop(sequence) for sequence in ours if sequence in self.refused}
        if delays:
            again = Turn(turn.workspace, turn.filter, sorted(delays))
            self.queue.put_back(again, time.monotonic() + max(delays.values()))

    def _forget_old(self) -> None:
        """What other replicas were given is not delivered here any more."""
        if len(self._claimed) > FARTHEST:
            self.handled = {sequence for sequence in self.handled if sequence > self._position}
            self._claimed = {sequence for sequence in self._claimed if sequence > self._position}

    async def _claim(self, sequence: int) -> bool:
        if sequence not in self._claimed:
            if not await self.claims.write(f"{self.edge.durable.name}.{sequence}", b"", 0):
                return False
            self._claimed.add(sequence)
        return True
