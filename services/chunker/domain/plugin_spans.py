"""Spans of a text from the offsets that a chunker of another package gives, once they are what they
have to be.
"""

from collections.abc import Iterable, Iterator, Sequence

from runtime.errors import Poison
from runtime.text.token_boundaries import pieces
from services.chunker.domain.spans import Span, TokenCodec, strip_span

MAX_REPETITION = 2
"""How many times a text its chunks may have together: overlaps repeat at most half of each."""

Offsets = Sequence[tuple[int, int]]


def plugin_spans(
    text: str, offsets: Offsets, title: str, tokens: TokenCodec, size: int
) -> Iterator[Span]:
    """Yield a span for each pair of offsets that has more than blanks between.

    Raises Poison, with the title of the chunker, for offsets that are not in the text or go back,
    for a chunk of more than `size` tokens, and for chunks that together repeat the text too often.
    """
    last_start = 0
    characters = 0
    for number, (start, end) in enumerate(offsets, start=1):
        place = f"{title} gives {start:,} to {end:,} as chunk {number:,}"
        if not 0 <= start < end <= len(text):
            raise Poison(f"{place}, which is no part of a text of {len(text):,} characters")
        if start < last_start:
            raise Poison(f"{place}, which begins before the chunk before it, at {last_start:,}")
        characters += end - start
        if characters > MAX_REPETITION * len(text):
            raise Poison(
                f"{title} gives chunks that together have more than {MAX_REPETITION} times the text"
            )
        last_start = start
        count = sum(len(tokens.encode(piece)) for piece in pieces([text[start:end]]))
        if count > size:
            raise Poison(
                f"{place}, which has {count:,} tokens, at most {size:,} are taken: choose a larger "
                "size (`chunking` of the document, CHUNK_SIZE), or mend the chunker"
            )
        if span := strip_span(text[start:end], start, end, count):
            yield span


def uncut_characters(text: str, spans: Iterable[Span]) -> int:
    """Return how many characters of the text, without blanks, are in none of the spans."""
    count = 0
    reached = 0
    for span in spans:
        if span.start > reached:
            count += len("".join(text[reached : span.start].split()))
        reached = max(reached, span.end)
    return count + len("".join(text[reached:].split()))
