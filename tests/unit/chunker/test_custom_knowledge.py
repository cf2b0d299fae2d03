"""Ready knowledge: neither cut nor extracted, and yet chunks like any others."""

import json
from typing import Any

import pytest

from contracts.chunking import Chunking
from contracts.events import ChunksCreated, DocumentAdded
from contracts.graph import Generations
from contracts.values import (
    Chunk,
    CustomExtraction,
    CustomKnowledge,
    ExtractedEntity,
    ExtractedRelation,
)
from runtime.bus.encoded_text import EncodedText
from runtime.bus.memory import MemoryBlobs
from runtime.errors import Poison
from services.chunker.domain.defaults import ChunkingDefaults
from services.chunker.handler import DocumentLimits, on_document_added
from services.chunker.port import Cutters
from tests.support.chunking import CodePointTokenizer
from tests.support.events import delivered

MILL = {"name": "Tide mill", "type": "building", "description": "Driven by the tide."}
TIE = {
    "source": "Tide mill",
    "target": "Brackwater",
    "description": "It stands there.",
    "keywords": ["place"],
    "weight": 2,
}


async def made(size: int = 1000, **knowledge: Any) -> tuple[Chunk, ...]:
    event = DocumentAdded(document_id="d", knowledge=CustomKnowledge.model_validate(knowledge))
    results = await on_document_added(
        delivered(event),
        Generations(),
        blobs=MemoryBlobs(),
        cutters=Cutters(CodePointTokenizer()),
        chunking=ChunkingDefaults(Chunking(size=size, overlap=0)),
        limits=DocumentLimits(1_000_000),
    )
    (result,) = [result async for result in results]
    assert isinstance(result, ChunksCreated)
    assert (result.parts, result.chunk_count) == (1, len(result.chunks))
    return result.chunks


async def test_a_chunk_carries_what_was_said_with_its_source() -> None:
    (chunk,) = await made(
        chunks=[{"content": " The tide mill &amp; its quay. ", "source_id": "s"}],
        entities=[{**MILL, "source_id": "s"}],
        relations=[{**TIE, "source_id": "s"}],
    )
    assert (chunk.id, chunk.order, chunk.content) == ("d-chunk-000", 0, "The tide mill & its quay.")
    assert chunk.tokens == len(chunk.content)
    assert chunk.given == CustomExtraction(
        entities=(
            ExtractedEntity(name="Tide mill", type="building", description="Driven by the tide."),
        ),
        relations=(
            ExtractedRelation(
                source="Tide mill",
                target="Brackwater",
                description="It stands there.",
                keywords=("place",),
                weight=2.0,
            ),
        ),
    )


async def test_a_chunk_of_which_nothing_was_said_is_given_all_the_same() -> None:
    (chunk,) = await made(chunks=[{"content": "Alone."}])
    assert chunk.given == CustomExtraction()


async def test_a_long_chunk_stays_as_it_was_given() -> None:
    (chunk,) = await made(size=10, chunks=[{"content": "longer than ten letters"}])
    assert chunk.content == "longer than ten letters"


async def test_of_two_chunks_with_one_source_the_first_carries_what_was_said() -> None:
    first, second = await made(
        chunks=[{"content": "one", "source_id": "s"}, {"content": "two", "source_id": "s"}],
        entities=[{**MILL, "source_id": "s"}],
    )
    assert first.given is not None and len(first.given.entities) == 1
    assert second.given == CustomExtraction()


async def test_what_names_no_chunk_is_written_down_in_a_chunk_of_its_own() -> None:
    text, own_chunk = await made(
        chunks=[{"content": "one", "source_id": "s"}],
        entities=[{**MILL, "source_id": "gone"}, {"name": "Quay"}],
        relations=[TIE],
    )
    assert text.given == CustomExtraction()
    assert own_chunk.content == (
        "Tide mill (building): Driven by the tide.\nQuay\nTide mill, Brackwater (place): It "
        "stands there."
    )
    assert own_chunk.given is not None
    assert [entity.name for entity in own_chunk.given.entities] == ["Tide mill", "Quay"]
    assert len(own_chunk.given.relations) == 1


async def test_a_chunk_without_a_text_cannot_carry_anything() -> None:
    (own_chunk,) = await made(
        chunks=[{"content": "\x00", "source_id": "s"}], entities=[{**MILL, "source_id": "s"}]
    )
    assert own_chunk.content.startswith("Tide mill")


async def test_much_that_names_no_chunk_fills_several() -> None:
    chunks = await made(
        size=50, entities=[{**MILL, "name": f"Mill {number}"} for number in range(10)]
    )
    assert [chunk.order for chunk in chunks] == list(range(10))
    assert all(chunk.given and len(chunk.given.entities) == 1 for chunk in chunks)
    chunks = await made(
        size=120, entities=[{**MILL, "name": f"Mill {number}"} for number in range(10)]
    )
    assert [len(chunk.given.entities) for chunk in chunks if chunk.given] == [3, 3, 3, 1]


async def test_knowledge_of_which_nothing_can_be_printed_is_refused() -> None:
    with pytest.raises(Poison, match="the knowledge is empty"):
        await made(chunks=[{"content": "\x00"}])


async def test_knowledge_that_stands_beside_the_log_is_read_from_there() -> None:
    blobs = MemoryBlobs()
    knowledge = CustomKnowledge.model_validate(
        {"chunks": [{"content": "The tide mill.", "headings": ["Town", "Mills"]}]}
    )
    assert await of_blob(blobs, knowledge.model_dump_json()) == [
        ("The tide mill.", ("Town", "Mills"))
    ]
    with pytest.raises(Poison, match="the document's knowledge cannot be read"):
        await of_blob(blobs, '{"chunks": 3}')
    with pytest.raises(Poison, match="the knowledge has 3 chunks, at most 2 are taken"):
        await of_blob(blobs, json.dumps({"chunks": [{"content": "a"}] * 3}))


async def of_blob(blobs: MemoryBlobs, text: str) -> list[tuple[str, tuple[str, ...]]]:
    """Texts and headings of the chunks of knowledge that stands beside the log."""
    blob = await blobs.put(EncodedText.of(text), "w")
    event = DocumentAdded(document_id="d", blob=blob, blob_kind="knowledge")
    results = await on_document_added(
        delivered(event),
        Generations(),
        blobs=blobs,
        cutters=Cutters(CodePointTokenizer()),
        chunking=ChunkingDefaults(Chunking(size=1000, overlap=0)),
        limits=DocumentLimits(1_000_000, 2),
    )
    events = [result async for result in results]
    return [
        (chunk.content, chunk.headings)
        for result in events
        if isinstance(result, ChunksCreated)
        for chunk in result.chunks
    ]
