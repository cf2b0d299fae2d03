"""Figures are listing behind the text, described once, and become chunks of their document."""

from collections.abc import Sequence
from typing import Any

import pytest

from contracts.chunking import Chunking
from contracts.events import (
    ChunksCreated,
    DocumentAdded,
    Event,
    FigureDescribed,
    FiguresListed,
    StageFailed,
)
from contracts.graph import Generations, Partition
from contracts.ids import branch_workspace
from contracts.values import Figure, TokenUsage
from runtime.bus.encoded_text import EncodedText
from runtime.bus.memory import MemoryBlobs
from runtime.errors import ModelRefused, Poison, RateLimited, Retryable
from runtime.models.port import Completion, Message
from runtime.models.scripted import ScriptedChat
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Table
from services.chunker.adapters.describer import ModelDescriber
from services.chunker.adapters.description_cache import TABLE, DescriptionCache
from services.chunker.describing import FigureDependencies, on_figures_listed
from services.chunker.domain.defaults import ChunkingDefaults
from services.chunker.domain.figures import FigureLimits
from services.chunker.handler import DocumentLimits, on_document_added
from services.chunker.port import Cutters
from services.chunker.replay import DescriptionReplay
from tests.support.chunking import CodePointTokenizer
from tests.support.events import delivered

TOKENS = CodePointTokenizer()
LIMITS = FigureLimits(max_figures=10, max_bytes=1000, min_side=64)
USAGE = TokenUsage(prompt=900, completion=20, calls=1)
TEXT = "# Tides\n\nThe gauge. [Figure 1: The catch]\n\n# Wind\n\n[Figure 2]"


class Bench:
    """The chunker with a model that sees pictures, over stores in memory."""

    def __init__(self, rows: MemoryRows | None = None) -> None:
        self.blobs = MemoryBlobs()
        self.rows = rows or MemoryRows()
        self.asked: list[Message] = []
        self.errors: dict[bytes, Exception] = {}
        self.descriptions = DescriptionCache(self.rows)

    def _answer(self, messages: Sequence[Message]) -> Completion | Exception:
        message = messages[-1]
        self.asked.append(message)
        picture = message.pictures[0].data
        return self.errors.get(picture) or Completion(f"It shows {picture.decode()}.", USAGE)

    async def figures(self, *pictures: bytes) -> tuple[Figure, ...]:
        blobs = [await self.blobs.put(EncodedText.of_bytes(data), "w") for data in pictures]
        return tuple(
            Figure(
                number=number,
                sha256=blob.sha256,
                blob=blob,
                media_type="image/png",
                width=200,
                height=100,
                caption="The catch" if number == 1 else "",
                page=number,
            )
            for number, blob in enumerate(blobs, 1)
        )

    async def cut(self, figures: tuple[Figure, ...], limits: FigureLimits | None = LIMITS) -> Any:
        event = DocumentAdded(document_id="d", text=TEXT, figures=figures)
        events = await on_document_added(
            delivered(event),
            Generations(),
            blobs=self.blobs,
            cutters=Cutters(TOKENS),
            chunking=ChunkingDefaults(Chunking.by("paragraph", size=40, overlap=0)),
            limits=DocumentLimits(1 << 20, figures=limits),
        )
        return [event async for event in events]

    async def describe(
        self, event: FiguresListed, workspace: str = "w", *, has_model: bool = True
    ) -> list[Event]:
        describer = ModelDescriber(ScriptedChat(self._answer, model="eyes"), "English")
        dependencies = FigureDependencies(
            self.blobs, describer, self.descriptions, TOKENS, lambda: 0.0
        )
        return await on_figures_listed(
            delivered(event, workspace=workspace),
            Generations(),
            dependencies=dependencies if has_model else None,
        )


def names_of(events: Sequence[Event]) -> list[tuple[str, int]]:
    return [(event.type_name(), event.ordinal) for event in events]


async def test_figures_are_described_as_chunks_behind_those_of_the_text() -> None:
    bench = Bench()
    *text_parts, listing = await bench.cut(await bench.figures(b"herring", b"a storm"))
    assert isinstance(listing, FiguresListed)
    count = sum(len(part.chunks) for part in text_parts)
    assert text_parts[-1].chunk_count == listing.chunk_count == count + 2
    assert text_parts[-1].parts == listing.parts == len(text_parts) + 2
    description, part, _, last_part = await bench.describe(listing)
    assert isinstance(description, FigureDescribed)
    assert isinstance(part, ChunksCreated)
    assert isinstance(last_part, ChunksCreated)
    assert (description.text, description.usage, description.cached) == (
        "It shows herring.",
        USAGE,
        False,
    )
    assert (part.part, last_part.part) == (len(text_parts), listing.parts - 1)
    (chunk,) = part.chunks
    assert chunk.content == "[Figure 1: The catch]\n\nIt shows herring."
    assert (chunk.order, chunk.page, chunk.headings) == (count, 1, ("Tides",))
    assert chunk.figures[0].description == "It shows herring."
    assert "The catch" in bench.asked[0].content
    assert last_part.chunks[0].headings == ("Wind",)


async def test_without_a_model_and_without_figures_nothing_changes() -> None:
    bench = Bench()
    figures = await bench.figures(b"herring")
    with_figures = await bench.cut(figures, None)
    assert {type(event) for event in with_figures} == {ChunksCreated}
    assert (await bench.cut(()))[-1].chunk_count == with_figures[-1].chunk_count
    assert await bench.rows.scan(Table(TABLE, Partition("w", 0)), "", 9) == []


async def test_what_is_beyond_the_limits_is_not_described_and_the_document_says_so() -> None:
    bench = Bench()
    figures = await bench.figures(b"herring", b"x" * 2000, b"a storm")
    *_, last_part, listing = await bench.cut(figures, LIMITS._replace(max_figures=1))
    assert [item.figure.number for item in listing.figures] == [1]
    assert last_part.warnings == (
        "2 figures are not described: VLM_MAX_FIGURES, VLM_MAX_IMAGE_BYTES and "
        "VLM_MIN_IMAGE_PIXEL are the limits",
    )


async def test_a_description_is_paid_once_also_on_a_branch_and_from_the_log() -> None:
    bench = Bench()
    *_, listing = await bench.cut(await bench.figures(b"herring"))
    events = await bench.describe(listing)
    assert await bench.describe(listing) == events, "the same again, paid by this very figure"
    other_listing = listing.model_copy(
        update={"document": listing.document.model_copy(update={"id": "e"})}
    )
    copy, _ = await bench.describe(listing, branch_workspace("w", "trial"))
    assert isinstance(copy, FigureDescribed)
    assert len(bench.asked) == 1
    fresh_bench = Bench(MemoryRows())
    fresh_bench.blobs = bench.blobs
    await DescriptionReplay(fresh_bench.rows).take([delivered(events[0])], Generations())
    cached_event, _ = await fresh_bench.describe(other_listing, delivered(events[0]).workspace)
    assert isinstance(cached_event, FigureDescribed)
    assert (cached_event.text, cached_event.cached, fresh_bench.asked) == (
        "It shows herring.",
        True,
        [],
    )


async def test_a_refused_figure_fails_alone_and_one_that_waits_keeps_the_others() -> None:
    bench = Bench()
    *_, listing = await bench.cut(await bench.figures(b"herring", b"a storm"))
    bench.errors[b"herring"] = ModelRefused("eyes refuses this content", "content")
    failure, description, part = await bench.describe(listing)
    assert isinstance(failure, StageFailed)
    assert (failure.chunks, failure.cause_type) == ((listing.figures[0].chunk,), "FiguresListed")
    assert "figure 1 is not described: eyes refuses" in failure.message
    assert names_of([description, part]) == [
        ("FigureDescribed", 2),
        ("ChunksCreated", listing.parts - 1),
    ]
    bench.errors[b"herring"] = RateLimited("wait", retry_after=9.0)
    with pytest.raises(Retryable) as caught:
        await bench.describe(listing)
    assert (names_of(caught.value.events), caught.value.retry_after) == (
        names_of([description, part]),
        9.0,
    )


async def test_figures_that_were_listed_before_the_model_was_taken_away_fail_with_the_way_out() -> (
    None
):
    bench = Bench()
    *_, listing = await bench.cut(await bench.figures(b"herring"))
    (failure,) = await bench.describe(listing, has_model=False)
    assert isinstance(failure, StageFailed)
    assert "VLM_LLM_MODEL" in failure.message
    assert failure.error_type == Poison.__name__
