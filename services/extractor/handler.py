"""ChunksCreated in, one EntitiesExtracted per chunk out; nothing is paid for twice."""

import asyncio
from collections.abc import Callable
from functools import partial

from contracts.events import ChunksCreated, EntitiesExtracted, Event, StageFailed
from contracts.graph import UNKNOWN_TYPE, Generations
from contracts.ids import sha256
from contracts.names import clean_name, clean_text
from contracts.values import Chunk, ChunkRef, CustomExtraction, ExtractedEntity, ExtractedRelation
from runtime.bus.port import ALL_WANTED, BUG_ATTEMPTS, Delivery, DocumentVersions
from runtime.errors import NotWanted, Poison, Retryable, longest_wait
from runtime.models.call_scope import calls_for
from services.extractor.domain.extraction import Extraction
from services.extractor.port import Extractions, Extractor, RoundGivenUp

CUSTOM_KNOWLEDGE = "given"
"""`model` and `prompt_version` of what was not extracted, for it came with its chunk."""


def cache_key(extractor: Extractor, chunk: Chunk, prompt_version: str = "") -> str:
    """What an extraction depends on: model, prompt (the extractor's whole one if none is named), headings and text."""
    version = prompt_version or extractor.prompt_version
    return sha256("\x1f".join((extractor.model, version, *chunk.headings, chunk.content)))


async def on_chunks_created(
    delivery: Delivery[ChunksCreated],
    _: Generations,
    *,
    extractor: Extractor,
    extractions: Extractions,
    clock: Callable[[], float],
    versions: DocumentVersions = ALL_WANTED,
) -> list[Event]:
    """Extract every chunk of this part, but for those that came with what they say.

    `clock` gives seconds, for durations. Once the version is obsolete, nothing more is asked: chunks that are left
    give no event, for nobody waits for one. A chunk that can never be extracted, or has raised an error nobody foresaw
    too often, fails alone. When some chunk may succeed later, what its siblings said is published with the Retryable
    that is raised.
    """
    chunks = delivery.event.chunks
    unread = [chunk for chunk in chunks if chunk.given is None]

    async def wanted() -> bool:
        return await versions.obsolete(delivery.workspace, delivery.event.document) is None

    if not await wanted():
        return []
    known = await extractions.get(delivery.workspace, [cache_key(extractor, chunk) for chunk in unread])
    with calls_for(delivery.workspace, wanted):
        results = await asyncio.gather(
            *(_extract(delivery, chunk, known, extractor, extractions, clock) for chunk in chunks),
            return_exceptions=True,
        )
    facts: list[Event] = []
    waiting: list[Retryable] = []
    for chunk, result in zip(chunks, results, strict=True):
        if isinstance(result, Event):
            facts.append(result)
        elif isinstance(result, NotWanted):
            continue
        elif isinstance(result, Retryable):
            waiting.append(result)
        elif isinstance(result, Exception) and (isinstance(result, Poison) or delivery.bugs + 1 >= BUG_ATTEMPTS):
            facts.append(_stage_failed(delivery, chunk, result))
        else:
            raise result
    if waiting:
        raise longest_wait(waiting, facts)
    return facts


async def _extract(
    delivery: Delivery[ChunksCreated],
    chunk: Chunk,
    known: dict[str, Extraction],
    extractor: Extractor,
    extractions: Extractions,
    clock: Callable[[], float],
) -> Event:
    if chunk.given is not None:
        return _from_custom_knowledge(delivery, chunk, chunk.given)
    version, started = extractor.prompt_version, clock()
    extraction, cached = known.get(cache_key(extractor, chunk)), True
    if extraction is None:
        version, extraction, cached = await _ask(delivery, chunk, extractor, extractions)
    return EntitiesExtracted(
        document=delivery.event.document,
        chunk=ChunkRef(id=chunk.id, order=chunk.order),
        entities=extraction.entities,
        relations=extraction.relations,
        model=extractor.model,
        prompt_version=version,
        cache_key=cache_key(extractor, chunk, version),
        usage=extraction.usage,
        duration_ms=round((clock() - started) * 1000),
        cached=cached,
    )


async def _ask(
    delivery: Delivery[ChunksCreated], chunk: Chunk, extractor: Extractor, extractions: Extractions
) -> tuple[str, Extraction, bool]:
    """The prompt version reached, what the chunk says, and whether nothing had to be paid for it.

    The first round is remembered before the second begins, so whatever happens there is not paid twice. A second round
    that never succeeds is done without in the end: the fact then names the version of the first.
    """
    draft, once = extractor.draft_version, partial(extractions.once, delivery.workspace)
    text, headings = chunk.content, chunk.headings
    first, known = await once(cache_key(extractor, chunk, draft), partial(extractor.extract, text, headings))
    if draft == extractor.prompt_version:
        return draft, first, known
    try:
        whole, known = await once(cache_key(extractor, chunk), partial(extractor.glean, text, headings, first))
    except RoundGivenUp:
        return draft, first, known
    return extractor.prompt_version, whole, known


def _from_custom_knowledge(
    delivery: Delivery[ChunksCreated], chunk: Chunk, given: CustomExtraction
) -> EntitiesExtracted:
    """What somebody said of a chunk, under the names an extraction would give. Nothing is asked, paid or remembered."""
    entities: dict[str, ExtractedEntity] = {}
    for row in given.entities:
        if name := clean_name(row.name):
            kind = "".join(clean_text(row.type).split()).lower()[:64] or UNKNOWN_TYPE
            entities[name] = ExtractedEntity(name=name, type=kind, description=clean_text(row.description) or name)
    relations: dict[tuple[str, str], ExtractedRelation] = {}
    for row in given.relations:
        ends = source, target = clean_name(row.source), clean_name(row.target)
        if not source or not target or source == target:
            continue
        keywords = tuple(dict.fromkeys(word for keyword in row.keywords if (word := clean_text(keyword))))
        description = clean_text(row.description) or ", ".join(keywords) or f"{source}, {target}"
        relations[ends] = ExtractedRelation(
            source=source, target=target, keywords=keywords, description=description, weight=row.weight
        )
    return EntitiesExtracted(
        document=delivery.event.document,
        chunk=ChunkRef(id=chunk.id, order=chunk.order),
        entities=tuple(entities.values()),
        relations=tuple(relations.values()),
        model=CUSTOM_KNOWLEDGE,
        prompt_version=CUSTOM_KNOWLEDGE,
        cache_key=sha256(chunk.model_dump_json(include={"content", "headings", "given"})),
    )


def _stage_failed(delivery: Delivery[ChunksCreated], chunk: Chunk, error: Exception) -> StageFailed:
    return StageFailed(
        stage="extractor",
        document_id=delivery.event.document.id,
        document=delivery.event.document,
        chunks=(ChunkRef(id=chunk.id, order=chunk.order),),
        cause_type="ChunksCreated",
        error_type=type(error).__name__,
        message=str(error)[:2000],
        attempt=delivery.attempt,
        retry_may_help=not isinstance(error, Poison),
    )
