"""Find out from the log which versions of documents are obsolete: work on those is dropped before
it is paid for.

A version that is obsolete stays so. Of any other version the log is asked at most once a second,
however many callers ask. Work goes on while the log does not answer.
"""

import asyncio
import time
from collections import OrderedDict
from contextlib import aclosing
from dataclasses import dataclass, field

import structlog

from contracts.events import ChunksCreated, DocumentAdded, DocumentCancelled, DocumentDeleted
from contracts.values import DocumentVersion
from runtime.bus.codec import decode
from runtime.bus.port import Log, Message, Obsolete
from runtime.concurrency.key_locks import KeyLocks
from runtime.errors import NewerVersion, Poison, Unavailable

logger = structlog.get_logger(__name__)

LOOK_AGAIN = 1.0
"""Seconds for which a version counts as wanted without a look at the log."""

PATIENCE = 2.0
"""Seconds the log has to answer."""

UNHEARD = 10.0
"""Seconds for which a log that did not answer is not asked again."""

KNOWN = 10_000
"""Versions that are remembered: those asked for most recently."""


@dataclass
class _Known:
    reason: Obsolete | None
    at: float


@dataclass
class LogVersions:
    """`DocumentVersions` over the log: three reads of a newest event at once, each by its subject,
    seldom a fourth.
    """

    log: Log
    look_again: float = LOOK_AGAIN
    _versions: OrderedDict[tuple[str, str, int], _Known] = field(
        default_factory=OrderedDict[tuple[str, str, int], _Known]
    )
    _locks: KeyLocks = field(default_factory=KeyLocks)
    _unheard_until: float = 0.0

    async def obsolete(self, workspace: str, document: DocumentVersion) -> Obsolete | None:
        """See `DocumentVersions.obsolete`."""
        key = workspace, document.id, document.version
        async with self._locks.hold(["\x1f".join(map(str, key))]):
            answer = self._versions.get(key)
            now = time.monotonic()
            if answer and (answer.reason or now < answer.at + self.look_again):
                return answer.reason
            if now < self._unheard_until:
                return None
            reason = await self._looked_up(workspace, document)
            self._versions[key] = _Known(reason, time.monotonic())
            self._versions.move_to_end(key)
            if len(self._versions) > KNOWN:
                self._versions.popitem(last=False)
        if reason:
            logger.info(
                "work is dropped", document=document.id, version=document.version, why=reason
            )
        return reason

    async def newer_chunks(self, workspace: str, document: DocumentVersion) -> list[ChunksCreated]:
        """See `DocumentVersions.newer_chunks`."""
        addition = await self.log.newest(
            workspace, document.id, DocumentAdded.type_name(), exact=False
        )
        if addition is None or addition.sequence <= document.version:
            return []
        deletion = await self.log.newest(
            workspace, document.id, DocumentDeleted.type_name(), exact=False
        )
        if deletion and deletion.sequence > addition.sequence:
            return []
        newest_version = document.version
        parts = list[ChunksCreated]()
        kind = ChunksCreated.type_name()
        # The last event need not be of the newest version: chunkers overtake each other.
        async with aclosing(
            self.log.history(workspace, document.id, kind, document.version)
        ) as history:
            async for message in history:
                if (version := _version(message)) > newest_version:
                    newest_version = version
                    parts = []
                if version == newest_version > document.version:
                    event = decode(message.data, message.subject, message.headers).data
                    parts += [event] if isinstance(event, ChunksCreated) else []
        return parts

    async def _looked_up(self, workspace: str, document: DocumentVersion) -> Obsolete | None:
        try:
            async with asyncio.timeout(PATIENCE):
                return await self._read(workspace, document)
        except (Unavailable, TimeoutError) as error:
            logger.warning("whether documents are still wanted is not known", error=str(error))
            self._unheard_until = time.monotonic() + UNHEARD
            return None

    async def _read(self, workspace: str, document: DocumentVersion) -> Obsolete | None:
        async def newest(kind: str) -> Message | None:
            message = await self.log.newest(workspace, document.id, kind, exact=False)
            return message if message and message.sequence > document.version else None

        deletion, stop_message, addition = await asyncio.gather(
            *(
                newest(event.type_name())
                for event in (DocumentDeleted, DocumentCancelled, DocumentAdded)
            )
        )
        if deletion:
            return "deleted"
        if stop_message and _version(stop_message) >= document.version:
            return "cancelled"
        # A newer text that cannot be cut replaces nothing, so its chunks are what counts.
        if not addition or not (chunks := await newest(ChunksCreated.type_name())):
            return None
        return "superseded" if _version(chunks) > document.version else None


def _version(message: Message) -> int:
    """Return the document version that a ChunksCreated or cancellation event names; 0 where that
    cannot be read.
    """
    try:
        event = decode(message.data, message.subject, message.headers).data
    except (Poison, NewerVersion):
        return 0
    return event.document.version if isinstance(event, ChunksCreated | DocumentCancelled) else 0
