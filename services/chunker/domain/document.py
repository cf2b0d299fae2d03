"""A document's text to its chunks, in one go over the text and without ever holding all of it."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence

from contracts.ids import chunk_id
from contracts.text import sanitized
from contracts.values import Chunk, Chunking
from runtime.errors import Poison
from services.chunker.domain.headings import Outline
from services.chunker.domain.passages import Passage, TokenCodec
from services.chunker.domain.recursive import split_recursively
from services.chunker.domain.windows import split_by_character, split_by_tokens

MAX_CHUNKS = 20_000
"""Chunks of a document where nothing else is said: the longest text, in chunks of the usual size, has fewer."""

ReadText = Callable[[], Iterable[str]]
"""Gives the text as it was published, in pieces, from its beginning at each call."""


def chunks(
    document_id: str, read_text: ReadText, tokens: TokenCodec, chunking: Chunking, pages: Sequence[int] = ()
) -> Iterator[Chunk]:
    """The chunks of the sanitised text. `how` says size and overlap; `pages` are places in the text as published.

    Raises Poison for a text without chunks, and before the first chunk for one that `how` forbids to cut.
    """
    if chunking.split_by_character_only:
        for _ in passages((text for text, _ in sanitized(read_text())), tokens, chunking):
            pass
    outline = Outline()
    begun: list[int] = []

    def clean() -> Iterator[str]:
        for text, marks in sanitized(read_text(), pages):
            begun.extend(marks)
            yield text

    order = 0
    for found in passages(outline.read(clean()), tokens, chunking):
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
        what = f" and {chunking.split_by_character!r}" if chunking.split_by_character else ""
        raise Poison(f"the text is empty once control characters and blanks{what} are gone")


def check_chunk_count(max_chunks: int, read_text: ReadText, tokens: TokenCodec, chunking: Chunking, size: int) -> None:
    """Raise Poison for a text of `size` bytes that makes more than `most` chunks, before any of them is made.

    Most texts are so short that they cannot; only of others the chunks are counted first.
    """
    if _max_chunks(size, chunking) <= max_chunks:
        return
    found = passages((text for text, _ in sanitized(read_text())), tokens, chunking)
    for count, _ in enumerate(found, 1):
        if count > max_chunks:
            raise Poison(
                f"the text makes more than {max_chunks:,} chunks of {chunking.size} tokens: choose larger "
                "chunks (`chunking` of the document, CHUNK_SIZE), split the document, or raise MAX_CHUNKS_PER_DOCUMENT"
            )


def _max_chunks(size: int, chunking: Chunking) -> int:
    """Chunks that a text of so many bytes makes at most; a token has at least one byte."""
    stride = max(1, (chunking.size or 1) - (chunking.overlap or 0))
    if chunking.split_by_character is not None:
        return size
    # At separators two neighbours together are longer than one stride, and one may be halved.
    return 1 + (4 if chunking.strategy == "recursive" else 1) * -(-size // stride)


def passages(texts: Iterable[str], tokens: TokenCodec, chunking: Chunking) -> Iterator[Passage]:
    """The passages of a sanitised text."""
    size, overlap = chunking.size or 1, chunking.overlap or 0
    if chunking.split_by_character is not None:
        only = chunking.split_by_character_only
        return split_by_character(texts, tokens, size, overlap, chunking.split_by_character, only=only)
    if chunking.strategy == "recursive":
        return split_recursively(texts, tokens, size, overlap)
    return split_by_tokens(texts, tokens, size, overlap)
