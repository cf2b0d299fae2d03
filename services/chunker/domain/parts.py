"""Chunks to events: parts that stay below an event's size, made one by one."""

from collections import deque
from collections.abc import Iterable, Iterator

from contracts.events import ChunksCreated
from contracts.values import Chunk, DocumentVersion
from runtime.batching import batched_by_bytes

HELD_BACK = 4
"""Parts up to which each one says how many there are. Of more parts the first are out before the last is cut."""


def split_into_parts(chunks: Iterable[Chunk], limit: int) -> Iterator[list[Chunk]]:
    """Yield the chunks in lists that as JSON stay under `limit` bytes, at least one chunk in each."""
    return batched_by_bytes(chunks, lambda chunk: len(chunk.model_dump_json().encode()) + 1, max_bytes=limit)


def chunks_created_events(document: DocumentVersion, runs: Iterable[list[Chunk]]) -> Iterator[ChunksCreated]:
    """An event per run; the last few, and so all of a small document, say how many parts and chunks there are."""
    held: deque[list[Chunk]] = deque()
    part, count = 0, 0
    for run in runs:
        held.append(run)
        count += len(run)
        if len(held) > HELD_BACK:
            yield ChunksCreated(document=document, part=part, chunks=tuple(held.popleft()))
            part += 1
    total = part + len(held)
    for run in held:
        yield ChunksCreated(document=document, part=part, parts=total, chunk_count=count, chunks=tuple(run))
        part += 1
