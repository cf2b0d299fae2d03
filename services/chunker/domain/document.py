"""Cuts a document's text into chunks in a single pass, without keeping all of the text in
memory.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from contracts.chunking import Chunking
from contracts.ids import chunk_id
from contracts.text import cleaned
from contracts.values import Chunk, Figure, FigureRef
from runtime.errors import Poison
from runtime.text.ballast import LeftOut, without_ballast
from runtime.text.table_headers import MOST_GROWTH, with_repeated_headers
from services.chunker.domain.headings import Outline
from services.chunker.domain.paragraphs import split_by_paragraphs
from services.chunker.domain.recursive import split_recursively
from services.chunker.domain.spans import Span, TokenCodec
from services.chunker.domain.windows import split_by_character, split_by_tokens

MAX_CHUNKS = 20_000
"""Chunks that a document may have by default; the longest text, in chunks of the default size, has
fewer.
"""

_NAME = re.compile(r"\[Figure (\d{1,3})(?=[\]:])")

ReadText = Callable[[], Iterable[str]]
"""Returns the text as it was published, in pieces, from its beginning at each call."""

Cut = Callable[[Iterable[str]], Iterator[Span]]
"""Returns the spans of a sanitised text, which it reads in pieces."""


class Source(NamedTuple):
    """The text of one document: how it is read, and at which characters of it as published its
    pages begin.
    """

    read: ReadText
    pages: Sequence[int] = ()
    figures: Sequence[Figure] = ()
    size: int = 0
    """Bytes of the text."""

    def sanitized(self, left_out: LeftOut | None = None) -> Iterator[tuple[str, list[int]]]:
        """Yield the sanitised text in pieces, with the pages that begin in each. `left_out` counts
        its binary data. Long tables repeat their header.
        """
        clean = without_ballast(cleaned(self.read(), self.pages), left_out or LeftOut())
        return with_repeated_headers(clean)

    def texts(self) -> Iterator[str]:
        """Yield the sanitised text in pieces."""
        return (text for text, _ in self.sanitized())


def chunks(
    document_id: str,
    source: Source,
    tokens: TokenCodec,
    chunking: Chunking,
    left_out: LeftOut | None = None,
    cut: Cut | None = None,
) -> Iterator[Chunk]:
    """Yield the chunks of the sanitised text, which has no binary data; `left_out` counts what was
    left out of it. `cut` cuts it in place of the strategy of `chunking`.

    Raises Poison for a text without chunks, and before the first chunk for one that `chunking`
    forbids to cut.
    """
    if chunking.split_by_character_only:
        for _ in spans(source.texts(), tokens, chunking):
            pass
    outline = Outline()
    page_starts: list[int] = []

    def clean() -> Iterator[str]:
        for text, offsets in source.sanitized(left_out):
            page_starts.extend(offsets)
            yield text

    order = 0
    cut = cut or (lambda texts: spans(texts, tokens, chunking))
    for span in cut(outline.read(clean())):
        yield Chunk(
            id=chunk_id(document_id, order),
            order=order,
            tokens=span.tokens,
            content=span.content,
            headings=outline.at(span.start),
            start=span.start,
            end=span.end,
            page=bisect_right(page_starts, span.start) or None,
            page_breaks=_page_breaks(page_starts, span),
            figures=figures_in(span.content, source.figures),
        )
        order += 1
    if not order:
        separator_note = (
            f" and {chunking.split_by_character!r}" if chunking.split_by_character else ""
        )
        raise Poison(
            "the text is empty once control characters, binary data and "
            f"blanks{separator_note} are gone"
        )


def _page_breaks(page_starts: Sequence[int], span: Span) -> tuple[int, ...]:
    """Return the characters of a span at which pages begin that it does not begin on; several are
    the same where a page is blank.
    """
    begin = bisect_right(page_starts, span.start)
    end = bisect_left(page_starts, span.end)
    # Those before the first page have none to go on from.
    return tuple(start - span.start for start in page_starts[max(begin, 1) : end])


def check_chunk_count(
    max_chunks: int,
    source: Source,
    tokens: TokenCodec,
    chunking: Chunking,
    cut: Cut | None = None,
) -> None:
    """Raise Poison for a text that makes more than `max_chunks` chunks; `cut` as in `chunks`.

    Chunks are counted only if a text of this size can make so many; no chunk is published before.
    """
    if _max_chunks(MOST_GROWTH * source.size, chunking) <= max_chunks:
        return
    cut = cut or (lambda texts: spans(texts, tokens, chunking))
    for count, _ in enumerate(cut(source.texts()), 1):
        if count > max_chunks:
            raise too_many_chunks(max_chunks, chunking)


def too_many_chunks(max_chunks: int, chunking: Chunking) -> Poison:
    """Return the error for a text that makes more chunks."""
    return Poison(
        f"the text makes more than {max_chunks:,} chunks of {chunking.size} tokens: "
        "choose larger chunks (`chunking` of the document, CHUNK_SIZE), "
        "split the document, or raise MAX_CHUNKS_PER_DOCUMENT"
    )


def _max_chunks(size: int, chunking: Chunking) -> int:
    """Return the most chunks that a text of `size` bytes can make; a token has at least one
    byte.
    """
    stride = max(1, (chunking.size or 1) - (chunking.overlap or 0))
    if chunking.split_by_character is not None:
        return size
    if chunking.chunker:
        # A chunk has a quarter of the size or goes before a long piece, and may be halved.
        return 1 + 8 * -(-size // stride)
    # At separators two neighbours together are longer than one stride, and one may be halved.
    return 1 + (4 if chunking.strategy == "recursive" else 1) * -(-size // stride)


def spans(texts: Iterable[str], tokens: TokenCodec, chunking: Chunking) -> Iterator[Span]:
    """Yield the spans of a sanitised text, by `paragraph` or a strategy."""
    size = chunking.size or 1
    overlap = chunking.overlap or 0
    if chunking.split_by_character is not None:
        only_character = chunking.split_by_character_only
        return split_by_character(
            texts, tokens, size, overlap, chunking.split_by_character, only_character=only_character
        )
    if chunking.chunker == "paragraph":
        return split_by_paragraphs(texts, tokens, size, overlap)
    if chunking.strategy == "recursive":
        return split_recursively(texts, tokens, size, overlap)
    return split_by_tokens(texts, tokens, size, overlap)


def figures_in(text: str, figures: Sequence[Figure]) -> tuple[FigureRef, ...]:
    """Return the figures that a text names, in their order there."""
    refs = {figure.number: figure.ref for figure in figures}
    numbers = dict.fromkeys(map(int, _NAME.findall(text)))
    return tuple(refs[number] for number in numbers if number in refs)
