"""What each `Idempotency-Key` was used for: a value of the bus for each, for a day.

A key is claimed before anything is published, so another request with it is refused whenever it
comes. A repetition finds in the log what the first one added, however soon the log forgets ids.
What stood there already then is noted with the key: of that nothing in the log says so.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from contracts.subjects import token
from publishing.documents import Added
from runtime.bus.port import SharedValues
from runtime.errors import InvalidInput

Add = Callable[[bool], Awaitable[list[Added]]]
"""Adds the documents of a request, and is told whether somebody may have begun to do so before."""


@dataclass(frozen=True)
class RequestRecord:
    """What a key was used for: `request` says which request, `documents` where its documents stand,
    None where the log says so.
    """

    request: str
    documents: Sequence[Added] | None = None

    def encoded(self) -> bytes:
        """Return the value that stands on the bus."""
        return json.dumps({"request": self.request, "documents": self.documents}).encode()

    @classmethod
    def decoded(cls, value: bytes) -> "RequestRecord":
        """Return the record that a value of the bus is."""
        fields = json.loads(value)
        documents = fields["documents"]
        added_documents = (
            None if documents is None else [Added(*document) for document in documents]
        )
        return cls(fields["request"], added_documents)


@dataclass(frozen=True)
class RequestRecords:
    """Reads and writes what keys were used for."""

    values: SharedValues

    async def once(self, workspace: str, key: str, request: str, add: Add) -> list[Added]:
        """Return what the request with this key added, and add it where nobody has.

        `key`: the hash of the key, `request`: its track id, which differs with its content. Raises
        InvalidInput for a key of another request, Unavailable, and what `add` raises: a repetition
        goes on from there.
        """
        place = f"{token(workspace)}.{key}"
        claim = RequestRecord(request).encoded()
        if await self.values.write(place, claim, 0):
            added_documents = await add(False)
        else:
            record, _ = await self._read(place)
            if record and record.request != request:
                raise InvalidInput(
                    "this Idempotency-Key was used with another request: choose a new one for each"
                )
            if record and record.documents is not None:
                return list(record.documents)
            added_documents = await add(True)
        if all(document.track_id == request for document in added_documents):
            return added_documents
        return await self._noted(place, RequestRecord(request, added_documents))

    async def _noted(self, place: str, record: RequestRecord) -> list[Added]:
        """Note what stood there already when a request came; return what somebody noted first."""
        assert record.documents is not None
        earlier_record, revision = await self._read(place)
        if earlier_record and earlier_record.documents is not None:
            return list(earlier_record.documents)
        await self.values.write(place, record.encoded(), revision)
        return list(record.documents)

    async def _read(self, place: str) -> tuple[RequestRecord | None, int]:
        value, revision = await self.values.read(place)
        return (RequestRecord.decoded(value) if value else None), revision
