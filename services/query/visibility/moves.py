"""What the log said of who may see a document, one event after the other."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import aclosing
from typing import NamedTuple

from cachetools import LRUCache

from contracts.access import Access
from contracts.events import AccessChanged, DocumentAdded, DocumentDeleted, DocumentErased, Event
from runtime.bus.codec import decode
from runtime.bus.port import Log, Message
from runtime.errors import Poison

MOVING = (DocumentAdded, AccessChanged, DocumentDeleted, DocumentErased)
"""The events that move what is visible."""

MAX_DOCUMENTS = 10_000
"""Documents whose events are kept."""


class Move(NamedTuple):
    """Who may see a document from a sequence on. `is_there`: the document had a text then."""

    sequence: int
    access: Access | None
    is_there: bool


class Moves:
    """Reads from the log who could see a document at a sequence."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._moves: LRUCache[tuple[str, str], tuple[int, list[Move]]] = LRUCache(MAX_DOCUMENTS)

    async def admitted(
        self, workspace: str, id: str, newest: int, principals: AbstractSet[str], sequence: int
    ) -> bool:
        """Return whether who is all of these principals could see the document at a sequence.

        `newest`: the sequence of the newest event that must count. Raises `Unavailable`.
        """
        read_to, moves = self._moves.get((workspace, id), (-1, list[Move]()))
        if read_to < newest:
            moves = await self._read(workspace, id)
            self._moves[workspace, id] = newest, moves
        earlier_moves = [move for move in moves if move.sequence <= sequence]
        if not earlier_moves or not earlier_moves[-1].is_there:
            return False
        access = earlier_moves[-1].access
        return access is None or access.admits(principals)

    async def _read(self, workspace: str, id: str) -> list[Move]:
        messages: list[Message] = []
        for kind in MOVING:
            async with aclosing(self._log.history(workspace, id, kind.type_name())) as history:
                messages += [message async for message in history]
        moves: list[Move] = []
        access, is_there = None, False
        for sequence, event in sorted(decoded(messages), key=lambda moved: moved[0]):
            if isinstance(event, DocumentDeleted | DocumentErased):
                access, is_there = None, False
            elif isinstance(event, AccessChanged):
                access = event.access
            elif isinstance(event, DocumentAdded):
                access, is_there = event.access or access, True
            moves.append(Move(sequence, access, is_there))
        return moves


def decoded(messages: Sequence[Message]) -> list[tuple[int, Event]]:
    """Return sequences and events. What nobody can read is left out, as the projection does; of
    what a newer release can read nobody here knows whom it hides, so that raises NewerVersion.
    """
    events: list[tuple[int, Event]] = []
    for message in messages:
        try:
            event = decode(message.data, message.subject, message.headers).data
        except Poison:
            continue
        events.append((message.sequence, event))
    return events
