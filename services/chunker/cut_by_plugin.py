"""Has a chunker of another package cut a document."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from contracts.chunking import Chunking
from runtime.errors import InvalidInput, Poison
from runtime.text.ballast import LeftOut
from services.chunker.domain import document
from services.chunker.domain.plugin_spans import Offsets, plugin_spans, uncut_characters
from services.chunker.domain.spans import Span, TokenCodec
from services.chunker.port import Cutters


@dataclass(frozen=True)
class PluginCut:
    """What a chunker made of a text."""

    title: str
    ready_spans: Sequence[Span]
    uncut: int
    """Characters, without blanks, that are in no chunk."""

    def spans(self, texts: Iterable[str]) -> Iterator[Span]:
        """Yield the spans, once the text is read, which tells its headings and pages."""
        for _ in texts:
            pass
        yield from self.ready_spans

    def warnings(self, left_out: LeftOut) -> list[str]:
        """Return what was left out, also by the chunker, in sentences."""
        sentences = list(left_out.sentences())
        if self.uncut:
            sentences.append(f"{self.title} has left {self.uncut:,} characters out of the chunks")
        return sentences


async def cut_by_plugin(
    source: document.Source, cutters: Cutters, chunking: Chunking, max_chunks: int
) -> PluginCut:
    """Return the cut of the whole text, checked. Raises Poison where there is no such chunker,
    where it fails, and for what no chunks can be.
    """
    name = chunking.chunker or ""
    size = chunking.size or 1
    chunkers = cutters.plugins
    if chunkers is None:
        raise Poison(f"the chunker {name!r} cannot be used here")
    try:
        title = chunkers.title(name)
        text = await asyncio.to_thread(lambda: "".join(source.texts()))
        if not text.strip():
            return PluginCut(title, (), 0)
        offsets = await chunkers.cut(name, text, size, chunking.overlap or 0)
    except InvalidInput as error:
        raise Poison(str(error)) from None
    if len(offsets) > max_chunks:
        raise document.too_many_chunks(max_chunks, chunking)
    return await asyncio.to_thread(_checked, text, offsets, title, cutters.tokens, size)


def _checked(text: str, offsets: Offsets, title: str, tokens: TokenCodec, size: int) -> PluginCut:
    spans = list(plugin_spans(text, offsets, title, tokens, size))
    if not spans:
        raise Poison(f"{title} gives no chunk of a text of {len(text):,} characters")
    return PluginCut(title, spans, uncut_characters(text, spans))
