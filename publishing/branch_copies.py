"""Copies what happens to the documents of a workspace into a branch of it.

Each copy has an id that is derived from that of its original, so whoever copies it again changes
nothing. Of documents that have gone or have a newer version by then nothing is copied.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import Any

import structlog

from contracts import subjects
from contracts.access import Access
from contracts.envelope import Envelope, wrap
from contracts.events import (
    AccessChanged,
    DocumentAdded,
    DocumentDeleted,
    Event,
    GraphEdited,
    SupersessionStated,
    TagsChanged,
)
from contracts.ids import event_id
from contracts.partitions import LogPosition
from contracts.values import BlobRef
from runtime.branches import Branch, is_dropped, read_branches
from runtime.bus.codec import decode
from runtime.bus.encoded_text import EncodedText
from runtime.bus.lineage import copied_lineage
from runtime.bus.port import Blobs, Log, Message
from runtime.errors import NewerVersion, Poison, ServiceError

logger = structlog.get_logger(__name__)

COPIED = (
    DocumentAdded,
    DocumentDeleted,
    AccessChanged,
    SupersessionStated,
    TagsChanged,
    GraphEdited,
)
"""Types of the events that are copied."""

SOURCE = "/lightstream/branches"
"""`source` of copies."""

PAUSE = 1.0
"""Seconds between two looks at the end of the log."""

QUIET = 5
"""How many times as long the pause is while no branch is open."""


@dataclass
class _Selection:
    """What is to be copied, by sequence; of documents with who may see them."""

    sequences: set[int] = field(default_factory=set[int])
    access: dict[int, Access | None] = field(default_factory=dict[int, Access | None])


@dataclass
class BranchCopier:
    """Copies into one branch. `position`: up to where its origin is copied."""

    log: Log
    blobs: Blobs
    branch: Branch
    position: int = 0
    _copies: dict[str, int] | None = None
    """Sequences of the copies in the branch, by id."""
    _documents: set[str] = field(default_factory=set[str])
    """Documents of which the branch has anything."""
    _access: dict[str, Access | None] = field(default_factory=dict[str, Access | None])
    """What was said last of who may see a document of the origin."""

    async def copy_new(self) -> int:
        """Copy what the branch lacks, and return how many events that were. Raises `Unavailable`.

        A copier that has just begun reads all of the origin, later it reads only what is new.
        """
        end = await self.log.last(self.branch.origin)
        if end <= self.position:
            return 0
        if not await self._has_news():
            self.position = end
            return 0
        copies = await self._existing_copies()
        selection = await self._select(copies)
        count = 0
        async for message, envelope in _events(self.log, self.branch.origin, self.position):
            if message.sequence in selection.sequences:
                if await is_dropped(self.log, self.branch.workspace):
                    return count
                count += await self._copy(message.sequence, envelope, selection)
            self.position = message.sequence
        self.position = max(self.position, end)
        return count

    async def _has_news(self) -> bool:
        """Return whether anything that is copied stands behind the position: most of what happens
        in a workspace is the services' work.
        """
        origin = self.branch.origin
        filters = [subjects.of_type_in(origin, kind.type_name()) for kind in COPIED]
        return any([await self.log.following(self.position, subject) for subject in filters])

    async def _existing_copies(self) -> dict[str, int]:
        if self._copies is None:
            self._copies = {}
            async for message, envelope in _events(self.log, self.branch.workspace, 0):
                self._copies[envelope.id] = message.sequence
                self._note_copied(envelope.data)
        return self._copies

    async def _select(self, copies: dict[str, int]) -> _Selection:
        """Return what of the origin behind the position the branch lacks.

        A copier that has just begun finds its position by the newest copy: they were made in the
        order of the origin.
        """
        selection = _Selection()
        newest_additions: dict[str, int] = {}
        additions: dict[str, list[int]] = {}
        async for message, envelope in _events(self.log, self.branch.origin, self.position):
            event, sequence = envelope.data, message.sequence
            self._note_access(event)
            if self.copy_id(envelope) in copies:
                # What stands before it was copied, or was left out for good.
                selection = _Selection()
                newest_additions.clear()
                additions.clear()
                continue
            if not (isinstance(event, GraphEdited) or self.branch.takes(event.aggregate_id)):
                continue
            selection.sequences.add(sequence)
            id = event.aggregate_id
            if isinstance(event, DocumentAdded):
                selection.access[sequence] = self._access.get(id)
                if id in newest_additions:
                    selection.sequences.discard(newest_additions[id])
                newest_additions[id] = sequence
                additions.setdefault(id, []).append(sequence)
            elif isinstance(event, DocumentDeleted):
                selection.sequences.difference_update(additions.pop(id, ()))
                newest_additions.pop(id, None)
                if id not in self._documents:
                    selection.sequences.discard(sequence)
            elif not isinstance(event, GraphEdited):
                additions.setdefault(id, []).append(sequence)
        return selection

    def _note_access(self, event: Event) -> None:
        if isinstance(event, DocumentDeleted):
            self._access.pop(event.document_id, None)
        elif isinstance(event, AccessChanged) or (
            isinstance(event, DocumentAdded) and event.access
        ):
            self._access[event.document_id] = event.access

    def _note_copied(self, event: Event) -> None:
        if not isinstance(event, GraphEdited):
            self._documents.add(event.aggregate_id)

    def copy_id(self, original: Envelope[Event]) -> str:
        """Return the id of the copy of an event."""
        return event_id(f"{self.branch.workspace}/{original.id}", original.data.type_name())

    async def _copy(self, sequence: int, original: Envelope[Event], selection: _Selection) -> bool:
        """Publish the copy; False for one that has no meaning in the branch."""
        event = original.data
        if isinstance(event, DocumentAdded):
            event = await self._document(event, selection.access.get(sequence))
        elif isinstance(event, GraphEdited) and event.undoes is not None:
            undone_copy = await self._sequence_of_copy(event.undoes)
            if undone_copy is None:
                return False
            event = event.model_copy(update={"undoes": undone_copy})
        self._note_copied(event)
        id = self.copy_id(original)
        assert original.time and self._copies is not None
        self._copies[id] = await self.log.publish(
            wrap(
                event,
                id=id,
                source=SOURCE,
                workspace=self.branch.workspace,
                time=original.time,
                lineage=copied_lineage(original),
            )
        )
        return True

    async def _document(self, event: DocumentAdded, access: Access | None) -> DocumentAdded:
        """Return the document as the branch has it: cut by its settings, its long text, its
        original and its figures among its own.
        """
        changes: dict[str, Any] = {"access": access}
        if chunking := self.branch.event.settings.chunking:
            changes["chunking"] = chunking
        for name in ("blob", "original"):
            if ref := getattr(event, name):
                changes[name] = await self._blob(ref)
        changes["figures"] = tuple(
            [
                figure.model_copy(update={"blob": await self._blob(figure.blob)})
                for figure in event.figures
            ]
        )
        return event.model_copy(update=changes)

    async def _blob(self, ref: BlobRef) -> BlobRef:
        """Return where the branch has what stands beside the log."""
        data = b"".join(await self.blobs.parts(ref))
        return await self.blobs.put(EncodedText(data, ref.sha256), self.branch.workspace)

    async def _sequence_of_copy(self, sequence: int) -> int | None:
        """Return the sequence of the copy of what the origin has at a sequence; None without
        one.
        """
        message = await self.log.following(sequence - 1, subjects.of_workspace(self.branch.origin))
        if message is None or message.sequence != sequence:
            return None
        try:
            original = decode(message.data, message.subject, message.headers)
        except (Poison, NewerVersion):
            return None
        return (self._copies or {}).get(self.copy_id(original))


async def _events(
    log: Log, workspace: str, after: int
) -> AsyncGenerator[tuple[Message, Envelope[Event]]]:
    """Yield the events that are copied, in order, without those that cannot be read."""
    async with AsyncExitStack() as stack:
        histories = [
            await stack.enter_async_context(
                aclosing(log.history(workspace, None, kind.type_name(), after))
            )
            for kind in COPIED
        ]
        heads = [await anext(history, None) for history in histories]
        while messages := [message for message in heads if message]:
            message = min(messages, key=lambda head: head.sequence)
            place = heads.index(message)
            heads[place] = await anext(histories[place], None)
            try:
                envelope = decode(message.data, message.subject, message.headers)
            except (Poison, NewerVersion):
                continue
            if envelope.time is None:
                envelope = envelope.model_copy(update={"time": message.published_at})
            yield message, envelope


@dataclass
class BranchFollower:
    """Copies what happens to documents into all open branches, for as long as it runs.

    Every replica may do so: what two of them copy has one id, and the log takes it once.
    """

    log: Log
    blobs: Blobs
    pause: float = PAUSE
    _copiers: dict[str, BranchCopier] = field(default_factory=dict[str, BranchCopier])
    _end: LogPosition | None = None

    async def run(self) -> None:
        """Copy for ever. While the bus does not answer, try again."""
        while True:
            try:
                await self.follow()
            except ServiceError as error:
                logger.warning("branches are behind their origins", reason=str(error))
            await asyncio.sleep(self.pause if self._copiers else QUIET * self.pause)

    async def follow(self) -> None:
        """Copy into each open branch what it lacks. Raises `Unavailable`."""
        end = await self.log.end()
        if end == self._end:
            return
        branches = {branch.workspace: branch for branch in await read_branches(self.log)}
        self._copiers = {
            workspace: self._copiers.get(workspace) or BranchCopier(self.log, self.blobs, branch)
            for workspace, branch in branches.items()
        }
        for copier in self._copiers.values():
            await copier.copy_new()
        self._end = end
