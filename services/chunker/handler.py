"""DocumentAdded in, ChunksCreated out, the first ones while the rest is still being cut."""

import asyncio
import codecs
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence

from pydantic import ValidationError

from contracts.events import ChunksCreated, DocumentAdded, Event
from contracts.graph import Generations
from contracts.text import INLINE_LIMIT
from contracts.values import Chunk, Chunking
from runtime.bus.port import ALL_WANTED, Blobs, Delivery, DocumentVersions, version_added
from runtime.errors import Poison
from services.chunker.domain import custom_knowledge, document
from services.chunker.domain.parts import chunks_created_events, split_into_parts
from services.chunker.domain.passages import TokenCodec


async def on_document_added(
    delivery: Delivery[DocumentAdded],
    _: Generations,
    *,
    blobs: Blobs,
    tokens: TokenCodec,
    chunking: Chunking,
    max_bytes: int,
    max_chunks: int = document.MAX_CHUNKS,
    versions: DocumentVersions = ALL_WANTED,
) -> AsyncGenerator[Event]:
    """Cut the document, unless it is deleted or cancelled; `chunking` is how, where the document itself does not say.

    A superseded version is cut all the same: where it ends tells the projections what to look for behind the end of
    the next one.
    Raises Poison for a text that is empty, too long, makes too many chunks, or cannot be cut as it asks; the generator
    does too, before its first event.
    """
    event, version = delivery.event, version_added(delivery, delivery.event)
    if await versions.obsolete(delivery.workspace, version) in ("deleted", "cancelled"):
        return _cut_in_thread(())
    try:
        how = event.chunking.over(chunking).bounded() if event.chunking else chunking
    except ValidationError as error:
        reasons = "; ".join(fault["msg"] for fault in error.errors())
        raise Poison(f"the document's `chunking` does not go with the service's settings: {reasons}") from None
    except ValueError as error:
        raise Poison(f"the document's `chunking` cannot be used: {error}") from None
    if event.knowledge:
        known = custom_knowledge.chunks(event.document_id, event.knowledge, tokens, how.size or 1)
        return _cut_in_thread(chunks_created_events(version, split_into_parts(known, INLINE_LIMIT)))
    _check_size(event.blob.size if event.blob else 0, max_bytes)
    raw = await blobs.parts(event.blob) if event.blob else [(event.text or "").encode()]
    _check_size(sum(map(len, raw)), max_bytes)  # a reference may understate
    chunks = _chunks(event, raw, tokens, how, max_chunks)
    return _cut_in_thread(chunks_created_events(version, split_into_parts(chunks, INLINE_LIMIT)))


async def _cut_in_thread(events: Iterable[ChunksCreated]) -> AsyncGenerator[Event]:
    """Each event is cut in a thread: others go on meanwhile, heartbeats above all."""
    left = iter(events)
    while (event := await asyncio.to_thread(next, left, None)) is not None:
        yield event


def _chunks(
    event: DocumentAdded, raw: Sequence[bytes], tokens: TokenCodec, how: Chunking, max_chunks: int
) -> Iterator[Chunk]:
    document.check_chunk_count(max_chunks, lambda: _decoded(raw), tokens, how, sum(map(len, raw)))
    yield from document.chunks(event.document_id, lambda: _decoded(raw), tokens, how, event.pages)


def _decoded(parts: Sequence[bytes]) -> Iterator[str]:
    """The text piece by piece: whole, one emoji makes it take four bytes for each character."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for part in parts:
        yield decoder.decode(part)
    yield decoder.decode(b"", final=True)


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise Poison(f"the text has {size:,} bytes, at most {limit:,} are taken: split the document")
