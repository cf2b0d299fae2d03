"""What the chunker would make of a text and of figures, for estimates and commands; the service
itself cuts in `handler`.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from contracts.chunking import OWN_CHUNKERS, Chunking
from contracts.events import ChunksCreated, FigureDescribed, FiguresListed
from contracts.values import Chunk, Figure
from runtime.models.roles import VISION, language_model
from runtime.models.sentence_vectors import sentence_vector
from runtime.plugins.chunking import InstalledChunkers
from services.chunker.cut_by_meaning import cut_by_meaning
from services.chunker.cut_by_plugin import cut_by_plugin
from services.chunker.domain import document
from services.chunker.domain.figures import (
    DocumentExtent,
    FigureLimits,
    FiguresToDescribe,
    description_key,
)
from services.chunker.domain.prompt import prompt_version, system_prompt, user_prompt
from services.chunker.domain.spans import TokenCodec
from services.chunker.port import Cutters
from services.chunker.settings import ChunkerSettings


async def cut(text: str, tokens: TokenCodec, chunking: Chunking) -> Sequence[Chunk]:
    """Return the chunks of a text that is cut so. Raises Poison for an empty one, and for a chunker
    that is not there or fails.
    """
    source = document.Source(lambda: [text])
    cutters = Cutters(tokens, InstalledChunkers(), sentence_vector)
    cut_spans = cut_by_meaning(cutters, chunking)
    if chunking.chunker not in (None, *OWN_CHUNKERS):
        plugin_cut = await cut_by_plugin(source, cutters, chunking, document.MAX_CHUNKS)
        cut_spans = plugin_cut.spans
    chunks = document.chunks("", source, tokens, chunking, cut=cut_spans)
    return await asyncio.to_thread(list, chunks)


def description_prompt_tokens(language: str, caption: str, count: Callable[[str], int]) -> int:
    """Return how many tokens of text a model reads that describes a figure."""
    return count(system_prompt(language)) + count(user_prompt(caption))


def list_later(
    figures: Sequence[Figure],
    parts: Sequence[ChunksCreated],
    listings: Iterable[FiguresListed],
    limits: FigureLimits,
) -> FiguresListed | None:
    """Return the event that has the figures of a document described which no listing has yet; None
    where there are none, or the text is still being cut.

    `parts` and `listings` are those of the document's newest version.
    """
    chunk_count = max((part.chunk_count or 0 for part in parts), default=0)
    text_count = next((part.text_count for part in parts if part.text_count), chunk_count)
    part_count = max((part.parts or 0 for part in parts), default=0)
    listed_numbers: set[int] = set()
    for listing in listings:
        listed_numbers |= {listed_figure.figure.number for listed_figure in listing.figures}
        chunk_count = max(chunk_count, listing.chunk_count)
        part_count = max(part_count, listing.parts)
    waiting_figures = FiguresToDescribe.within(
        [figure for figure in figures if figure.number not in listed_numbers],
        limits._replace(max_figures=max(0, limits.max_figures - len(listed_numbers))),
    )
    if not chunk_count or not waiting_figures.figures:
        return None
    for part in parts:
        for _ in waiting_figures.passing(part.chunks):
            pass
    count = len(waiting_figures)
    extent = DocumentExtent(part_count + count, chunk_count + count, text_count)
    return waiting_figures.listed(parts[0].document, extent)


def figures_by_others(
    figures: Sequence[Figure],
    descriptions: Iterable[FigureDescribed],
    settings: ChunkerSettings,
) -> list[Figure]:
    """Return the figures of a document that would be paid for if all were described now; none where
    no other model, prompt or language has described one of them before.

    `descriptions` are about the document's newest version, in the order of the log.
    """
    model = language_model(settings, VISION)
    if model is None:
        return []
    version = prompt_version(settings.summary_language)
    former_keys = {event.number: event.cache_key for event in descriptions}
    changed_figures = [
        figure
        for figure in FiguresToDescribe.within(figures, settings.figure_limits).figures
        if former_keys.get(figure.number) != description_key(model.model, version, figure)
    ]
    is_outdated = any(figure.number in former_keys for figure in changed_figures)
    return changed_figures if is_outdated else []
