"""Texts into the log, each request under one track id, and once however often it is sent with the same key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from contracts.ids import UNKNOWN_SOURCE, canonical_name, sha256
from contracts.values import Chunking, Scalar
from runtime.bus.port import Blobs, Log
from runtime.bus.publisher import Added, add_document
from runtime.errors import InvalidInput
from runtime.parsing.names import validated_name
from services.query.event_source import SOURCE


@dataclass(frozen=True)
class Shelf:
    """Where the documents of one workspace go."""

    log: Log
    blobs: Blobs
    workspace: str


@dataclass(frozen=True)
class Track:
    """One request that adds documents."""

    id: str
    key: str = ""
    """What the ids of its events derive from; empty when the caller named no key."""

    @classmethod
    def of(cls, kind: str, key: str | None = None, body: str = "") -> "Track":
        """`kind` is `insert`, `upload` or `scan`. With a key, the id is a function of key and body.

        Without one it is LightRAG's form, of the time and a random part.
        """
        if not key:
            return cls(f"{kind}_{datetime.now(UTC):%Y%m%d_%H%M%S}_{uuid4().hex[:8]}")
        hashed = sha256(key)[:32]
        return cls(f"{kind}_{hashed}_{sha256(body)[:16]}", hashed)


@dataclass(frozen=True)
class Text:
    """A document to be added."""

    text: str
    name: str = UNKNOWN_SOURCE
    """What answers cite; its base name makes the id."""
    id: str | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    pages: Sequence[int] = ()
    chunking: Chunking | None = None


async def add_texts(shelf: Shelf, track: Track, texts: Sequence[Text]) -> list[Added]:
    """Publish each text under its base name. Raises what `add_one` raises, with what came before it added.

    Nothing is added when one of the names is none.
    """
    for text in texts:
        validated_name(text.name)
    return [await add_one(shelf, track, text, number) for number, text in enumerate(texts)]


async def add_one(shelf: Shelf, track: Track, text: Text, number: int = 0) -> Added:
    """Publish one text of a request, the `number`-th.

    Raises InvalidInput for what `add_document` refuses, and for a key that another request has used; `Unavailable`
    when the log does not take it.
    """
    name = text.name if text.id else canonical_name(text.name)
    added = await add_document(
        shelf.log,
        shelf.blobs,
        workspace=shelf.workspace,
        text=text.text,
        file_path=name or UNKNOWN_SOURCE,
        id=text.id,
        track_id=track.id,
        metadata=text.metadata,
        chunking=text.chunking,
        pages=text.pages,
        key=f"{track.key}/{number}" if track.key else "",
        source=SOURCE,
    )
    if track.key and added.track_id != track.id and f"_{track.key}_" in added.track_id:
        raise InvalidInput("this Idempotency-Key was used with another request: choose a new one for each")
    return added
