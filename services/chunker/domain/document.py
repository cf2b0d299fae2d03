"""A document's text to its chunks, in one go over the text and without ever holding all of it."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

from contracts.ids import chunk_id
from contracts.text import sanitized
from contracts.values import Chunk, Chunking
from runtime.errors import Poison
from services.chunker.domain.headings import Outline
from services.chunker.domain.passages import Passage, Tokens
from services.chunker.domain.recursive import recursive
from services.chunker.domain.windows import by_character, windows

MOST_CHUNKS = 20_000
"""Chunks of a document where nothing else is said: the longest text, in chunks of the usual size, has fewer."""

Texts = Callable[[], Iterable[str]]
"""Gives the text as it was published, in pieces, from its beginning at each call."""


def chunks(document_id: str, texts: Texts, tokens: Tokens, how: Chunking, pages: Sequence[int] = ()) -> Iterator[Chunk]:
    """The chunks of the sanitised text. `how` says size and overlap; `pages` are places in the text as published.

    Raises Poison for a text without chunks, and before the first chunk for one that `how` forbids to cut.
    """
    if how.split_by_character_only:
        for _ in passages((text for text, _ in sanitized(texts())), tokens, how):
            pass
    outline = Outline()
    begun: list[int] = []

    def clean() -> Iterator[str]:
        for text, marks in sanitized(texts(), pages):
            begun.extend(marks)
            yield text

    order = 0
    for found in passages(outline.read(clean()), tokens, how):
        yield Chunk(
            id=chunk_id(document_id, order),
            order=order,
            tokens=found.tokens,
            content=found.content,
            headings=outline.at(found.start),
            start=found.start,
            end=found.end,
            page=bisect_right(begun, found.start) or None,
        )
        order += 1
    if not order:
        what = f" and {how.split_by_character!r}" if how.split_by_character else ""
        raise Poison(f"the text is empty once control characters and blanks{what} are gone")


def refuse_more(most: int, texts: Texts, tokens: Tokens, how: Chunking, size: int) -> None:
    """Raise Poison for a text of `size` bytes that makes more than `most` chunks, before any of them is made.

    Most texts are so short that they cannot; only of others the chunks are counted first.
    """
    if _at_most(size, how) <= most:
        return
    found = passages((text for text, _ in sanitized(texts())), tokens, how)
    for count, _ in enumerate(found, 1):
        if count > most:
            raise Poison(
                f"the text makes more than {most:,} chunks of {how.size} tokens: choose larger chunks (`chunking` of "
                "the document, CHUNK_SIZE), split the document, or raise MAX_CHUNKS_PER_DOCUMENT"
            )


def _at_most(size: int, how: Chunking) -> int:
    """Chunks that a text of so many bytes makes at most; a token has at least one byte."""
    stride = max(1, (how.size or 1) - (how.overlap or 0))
    if how.split_by_character is not None:
        return size
    # At separators two neighbours together are longer than one stride, and one may be halved.
    return 1 + (4 if how.strategy == "recursive" else 1) * -(-size // stride)


def passages(texts: Iterable[str], tokens: Tokens, how: Chunking) -> Iterator[Passage]:
    """The passages of a sanitised text."""
    size, overlap = how.size or 1, how.overlap or 0
    if how.split_by_character is not None:
        only = how.split_by_character_only
        return by_character(texts, tokens, size, overlap, how.split_by_character, only=only)
    if how.strategy == "recursive":
        return recursive(texts, tokens, size, overlap)
    return windows(texts, tokens, size, overlap)
