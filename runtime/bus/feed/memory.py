"""`EventFeed` over the log in memory, for unit tests."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from contracts import subjects
from contracts.partitions import LogPosition
from runtime.bus.memory import MemoryLog, MemoryMessage
from runtime.bus.port import Message

POLL_SECONDS = 0.01


@dataclass(frozen=True)
class MemoryEventFeed:
    """`EventFeed`."""

    log: MemoryLog

    async def last_sequence(self, subject: str) -> int:
        return await self.log.last_sequence()

    async def count(self, subject: str, after: int = 0) -> int:
        return len(self._behind(subject, after))

    async def page(self, subject: str, after: int, limit: int) -> tuple[list[Message], int]:
        messages = self._behind(subject, after)
        return messages[:limit], len(messages[limit:])

    async def follow(self, subject: str, after: int, wait: float) -> AsyncGenerator[list[Message]]:
        clock = asyncio.get_running_loop().time
        while True:
            end = clock() + wait
            while not (messages := self._behind(subject, after)) and clock() < end:  # noqa: ASYNC110
                await asyncio.sleep(POLL_SECONDS)
            after = messages[-1].sequence if messages else after
            yield messages

    async def follow_all(
        self, position: LogPosition, wait: float
    ) -> AsyncGenerator[tuple[list[Message], LogPosition]]:
        async for messages in self.follow(subjects.ALL, position.sequences[0], wait):
            position = position.behind(message.sequence for message in messages)
            yield messages, position

    def _behind(self, subject: str, after: int) -> list[Message]:
        return [
            MemoryMessage(stored_message)
            for stored_message in self.log.messages[after:]
            if subjects.passes(stored_message.subject, [subject])
        ]
