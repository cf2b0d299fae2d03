"""DocumentAdded in, ChunksCreated out."""

import asyncio
import hashlib
from typing import Any

import pytest

from contracts.chunking import Chunking
from contracts.events import ChunksCreated, DocumentAdded
from contracts.graph import Generations
from contracts.ids import sha256
from contracts.values import BlobRef
from runtime.bus.encoded_text import EncodedText
from runtime.bus.memory import MemoryBlobs
from runtime.errors import ConfigurationError, Poison
from services.chunker.domain.defaults import ChunkingDefaults
from services.chunker.domain.document import MAX_CHUNKS
from services.chunker.domain.parts import HELD_BACK
from services.chunker.handler import DocumentLimits, on_document_added
from services.chunker.port import Cutters
from services.chunker.settings import ChunkerSettings
from tests.support.binary_data import BASE64
from tests.support.chunking import CodePointTokenizer
from tests.support.events import added, delivered, document


async def cut(event: DocumentAdded, sequence: int = 7, **settings: Any) -> list[ChunksCreated]:
    """All events, with a tokenizer of which each letter is a token."""
    defaults = Chunking(
        size=settings.pop("size", 10),
        overlap=settings.pop("overlap", 2),
        strategy=settings.pop("strategy", None),
    )
    limits = DocumentLimits(
        settings.pop("max_bytes", 1_000_000), settings.pop("max_chunks", MAX_CHUNKS)
    )
    options: dict[str, Any] = {"blobs": MemoryBlobs(), "limits": limits, **settings}
    results = await on_document_added(
        delivered(event, sequence),
        Generations(),
        cutters=Cutters(CodePointTokenizer()),
        chunking=ChunkingDefaults(defaults),
        **options,
    )
    return [result async for result in results if isinstance(result, ChunksCreated)]


async def test_a_short_document_is_one_chunk_of_the_version_that_its_place_gives_it() -> None:
    (event,) = await cut(added("d", "12345678"))
    assert event.document == document("d", 7)
    assert (event.part, event.parts, event.chunk_count) == (0, 1, 1)
    assert [(chunk.id, chunk.content, chunk.tokens) for chunk in event.chunks] == [
        ("d-chunk-000", "12345678", 8)
    ]


async def test_binary_data_of_a_text_from_the_bus_reaches_no_chunk_and_the_last_event_says_so() -> (
    None
):
    text = f"one ![lamp](data:image/png;base64,{BASE64}) two"
    (event,) = await cut(added("d", text, pages=(0, text.index("two"))), size=50)
    (chunk,) = event.chunks
    assert (chunk.content, chunk.start, chunk.end, chunk.page) == ("one lamp two", 0, 12, 1)
    assert event.warnings == (
        "1 inline file (image/png; 40,031 bytes) was left out: only text is read",
    )
    assert all(event.warnings == () for event in await cut(added("d", "one two")))


async def test_the_document_s_own_options_come_first() -> None:
    (event,) = await cut(added("d", "abcdefgh", chunking=Chunking(size=4, overlap=1)))
    assert [chunk.content for chunk in event.chunks] == ["abcd", "defg", "gh"]
    (event,) = await cut(added("d", "abcdefgh", chunking=Chunking(overlap=0)), size=4)
    assert [chunk.content for chunk in event.chunks] == ["abcd", "efgh"]


@pytest.mark.parametrize(
    "chunking",
    [
        Chunking(overlap=10),
        Chunking(overlap=99),
        Chunking(overlap=6),
        Chunking(size=1000, overlap=999),
    ],
)
async def test_an_overlap_that_multiplies_the_text_is_refused(chunking: Chunking) -> None:
    with pytest.raises(
        Poison, match=r"overlap \d+ (must be smaller than|is more than half of) size"
    ):
        await cut(added("d", "text", chunking=chunking))


async def test_the_usual_overlap_is_at_most_half_of_a_document_s_own_size() -> None:
    (event,) = await cut(added("d", "abcdefgh", chunking=Chunking(size=2)), overlap=5)
    assert [chunk.content for chunk in event.chunks] == [
        "ab",
        "bc",
        "cd",
        "de",
        "ef",
        "fg",
        "gh",
        "h",
    ]


@pytest.mark.parametrize(
    ("how", "count"),
    [
        (Chunking(size=4, overlap=0), 100),
        (Chunking(size=4, overlap=2), 200),
        (Chunking(size=4, overlap=0, strategy="recursive"), 100),
        (Chunking(size=1000, overlap=0, split_by_character="d"), 100),
    ],
)
async def test_a_text_of_too_many_chunks_is_refused_before_the_first_one_is_made(
    how: Chunking, count: int
) -> None:
    text = "abcd" * 100
    events = await cut(added("d", text, chunking=how), max_chunks=count)
    assert sum(len(event.chunks) for event in events) == count
    with pytest.raises(Poison, match=f"more than {count - 1} chunks of .*MAX_CHUNKS_PER_DOCUMENT"):
        await cut(added("d", text, chunking=how), max_chunks=count - 1)


@pytest.mark.parametrize("text", ["", " \n ", "\x00\x07", "&nbsp;"])
async def test_a_text_without_anything_to_read_is_refused(text: str) -> None:
    with pytest.raises(Poison, match="the text is empty"):
        await cut(added("d", text))


async def test_what_cannot_be_printed_is_left_out_before_the_text_is_cut() -> None:
    (event,) = await cut(added("d", " a\x00b &amp; c\n"))
    assert [chunk.content for chunk in event.chunks] == ["ab & c"]


async def test_a_text_beside_the_log_is_read_there() -> None:
    blobs = MemoryBlobs()
    event = DocumentAdded(document_id="d", blob=await blobs.put(EncodedText.of("abcdefgh"), "w"))
    (result,) = await cut(event, blobs=blobs)
    assert result.chunks[0].content == "abcdefgh"


async def test_a_text_that_is_not_there_is_refused() -> None:
    blob = BlobRef(sha256=sha256("gone"), size=4, parts=1)
    with pytest.raises(Poison, match="is not in KB_BLOBS"):
        await cut(DocumentAdded(document_id="d", blob=blob))


async def test_a_text_that_is_too_long_is_refused_before_it_is_read() -> None:
    huge = BlobRef(sha256=sha256("gone"), size=2_000_000, parts=4)
    with pytest.raises(
        Poison, match="2,000,000 bytes, at most 1,000,000 are taken: split the document"
    ):
        await cut(DocumentAdded(document_id="d", blob=huge))


async def test_a_text_that_is_longer_than_its_reference_says_is_refused() -> None:
    blobs = MemoryBlobs()
    ref = (await blobs.put(EncodedText.of("x" * 5_000), "w")).model_copy(update={"size": 1})
    with pytest.raises(Poison, match="5,000 bytes"):
        await cut(DocumentAdded(document_id="d", blob=ref), blobs=blobs, max_bytes=1_000)


async def test_many_chunks_come_in_parts_that_together_are_the_document() -> None:
    text = "".join(chr(0x4E00 + number % 5000) for number in range(120_000))
    events = await cut(added("d", text), size=100, overlap=0)
    assert len(events) > 1
    assert [event.part for event in events] == list(range(len(events)))
    assert {(event.parts, event.chunk_count) for event in events} == {(len(events), 1200)}
    assert [chunk.order for event in events for chunk in event.chunks] == list(range(1200))
    assert "".join(chunk.content for event in events for chunk in event.chunks) == text


async def test_the_same_document_is_cut_the_same_way_again() -> None:
    event = added("d", "abcdefgh" * 10)
    assert await cut(event) == await cut(event)


async def test_only_the_last_of_many_parts_say_how_many_there_are() -> None:
    text = "".join(chr(0x4E00 + number % 5000) for number in range(600_000))
    events = await cut(added("d", text), size=1000, overlap=0, max_bytes=10_000_000)
    assert len(events) > 2 * HELD_BACK
    assert [event.part for event in events] == list(range(len(events)))
    assert {(event.parts, event.chunk_count) for event in events[:-HELD_BACK]} == {(None, None)}
    assert {(event.parts, event.chunk_count) for event in events[-HELD_BACK:]} == {
        (len(events), 600)
    }
    assert "".join(chunk.content for event in events for chunk in event.chunks) == text


async def test_cutting_leaves_the_event_loop_to_others() -> None:
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.001)
            beats += 1

    task = asyncio.create_task(beat())
    await cut(added("d", "潮位計" * 300_000), size=1000, overlap=500, max_bytes=10_000_000)
    task.cancel()
    assert beats > 20


async def test_the_first_events_come_before_the_last_text_is_cut() -> None:
    class Counting(CodePointTokenizer):
        letters = 0

        def encode(self, text: str) -> list[int]:
            self.letters += len(text)
            return super().encode(text)

    text = "low water at noon " * 200_000
    tokens = Counting()
    events = await on_document_added(
        delivered(added("d", text)),
        Generations(),
        blobs=MemoryBlobs(),
        cutters=Cutters(tokens),
        chunking=ChunkingDefaults(Chunking(size=1000, overlap=0)),
        limits=DocumentLimits(10_000_000),
    )
    first = await anext(events)
    assert isinstance(first, ChunksCreated)
    assert 0 < tokens.letters < len(text) / 2
    await events.aclose()


async def test_a_piece_that_is_too_long_is_refused_before_anything_is_published() -> None:
    text = "short|" * 300_000 + "much too long for that|end"
    events = await on_document_added(
        delivered(
            added(
                "d", text, chunking=Chunking(split_by_character="|", split_by_character_only=True)
            )
        ),
        Generations(),
        blobs=MemoryBlobs(),
        cutters=Cutters(CodePointTokenizer()),
        chunking=ChunkingDefaults(Chunking(size=10, overlap=2)),
        limits=DocumentLimits(10_000_000, 1_000_000),
    )
    with pytest.raises(Poison, match="begins at character 1,800,000 has more than 10 tokens"):
        await anext(events)


async def test_a_document_may_choose_its_separator_whatever_the_service_prefers() -> None:
    event = added("d", "one|two", chunking=Chunking(split_by_character="|"))
    defaults = Chunking(size=10, overlap=2, strategy="recursive")
    results = await on_document_added(
        delivered(event),
        Generations(),
        blobs=MemoryBlobs(),
        cutters=Cutters(CodePointTokenizer()),
        chunking=ChunkingDefaults(defaults),
        limits=DocumentLimits(100),
    )
    (result,) = [result async for result in results]
    assert isinstance(result, ChunksCreated)
    assert [chunk.content for chunk in result.chunks] == ["one", "two"]


async def test_a_text_of_separators_alone_is_refused() -> None:
    with pytest.raises(Poison, match=r"blanks and '\|' are gone"):
        await cut(added("d", "| |", chunking=Chunking(split_by_character="|")))


async def test_a_chunk_says_on_which_page_it_begins() -> None:
    text = "  first &amp; last.\x00\n\nsecond page\n\nfourth"
    pages = (0, text.index("second"), text.index("fourth"), text.index("fourth"))
    (event,) = await cut(added("d", text, pages=pages), size=12, overlap=0)
    assert [(chunk.content, chunk.page) for chunk in event.chunks] == [
        ("first & last", 1),
        (".\n\nsecond pa", 1),
        ("ge\n\nfourth", 2),
    ]
    # The pages of what stands behind these characters; the third is blank.
    assert [chunk.page_breaks for chunk in event.chunks] == [(), (3,), (4, 4)]
    (event,) = await cut(
        added("d", text, pages=pages, chunking=Chunking(split_by_character="\n\n")), size=99
    )
    assert [chunk.page for chunk in event.chunks] == [1, 2, 4]


async def test_a_document_without_pages_has_chunks_without_pages() -> None:
    (event,) = await cut(added("d", "text"))
    assert event.chunks[0].page is None


async def test_bytes_that_are_no_text_are_replaced() -> None:
    blobs = MemoryBlobs()
    data = b"low water " + b"\xff" + "潮".encode()[:2]
    blobs.texts[hashlib.sha256(data).hexdigest()] = data
    ref = BlobRef(sha256=hashlib.sha256(data).hexdigest(), size=len(data), parts=1)
    (event,) = await cut(DocumentAdded(document_id="d", blob=ref), blobs=blobs, size=100)
    assert event.chunks[0].content == "low water \ufffd\ufffd"


@pytest.mark.parametrize("strategy", ["token", "recursive"])
def test_the_strategy_is_a_setting(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ChunkerSettings().chunking == Chunking(size=1200, overlap=100, strategy="token")
    monkeypatch.setenv("CHUNK_STRATEGY", strategy)
    assert ChunkerSettings().chunking.strategy == strategy
    monkeypatch.setenv("CHUNK_STRATEGY", "sliding")
    with pytest.raises(ConfigurationError, match=r"CHUNK_STRATEGY: .*token"):
        ChunkerSettings()


def test_settings_whose_overlap_multiplies_texts_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CHUNK_SIZE", "100")
    monkeypatch.setenv("CHUNK_OVERLAP_SIZE", "51")
    with pytest.raises(
        ConfigurationError, match="CHUNK_OVERLAP_SIZE 51 must be at most half of CHUNK_SIZE"
    ):
        ChunkerSettings()
