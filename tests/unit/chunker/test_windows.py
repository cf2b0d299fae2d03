"""How a text is cut, with the real tokenizer: the sizes that LightRAG was measured to give."""

from collections.abc import Sequence

import pytest

from contracts.chunking import Chunking
from contracts.envelope import Envelope
from contracts.events import ChunksCreated, Event
from contracts.text import INLINE_LIMIT
from contracts.values import Chunk
from runtime.bus.codec import encode
from runtime.models.open import open_tokenizer
from runtime.models.port import Tokenizer
from services.chunker.domain import document as domain
from services.chunker.domain.parts import split_into_parts
from tests.support.events import chunk, document, sealed

EVENT_LIMIT = 256 * 1024
"""Bytes an event stays under."""


@pytest.fixture(scope="module")
def tokens() -> Tokenizer:
    return open_tokenizer()


def words(count: int, tokens: Tokenizer) -> str:
    """A text of exactly that many tokens."""
    text = " cat" * count
    assert tokens.count(text) == count
    return text


def cut(text: str, tokens: Tokenizer, size: int = 1200, overlap: int = 100) -> list[Chunk]:
    return list(
        domain.chunks(
            "doc", domain.Source(lambda: [text]), tokens, Chunking(size=size, overlap=overlap)
        )
    )


@pytest.mark.parametrize(
    ("length", "sizes"),
    [
        (2500, [1200, 1200, 300]),
        (1250, [1200, 150]),
        (1200, [1200, 100]),
        (1100, [1100]),
        (1101, [1101, 1]),
        (1, [1]),
    ],
)
def test_windows_begin_every_eleven_hundred_tokens(
    tokens: Tokenizer, length: int, sizes: list[int]
) -> None:
    assert [chunk.tokens for chunk in cut(words(length, tokens), tokens)] == sizes


def test_chunks_are_named_after_their_document_and_place(tokens: Tokenizer) -> None:
    chunks = cut(words(2500, tokens), tokens)
    assert [chunk.id for chunk in chunks] == ["doc-chunk-000", "doc-chunk-001", "doc-chunk-002"]
    assert [chunk.order for chunk in chunks] == [0, 1, 2]


def test_a_window_begins_with_what_ends_the_one_before(tokens: Tokenizer) -> None:
    text = " ".join(str(number) for number in range(3000))
    first, second, *_ = (
        tokens.encode(chunk.content) for chunk in cut(text, tokens, size=50, overlap=10)
    )
    assert tokens.decode(first[-10:]).strip() in tokens.decode(second[:11])


def test_blank_windows_are_left_out_and_the_others_are_numbered_without_a_gap(
    tokens: Tokenizer,
) -> None:
    chunks = cut("begin" + "\n \n" * 400 + "end", tokens, size=4, overlap=0)
    assert [chunk.order for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.content.strip() for chunk in chunks)
    assert (chunks[0].content[:5], chunks[-1].content[-3:]) == ("begin", "end")


def event_of(run: Sequence[Chunk]) -> Envelope[Event]:
    return sealed(
        ChunksCreated(
            document=document("d" * 512), part=0, parts=1, chunk_count=10_000, chunks=tuple(run)
        ),
        correlation="c" * 256,
    )


CONTENTS = {
    "plain": "words and words " * 300,
    "quotes": '"\\' * 2400,
    "line breaks": "a\n\t\r" * 1500,
    "chinese": "图书馆" * 900,
    "emoji": "👩‍👩‍👧" * 200,
    "tiny": "a",
}


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS.keys())
@pytest.mark.parametrize("name", ["d", "d" * 512, "文" * 512])
def test_every_part_is_an_event_below_its_limit_and_all_parts_hold_all_chunks(
    content: str, name: str
) -> None:
    chunks = [chunk(name, order, content) for order in range(600)]
    runs = list(split_into_parts(chunks, INLINE_LIMIT))
    assert [chunk for run in runs for chunk in run] == chunks
    assert all(len(encode(event_of(run))) < EVENT_LIMIT for run in runs)


def test_a_few_chunks_are_one_part() -> None:
    assert (
        len(list(split_into_parts([chunk(order=order) for order in range(100)], INLINE_LIMIT))) == 1
    )
    assert list(split_into_parts([], INLINE_LIMIT)) == []


def test_a_chunk_larger_than_the_limit_is_a_part_of_its_own() -> None:
    chunks = [chunk(order=0, content="x" * 300_000), chunk(order=1)]
    assert [len(run) for run in split_into_parts(chunks, INLINE_LIMIT)] == [1, 1]
