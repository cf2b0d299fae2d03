"""The conversations of each account, as one value on the bus: what was asked, and no answers."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from runtime.bus.port import SharedValues

MAX_CONVERSATIONS = 100
"""Conversations that are kept of an account in a workspace; older ones go."""

MAX_BYTES = 512 * 1024
"""Size of all of them together, as JSON; older ones go."""


@dataclass(frozen=True)
class Conversation:
    """What was asked one after the other. `at`: when something was asked last, in milliseconds
    since 1970.
    """

    id: str
    name: str
    at: int
    questions: list[dict[str, Any]]
    """Each as the body of `POST /query`."""


Change = Callable[[list[Conversation]], list[Conversation]]


@dataclass(frozen=True)
class Conversations:
    """Reads and changes conversations by the key of their owner. Raises `Unavailable`."""

    values: SharedValues

    async def of(self, owner: str) -> list[Conversation]:
        """Return the conversations of an owner, the one that was last asked in first."""
        return (await self._read(owner))[0]

    async def keep(self, owner: str, conversation: Conversation) -> None:
        """Keep a conversation in the place of the one with its id."""
        await self._change(owner, lambda all_of: [*_without(all_of, conversation.id), conversation])

    async def remove(self, owner: str, id: str) -> bool:
        """Remove a conversation; False if there was none with this id."""
        is_there = any(conversation.id == id for conversation in await self.of(owner))
        if is_there:
            await self._change(owner, lambda all_of: _without(all_of, id))
        return is_there

    async def _read(self, owner: str) -> tuple[list[Conversation], int]:
        value, revision = await self.values.read(owner)
        return [Conversation(**fields) for fields in json.loads(value or b"[]")], revision

    async def _change(self, owner: str, change: Change) -> None:
        """Change them whatever other processes change meanwhile."""
        is_written = False
        while not is_written:
            conversations, revision = await self._read(owner)
            is_written = await self.values.write(owner, _value(change(conversations)), revision)


def _without(conversations: list[Conversation], id: str) -> list[Conversation]:
    return [conversation for conversation in conversations if conversation.id != id]


def _value(conversations: list[Conversation]) -> bytes:
    """Return the newest ones, as many as may be kept, as JSON; empty for none."""
    rows: list[bytes] = []
    size = 0
    for conversation in sorted(conversations, key=lambda entry: -entry.at)[:MAX_CONVERSATIONS]:
        row = json.dumps(asdict(conversation), ensure_ascii=False).encode()
        size += len(row) + 1
        if size > MAX_BYTES:
            break
        rows.append(row)
    return b"[" + b",".join(rows) + b"]" if rows else b""
