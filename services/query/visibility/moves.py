"""What the log said of who may see a document, one event after the other."""

from collections.abc import Sequence
from contextlib import aclosing
from operator import itemgetter
from typing import NamedTuple

from cachetools import LRUCache

from contracts.access_of_texts import MOVING, AccessOfTexts
from contracts.events import DocumentAdded, Event
from runtime.bus.codec import decode
from runtime.bus.port import Delivery, Log, Message
from runtime.errors import Poison
from services.query.status.document_status import ALONE, DocumentStatus
from services.query.status.folding import apply
from services.query.status.projection import recorded

ANY_TYPE = "*"

MAX_DOCUMENTS = 10_000
"""Documents whose events are kept."""


class Move(NamedTuple):
    """Who may see a document from a sequence on. `version`: the sequence of its newest text."""

    sequence: int
    version: int
    texts: AccessOfTexts


class Moves:
    """Reads from the log who could see a document at a sequence."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._moves: LRUCache[tuple[str, str], tuple[int, list[Move]]] = LRUCache(MAX_DOCUMENTS)

    async def of(self, workspace: str, id: str, newest: int) -> list[Move]:
        """Return how it moved who may see a document. `newest`: the sequence of the newest event
        that must count. Raises `Unavailable`.
        """
        read_to, moves = self._moves.get((workspace, id), (-1, list[Move]()))
        if read_to < newest:
            moves = await read_moves(self._log, workspace, id)
            self._moves[workspace, id] = newest, moves
        return moves


async def read_moves(log: Log, workspace: str, id: str, alone_to: int | None = None) -> list[Move]:
    """Return how it moved who may see a document, in the order of the log. Raises `Unavailable`.

    Up to `alone_to`, or wherever the log says so, nothing is left of texts that were replaced. What
    its services made of it is read only where a text takes the place of another one that is
    not for the same readers.
    """
    messages: list[Message] = []
    for kind in MOVING:
        async with aclosing(log.history(workspace, id, kind.type_name())) as history:
            messages += [message async for message in history]
    events = sorted(decoded(messages), key=itemgetter(0))
    moves = folded(events)
    if any(move.texts.older_lists for move in moves):
        places = await _alone_at(log, workspace, id)
        moves = folded(events, [place for place in places if alone_to is None or place <= alone_to])
    return moves


def folded(events: Sequence[tuple[int, Event]], alone_at: Sequence[int] = ()) -> list[Move]:
    """Return the moves of events with their sequences. From each place in `alone_at` on nothing is
    left of older texts.
    """
    changes: list[tuple[int, Event | None]] = [*events, *((place, None) for place in alone_at)]
    moves: list[Move] = []
    texts = AccessOfTexts()
    version = 0
    for sequence, event in sorted(changes, key=lambda change: change[0]):
        texts = texts.after(event) if event else texts.alone()
        version = sequence if isinstance(event, DocumentAdded) else version
        moves.append(Move(sequence, version, texts))
    return moves


def texts_at(moves: Sequence[Move], sequence: int | None) -> AccessOfTexts:
    """Return who could see a document at a sequence; without one, at the end of the log."""
    earlier_moves = [move for move in moves if sequence is None or move.sequence <= sequence]
    return earlier_moves[-1].texts if earlier_moves else AccessOfTexts()


def admitted(moves: Sequence[Move], principals: frozenset[str], sequence: int) -> bool:
    """Return whether who is all of these principals could see the document at a sequence."""
    return texts_at(moves, sequence).admits(principals)


def text_admitted(moves: Sequence[Move], principals: frozenset[str], version: int) -> bool:
    """Return whether they could see the text of a version at the end of its time."""
    texts = [move.texts for move in moves if move.version == version and move.texts.is_there]
    return bool(texts) and (texts[-1].access is None or texts[-1].access.admits(principals))


async def _alone_at(log: Log, workspace: str, id: str) -> list[int]:
    """Return the sequences at which the status of a document came to say that nothing is left of
    older texts.
    """
    places: list[int] = []
    status: DocumentStatus | None = None
    was_alone = False
    async with aclosing(log.history(workspace, id, ANY_TYPE)) as messages:
        async for message in messages:
            try:
                envelope = decode(message.data, message.subject, message.headers)
            except Poison:
                continue
            delivery = Delivery(envelope, message.sequence, 1, message.published_at)
            status = apply(status, recorded(delivery))
            is_alone = status is not None and status.status in ALONE
            if is_alone and not was_alone:
                places.append(message.sequence)
            was_alone = is_alone
    return places


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
