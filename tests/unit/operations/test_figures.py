"""Figures of documents that were cut before a model described figures, or that another one has
described: found, listed, and folded into the status of their documents.
"""

from collections.abc import Sequence
from itertools import permutations

import pytest

from contracts.events import (
    ChunksCreated,
    DocumentAdded,
    DocumentDeleted,
    Event,
    FigureDescribed,
    FiguresListed,
)
from contracts.graph import DocumentBounds
from contracts.values import BlobRef, Chunk, Figure
from operations.estimate import EstimateSettings
from operations.figures import (
    OutdatedFigures,
    find_outdated,
    find_waiting,
    request_descriptions,
    text_to_extract,
)
from runtime.bus.batches import document_bounds
from runtime.bus.codec import decode
from runtime.bus.memory import MemoryBlobs, MemoryLog
from runtime.errors import NotFound
from services.chunker.domain.figures import description_key
from services.chunker.domain.prompt import prompt_version
from services.chunker.settings import ChunkerSettings
from services.extractor.domain.prompt import prompt_version as extraction_prompt
from services.extractor.handler import extraction_key
from services.extractor.settings import ExtractorSettings
from services.extractor.wiring import extraction_config
from services.query.status.document_status import DocumentStatus
from services.query.status.folding import apply
from services.query.status.projection import recorded
from tests.support.events import chunk, chunked, delivered, document, extracted, reference, sealed

SETTINGS = ChunkerSettings(vlm_max_figures=2)


def figure(number: int, side: int = 100) -> Figure:
    blob = BlobRef(key=f"w.{number}", sha256=f"{number:064x}", size=10, parts=1)
    return Figure(
        number=number,
        sha256=blob.sha256,
        blob=blob,
        media_type="image/png",
        width=side,
        height=side,
    )


async def published(log: MemoryLog, *events: Event) -> int:
    sequence = 0
    for event in events:
        sequence = await log.publish(sealed(event, id=f"event-{len(log.messages)}"))
    return sequence


async def with_document(log: MemoryLog, id: str, *figures: Figure) -> int:
    """Publish a document that is cut into two chunks; return its version."""
    added = DocumentAdded(document_id=id, text="text", file_path=f"{id}.docx", figures=figures)
    version = await published(log, added)
    parts = chunked(document(id, version), "one", "[Figure 1]")
    first_part = parts.chunks[1].model_copy(
        update={"headings": ("Tides",), "figures": tuple(item.ref for item in figures[:1])}
    )
    await published(log, parts.model_copy(update={"chunks": (parts.chunks[0], first_part)}))
    return version


async def listed(log: MemoryLog, *names: str) -> list[FiguresListed]:
    return [item.listing for item in await find_waiting(log, "w", names, SETTINGS)]


async def test_figures_that_nobody_describes_are_listed_behind_the_chunks_that_are_there() -> None:
    log = MemoryLog()
    version = await with_document(log, "d", figure(1), figure(2, side=10), figure(3), figure(4))
    await with_document(log, "plain")
    await with_document(log, "gone", figure(1))
    await published(log, DocumentDeleted(document_id="gone"))
    (waiting,) = await find_waiting(log, "w", (), SETTINGS)
    listing = waiting.listing
    assert [item.number for item in waiting.figures] == [1, 3], "one is small, and two are most"
    assert [item.chunk.order for item in listing.figures] == [2, 3]
    assert (listing.parts, listing.chunk_count, listing.text_count) == (3, 4, 2)
    assert (listing.document.version, listing.figures[0].headings) == (version, ("Tides",))
    assert await listed(log, "d.docx") == await listed(log, "d") == [listing]
    assert await listed(log, "plain") == []
    with pytest.raises(NotFound, match="'other'"):
        await listed(log, "d", "other")


async def test_a_request_is_made_once_and_a_wider_limit_lists_the_rest() -> None:
    log = MemoryLog()
    await with_document(log, "d", figure(1), figure(2), figure(3))
    (waiting,) = await find_waiting(log, "w", (), SETTINGS)
    requested = await request_descriptions(log, "w", waiting)
    assert requested and await request_descriptions(log, "w", waiting) == requested
    assert await listed(log) == []
    wider_settings = ChunkerSettings(vlm_max_figures=3)
    (rest,) = [item.listing for item in await find_waiting(log, "w", (), wider_settings)]
    assert [(item.figure.number, item.chunk.order) for item in rest.figures] == [(3, 4)]
    assert (rest.parts, rest.chunk_count, rest.text_count) == (4, 5, 2)


async def test_a_document_that_is_being_cut_waits_for_another_call() -> None:
    log = MemoryLog()
    added = DocumentAdded(document_id="d", text="text", figures=(figure(1),))
    version = await published(log, added)
    assert await listed(log) == []
    first_part = ChunksCreated(document=document("d", version), part=0, chunks=(chunk("d"),))
    await published(log, first_part)
    assert await listed(log) == [], "how many chunks there are is not known yet"


def folded(events: Sequence[Event]) -> DocumentStatus:
    state: DocumentStatus | None = None
    for sequence, event in enumerate(events, 1):
        state = apply(state, recorded(delivered(event, sequence)))
    assert state is not None
    return state


async def test_in_any_order_a_document_has_all_its_chunks_and_no_older_ones_behind_its_text() -> (
    None
):
    log = MemoryLog()
    await with_document(log, "d", figure(1), figure(3))
    (waiting,) = await find_waiting(log, "w", (), SETTINGS)
    text_part = next(
        event
        for message in log.messages
        if isinstance(event := decode(message.data, message.subject).data, ChunksCreated)
    )
    figure_part = ChunksCreated(
        document=text_part.document,
        part=1,
        parts=3,
        chunk_count=4,
        text_count=2,
        chunks=(chunk("d", 2),),
    )
    for events in permutations((text_part, waiting.listing, figure_part)):
        state = folded(events)
        assert (state.chunk_count, state.text_count, state.status) == (4, 2, "processing")
        parts = [event for event in events if isinstance(event, ChunksCreated)]
        (bounds,) = document_bounds([delivered(part) for part in parts])
        assert bounds["d"] == DocumentBounds(text_part.document.version, 4, 2)
        own = bounds["d"].version
        older = own - 1
        assert bounds["d"].is_obsolete_chunk(2, older)
        assert not bounds["d"].is_obsolete_chunk(2, own)
        assert not bounds["d"].is_obsolete_chunk(1, older)


WORDS = prompt_version("English")
ENDPOINT = "http://127.0.0.1:1"


def asking(model: str, language: str = "English") -> ChunkerSettings:
    return ChunkerSettings(
        vlm_llm_model=model, vlm_llm_base_url=ENDPOINT, summary_language=language
    )


def described(version: int, model: str, *figures: Figure) -> list[FigureDescribed]:
    return [
        FigureDescribed(
            document=document("d", version),
            number=item.number,
            sha256=item.sha256,
            chunk=reference("d", 1 + item.number),
            text="A bar.",
            model=model,
            prompt_version=WORDS,
            cache_key=description_key(model, WORDS, item),
        )
        for item in figures
    ]


async def test_what_another_model_described_is_described_again_in_a_new_version() -> None:
    log = MemoryLog()
    version = await with_document(log, "d", figure(1), figure(2), figure(3))
    await published(log, *described(version, "old", figure(1)))
    await published(log, *described(version, "new", figure(2)))
    await with_document(log, "nobody", figure(1))
    (outdated,) = await find_outdated(log, "w", (), asking("new"))
    assert [item.number for item in outdated.figures] == [1, 3], "2 is paid for, 3 waits"
    assert await find_outdated(log, "w", ("nobody",), asking("new")) == []
    assert await find_outdated(log, "w", (), SETTINGS) == [], "no model describes"
    assert len(await find_outdated(log, "w", ("d.docx",), asking("old", "German"))) == 1
    requested = await request_descriptions(log, "w", outdated)
    assert requested and requested.at
    added = decode(log.messages[-1].data, log.messages[-1].subject).data
    assert isinstance(added, DocumentAdded)
    assert added == outdated.event, "it says what it said"
    assert await request_descriptions(log, "w", outdated) is None, "it has changed meanwhile"
    assert await find_outdated(log, "w", (), asking("new")) == [], "nothing describes it yet"


async def test_what_an_older_version_said_is_not_looked_at() -> None:
    log = MemoryLog()
    await published(log, *described(await with_document(log, "d", figure(1)), "old", figure(1)))
    newest = await with_document(log, "d", figure(1))
    await published(log, *described(newest, "new", figure(1)))
    assert await find_outdated(log, "w", (), asking("new")) == []
    assert len(await find_outdated(log, "w", (), asking("old"))) == 1


async def test_a_text_costs_nothing_again_unless_it_is_extracted_in_another_way() -> None:
    log = MemoryLog()
    version = await with_document(log, "d", figure(1))
    extractor = ExtractorSettings(llm_model="m", llm_base_url=ENDPOINT)
    words = extraction_prompt(extraction_config(extractor), gleaning=True)
    text_chunk = Chunk(id="", order=0, tokens=1, content="text")
    event = extracted(document("d", version))
    key = extraction_key("m", words, text_chunk)
    await published(log, event.model_copy(update={"cache_key": key}))
    outdated = OutdatedFigures(
        "d", version, (figure(1),), DocumentAdded(document_id="d", text="text")
    )

    async def texts(settings: ExtractorSettings) -> list[str]:
        estimate = EstimateSettings(asking("new"), settings)
        chunks = await text_to_extract(log, MemoryBlobs(), "w", outdated, estimate)
        return [item.content for item in chunks]

    assert await texts(extractor) == []
    assert await texts(ExtractorSettings()) == [], "nobody is paid for it"
    assert await texts(extractor.model_copy(update={"llm_model": "other"})) == ["text"]
