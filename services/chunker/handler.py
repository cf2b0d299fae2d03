"""DocumentAdded in, ChunksCreated out."""

import asyncio

from contracts.events import ChunksCreated, DocumentAdded
from contracts.graph import Generations
from contracts.text import INLINE_LIMIT, sanitize
from runtime.bus.port import Blobs, Delivery, version_added
from runtime.errors import Poison
from services.chunker.domain import Tokens, parts, windows


async def on_document_added(
    delivery: Delivery[DocumentAdded],
    _: Generations,
    *,
    blobs: Blobs,
    tokens: Tokens,
    size: int,
    overlap: int,
    max_bytes: int,
) -> list[ChunksCreated]:
    """Cut the document. Raises Poison for a text that is empty, too long, or cannot be cut as it asks."""
    event = delivery.event
    _check_size(event.blob.size if event.blob else 0, max_bytes)
    raw = await blobs.get(event.blob) if event.blob else event.text or ""
    _check_size(len(raw.encode()), max_bytes)  # a reference may understate
    text = sanitize(raw)
    if not text:
        raise Poison("the text is empty once control characters and blanks are gone")
    if event.chunking:
        size = event.chunking.size or size
        overlap = overlap if event.chunking.overlap is None else event.chunking.overlap
    if overlap >= size:
        raise Poison(f"overlap {overlap} must be smaller than size {size}")
    chunks = await asyncio.to_thread(lambda: list(windows(event.document_id, text, tokens, size=size, overlap=overlap)))
    document = version_added(delivery, event)
    runs = parts(chunks, INLINE_LIMIT)
    return [
        ChunksCreated(document=document, part=part, parts=len(runs), chunk_count=len(chunks), chunks=tuple(run))
        for part, run in enumerate(runs)
    ]


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise Poison(f"the text has {size:,} bytes, at most {limit:,} are taken: split the document")
