"""Turns chunks into ChunksCreated events, one by one, each below the size limit of an event."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from contracts.events import ChunksCreated, FiguresListed
from contracts.values import Chunk, DocumentVersion, document_warnings
from runtime.batching import batched_by_bytes
from services.chunker.domain.figures import DocumentExtent, FiguresToDescribe

HELD_BACK = 4
"""Parts at the end of a document that name the number of parts; earlier ones are published before
it is known.
"""


def split_into_parts(chunks: Iterable[Chunk], limit: int) -> Iterator[list[Chunk]]:
    """Yield the chunks in lists that as JSON stay under `limit` bytes, at least one chunk in
    each.
    """
    return batched_by_bytes(
        chunks, lambda chunk: len(chunk.model_dump_json().encode()) + 1, max_bytes=limit
    )


def no_warnings() -> tuple[str, ...]:
    """Return the warnings about a text of which nothing is left out."""
    return ()


def chunks_created_events(
    document: DocumentVersion,
    runs: Iterable[list[Chunk]],
    warnings: Callable[[], Sequence[str]] = no_warnings,
    figures: FiguresToDescribe | None = None,
) -> Iterator[ChunksCreated | FiguresListed]:
    """Yield one event per run, and one for the figures that are to be described. The last
    `HELD_BACK` runs name the number of parts and of chunks, those of figures among them.

    The very last has the warnings, which are asked for once all chunks are there.
    """
    last_runs: deque[list[Chunk]] = deque()
    figure_count = len(figures.figures) if figures else 0
    part = 0
    count = 0
    for run in runs:
        last_runs.append(run)
        count += len(run)
        if len(last_runs) > HELD_BACK:
            yield ChunksCreated(document=document, part=part, chunks=tuple(last_runs.popleft()))
            part += 1
    last_part = part + len(last_runs) - 1
    total = last_part + 1 + figure_count
    text_count = count
    count += figure_count
    for run in last_runs:
        yield ChunksCreated(
            document=document,
            part=part,
            parts=total,
            chunk_count=count,
            text_count=text_count if figure_count else None,
            chunks=tuple(run),
            warnings=document_warnings(warnings()) if part == last_part else (),
        )
        part += 1
    if figures and figure_count:
        yield figures.listed(document, DocumentExtent(total, count, text_count))
