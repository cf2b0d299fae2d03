"""Chunks to events: parts that stay below an event's size, made one by one."""

from collections import deque
from collections.abc import Iterable, Iterator

from contracts.events import ChunksCreated
from contracts.values import Chunk, DocumentVersion

FEW = 4
"""Parts up to which each one says how many there are. Of more parts the first are out before the last is cut."""


def parts(chunks: Iterable[Chunk], limit: int) -> Iterator[list[Chunk]]:
    """The chunks in runs that as JSON stay under `limit` bytes, at least one chunk in each."""
    run: list[Chunk] = []
    room = limit
    for chunk in chunks:
        size = len(chunk.model_dump_json().encode()) + 1
        if run and size > room:
            yield run
            run, room = [], limit
        run.append(chunk)
        room -= size
    if run:
        yield run


def facts(document: DocumentVersion, runs: Iterable[list[Chunk]]) -> Iterator[ChunksCreated]:
    """An event per run; the last few, and so all of a small document, say how many parts and chunks there are."""
    held: deque[list[Chunk]] = deque()
    part, count = 0, 0
    for run in runs:
        held.append(run)
        count += len(run)
        if len(held) > FEW:
            yield ChunksCreated(document=document, part=part, chunks=tuple(held.popleft()))
            part += 1
    total = part + len(held)
    for run in held:
        yield ChunksCreated(document=document, part=part, parts=total, chunk_count=count, chunks=tuple(run))
        part += 1
