"""Handles FiguresListed: has each figure described, which becomes a chunk of its document."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from contracts.events import (
    ChunksCreated,
    Event,
    FigureDescribed,
    FiguresListed,
    ListedFigure,
    StageFailed,
)
from contracts.graph import Generations
from runtime.bus.port import ALL_WANTED, BUG_ATTEMPTS, Blobs, Delivery, DocumentVersions
from runtime.errors import NotWanted, Poison, Retryable, longest_wait
from runtime.models.call_scope import calls_for
from services.chunker.domain.figures import description_key, figure_chunk
from services.chunker.domain.spans import TokenCodec
from services.chunker.port import Describer, Description, Descriptions

FIGURES_AT_ONCE = 4
"""Figures of one document whose pictures are in memory at once."""


@dataclass(frozen=True)
class FigureDependencies:
    """Where pictures stand, who describes them, and what was described before; `clock` returns
    seconds, for durations.
    """

    blobs: Blobs
    describer: Describer
    descriptions: Descriptions
    tokens: TokenCodec
    clock: Callable[[], float]


async def on_figures_listed(
    delivery: Delivery[FiguresListed],
    _: Generations,
    *,
    dependencies: FigureDependencies | None,
    versions: DocumentVersions = ALL_WANTED,
) -> list[Event]:
    """Return a FigureDescribed and a ChunksCreated for each figure of a document that is still
    wanted.

    A figure that raises Poison, or an unexpected error too often, gives a StageFailed, and so does
    each without `dependencies`: nobody describes figures then. Raises Retryable, with the events of
    all other figures, if one has to be tried again.
    """

    async def is_wanted() -> bool:
        return await versions.obsolete(delivery.workspace, delivery.event.document) is None

    if not await is_wanted():
        return []
    turns = asyncio.Semaphore(FIGURES_AT_ONCE)

    async def describe(listed_figure: ListedFigure) -> FigureDescribed:
        if dependencies is None:
            raise Poison("no model describes figures: set VLM_LLM_MODEL, then try it again")
        async with turns:
            return await _describe(delivery, listed_figure, dependencies)

    with calls_for(delivery.workspace, is_wanted):
        results = await asyncio.gather(
            *map(describe, delivery.event.figures), return_exceptions=True
        )
    events, retryables = _sorted_out(delivery, results, dependencies)
    if retryables:
        raise longest_wait(retryables, events)
    return events


def _sorted_out(
    delivery: Delivery[FiguresListed],
    results: Sequence[FigureDescribed | BaseException],
    dependencies: FigureDependencies | None,
) -> tuple[list[Event], list[Retryable]]:
    """Return the events of the figures that are done with, and the errors of those that are to be
    tried again. Raises unexpected errors.
    """
    events: list[Event] = []
    retryables: list[Retryable] = []
    for listed_figure, result in zip(delivery.event.figures, results, strict=True):
        if isinstance(result, FigureDescribed) and dependencies:
            events += [result, _chunk(delivery.event, listed_figure, result, dependencies.tokens)]
        elif isinstance(result, NotWanted):
            continue
        elif isinstance(result, Retryable):
            retryables.append(result)
        elif isinstance(result, Exception) and (
            isinstance(result, Poison) or delivery.bugs + 1 >= BUG_ATTEMPTS
        ):
            events.append(_stage_failed(delivery, listed_figure, result))
        elif isinstance(result, BaseException):
            raise result
    return events, retryables


async def _describe(
    delivery: Delivery[FiguresListed],
    listed_figure: ListedFigure,
    dependencies: FigureDependencies,
) -> FigureDescribed:
    figure = listed_figure.figure
    describer = dependencies.describer
    key = description_key(describer.model, describer.prompt_version, figure)
    payer = f"{delivery.event.document.version}/{listed_figure.chunk.id}"

    async def ask() -> Description:
        picture = b"".join(await dependencies.blobs.parts(figure.blob))
        return replace(await describer.describe(figure, picture), payer=payer)

    started_at = dependencies.clock()
    description, _ = await dependencies.descriptions.once(delivery.workspace, key, ask)
    return FigureDescribed(
        document=delivery.event.document,
        number=figure.number,
        sha256=figure.sha256,
        chunk=listed_figure.chunk,
        text=description.text,
        model=describer.model,
        prompt_version=describer.prompt_version,
        cache_key=key,
        usage=description.usage,
        duration_ms=round((dependencies.clock() - started_at) * 1000),
        # An earlier attempt at this very event may have paid, and ended before it was published.
        cached=description.payer != payer,
    )


def _chunk(
    event: FiguresListed,
    listed_figure: ListedFigure,
    described: FigureDescribed,
    tokens: TokenCodec,
) -> ChunksCreated:
    """Return the figure's part of its document's chunks: the last chunk is the last part."""
    return ChunksCreated(
        document=event.document,
        part=event.parts - (event.chunk_count - listed_figure.chunk.order),
        parts=event.parts,
        chunk_count=event.chunk_count,
        text_count=event.text_count,
        chunks=(figure_chunk(listed_figure, described.text, tokens),),
    )


def _stage_failed(
    delivery: Delivery[FiguresListed], listed_figure: ListedFigure, error: Exception
) -> StageFailed:
    number = listed_figure.figure.number
    return StageFailed(
        stage="chunker",
        document_id=delivery.event.document.id,
        document=delivery.event.document,
        chunks=(listed_figure.chunk,),
        cause_type="FiguresListed",
        error_type=type(error).__name__,
        message=f"figure {number} is not described: {error}"[:2000],
        attempt=delivery.attempt,
        retry_may_help=not isinstance(error, Poison),
    )
