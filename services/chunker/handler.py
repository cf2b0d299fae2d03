"""Handles DocumentAdded: cuts the document into chunks, returns ChunksCreated events while it is
still cutting.
"""

import asyncio
import codecs
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from pydantic import ValidationError

from contracts.chunking import OWN_CHUNKERS, Chunking
from contracts.events import DocumentAdded, Event
from contracts.graph import Generations
from contracts.text import INLINE_LIMIT, MAX_TEXT_BYTES
from contracts.values import Chunk, CustomKnowledge
from runtime.bus.port import ALL_WANTED, Blobs, Delivery, DocumentVersions, version_added
from runtime.errors import Poison
from runtime.text.ballast import LeftOut
from services.chunker.cut_by_meaning import cut_by_meaning
from services.chunker.cut_by_plugin import cut_by_plugin
from services.chunker.domain import custom_knowledge, document
from services.chunker.domain.defaults import ChunkingDefaults
from services.chunker.domain.figures import FigureLimits, FiguresToDescribe
from services.chunker.domain.parts import chunks_created_events, split_into_parts
from services.chunker.port import Cutters


class DocumentLimits(NamedTuple):
    """The most that one document may have: bytes of its text in UTF-8, chunks, and figures that
    are described; None where no figures are.
    """

    max_bytes: int
    max_chunks: int = document.MAX_CHUNKS
    figures: FigureLimits | None = None


async def on_document_added(
    delivery: Delivery[DocumentAdded],
    _: Generations,
    *,
    blobs: Blobs,
    cutters: Cutters,
    chunking: ChunkingDefaults,
    limits: DocumentLimits,
    versions: DocumentVersions = ALL_WANTED,
) -> AsyncGenerator[Event]:
    """Cut the document into chunks, unless it is deleted or cancelled. `chunking` holds for what it
    does not say itself; its figures are listed to be described, where `limits` has any.

    A version that a newer one has replaced is cut all the same: the projections need its number of
    chunks to remove those that the newer version no longer has. Raises Poison, here or from the
    generator before its first event, for a text that is empty, too long, makes too many chunks, or
    cannot be cut with the document's settings or by the plugin that they name.
    """
    event = delivery.event
    tokens = cutters.tokens
    version = version_added(delivery, delivery.event)
    if await versions.obsolete(delivery.workspace, version) in ("deleted", "cancelled"):
        return _cut_in_thread(())
    document_chunking = _document_chunking(event, delivery.workspace, chunking)
    if knowledge := await _knowledge(event, blobs):
        _check_chunk_count(len(knowledge.chunks), limits.max_chunks)
        chunks = custom_knowledge.chunks(
            event.document_id, knowledge, tokens, document_chunking.size or 1
        )
        return _cut_in_thread(
            chunks_created_events(version, split_into_parts(chunks, INLINE_LIMIT))
        )
    _check_size(event.blob.size if event.blob else 0, limits.max_bytes)
    parts = await blobs.parts(event.blob) if event.blob else [(event.text or "").encode()]
    _check_size(sum(map(len, parts)), limits.max_bytes)  # the size in a reference may be too small
    source = document.Source(
        lambda: _decode(parts), event.pages, event.figures, sum(map(len, parts))
    )
    figures = FiguresToDescribe.within(event.figures, limits.figures)
    left_out = LeftOut()
    text_warnings = left_out.sentences
    if document_chunking.chunker in (None, *OWN_CHUNKERS):
        chunks = _own_chunks(version.id, source, cutters, document_chunking, limits, left_out)
    else:
        cut = await cut_by_plugin(source, cutters, document_chunking, limits.max_chunks)
        text_warnings = partial(cut.warnings, left_out)
        chunks = document.chunks(version.id, source, tokens, document_chunking, left_out, cut.spans)
    runs = split_into_parts(figures.passing(chunks), INLINE_LIMIT)
    return _cut_in_thread(
        chunks_created_events(
            version, runs, lambda: (*text_warnings(), *figures.warnings()), figures
        )
    )


def _own_chunks(
    document_id: str,
    source: document.Source,
    cutters: Cutters,
    chunking: Chunking,
    limits: DocumentLimits,
    left_out: LeftOut,
) -> Iterator[Chunk]:
    """Yield the chunks of a text that needs no plugin, once it is known that they are not too
    many.
    """
    tokens = cutters.tokens
    cut = cut_by_meaning(cutters, chunking)
    document.check_chunk_count(limits.max_chunks, source, tokens, chunking, cut)
    yield from document.chunks(document_id, source, tokens, chunking, left_out, cut)


def _document_chunking(
    event: DocumentAdded, workspace: str, defaults: ChunkingDefaults
) -> Chunking:
    """Return how the document is cut. Raises Poison for what does not go together."""
    try:
        return defaults.of(workspace, event.chunking)
    except ValidationError as error:
        reasons = "; ".join(fault["msg"] for fault in error.errors())
        raise Poison(
            f"the document's `chunking` does not go with the service's settings: {reasons}"
        ) from None
    except ValueError as error:
        raise Poison(f"the document's `chunking` cannot be used: {error}") from None


async def _knowledge(event: DocumentAdded, blobs: Blobs) -> CustomKnowledge | None:
    """Return the knowledge that the document is instead of a text, from beside the log where it is
    long.

    Raises Poison for what is no knowledge.
    """
    if event.blob is None or event.blob_kind == "text":
        return event.knowledge
    _check_size(event.blob.size, MAX_TEXT_BYTES)
    data = b"".join(await blobs.parts(event.blob))
    try:
        return await asyncio.to_thread(CustomKnowledge.model_validate_json, data)
    except ValidationError as error:
        reasons = "; ".join(fault["msg"] for fault in error.errors(include_input=False))
        raise Poison(f"the document's knowledge cannot be read: {reasons:.500}") from None


async def _cut_in_thread(events: Iterable[Event]) -> AsyncGenerator[Event]:
    """Yield the events, each made in a thread, so that other tasks and heartbeats go on
    meanwhile.
    """
    iterator = iter(events)
    while (event := await asyncio.to_thread(next, iterator, None)) is not None:
        yield event


def _decode(parts: Sequence[bytes]) -> Iterator[str]:
    """Yield the text in pieces: as one string, a single emoji would make it take four bytes per
    character.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for part in parts:
        yield decoder.decode(part)
    yield decoder.decode(b"", final=True)


def _check_chunk_count(count: int, limit: int) -> None:
    if count > limit:
        raise Poison(
            f"the knowledge has {count:,} chunks, at most {limit:,} are taken: split the document"
        )


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise Poison(
            f"the text has {size:,} bytes, at most {limit:,} are taken: split the document"
        )
