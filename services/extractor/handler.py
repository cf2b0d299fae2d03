"""Handles ChunksCreated: returns one EntitiesExtracted per chunk, from the cache where the chunk is
known.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from contracts.events import ChunksCreated, EntitiesExtracted, Event, StageFailed
from contracts.graph import UNKNOWN_TYPE, Generations
from contracts.ids import sha256
from contracts.names import clean_name, clean_text
from contracts.values import (
    Chunk,
    ChunkRef,
    CustomExtraction,
    ExtractedEntity,
    ExtractedRelation,
    document_warnings,
)
from runtime.bus.port import ALL_WANTED, BUG_ATTEMPTS, Delivery, DocumentVersions
from runtime.errors import NotWanted, Poison, Retryable, longest_wait
from runtime.models.call_scope import calls_for, calls_for_result
from services.extractor.domain.extraction import Extraction
from services.extractor.port import Extractions, Extractor, RoundGivenUp

CUSTOM_KNOWLEDGE = "given"
"""`model` and `prompt_version` of events whose entities and relations came with the chunk."""


def cache_key(extractor: Extractor, chunk: Chunk, prompt_version: str = "") -> str:
    """Return a hash of what an extraction depends on: model, prompt (by default the extractor's),
    headings, text.
    """
    return extraction_key(extractor.model, prompt_version or extractor.prompt_version, chunk)


def extraction_key(model: str, prompt_version: str, chunk: Chunk) -> str:
    """Return that hash of an extraction by this model with this prompt."""
    return sha256("\x1f".join((model, prompt_version, *chunk.headings, chunk.content)))


async def on_chunks_created(
    delivery: Delivery[ChunksCreated],
    _: Generations,
    *,
    extractor: Extractor,
    extractions: Extractions,
    clock: Callable[[], float],
    versions: DocumentVersions = ALL_WANTED,
) -> list[Event]:
    """Extract every chunk of this part, except chunks of custom knowledge, which carry their
    entities and relations.

    `clock` returns seconds, for durations. Once the document version is obsolete, the model is not
    called any more, and the remaining chunks give no event. A chunk that raises Poison, or an
    unexpected error too often, gives a StageFailed; the others are not affected. Raises Retryable,
    with the events of all other chunks, if a chunk has to be tried again.
    """
    chunks = delivery.event.chunks
    chunks_to_extract = [chunk for chunk in chunks if chunk.given is None]

    async def is_wanted() -> bool:
        return await versions.obsolete(delivery.workspace, delivery.event.document) is None

    if not await is_wanted():
        return []
    cached_extractions = await extractions.get(
        delivery.workspace, [cache_key(extractor, chunk) for chunk in chunks_to_extract]
    )
    with calls_for(delivery.workspace, is_wanted):
        results = await asyncio.gather(
            *(
                _extract(delivery, chunk, cached_extractions, extractor, extractions, clock)
                for chunk in chunks
            ),
            return_exceptions=True,
        )
    events: list[Event] = []
    retryables: list[Retryable] = []
    for chunk, result in zip(chunks, results, strict=True):
        if isinstance(result, Event):
            events.append(result)
        elif isinstance(result, NotWanted):
            continue
        elif isinstance(result, Retryable):
            retryables.append(result)
        elif isinstance(result, Exception) and (
            isinstance(result, Poison) or delivery.bugs + 1 >= BUG_ATTEMPTS
        ):
            events.append(_stage_failed(delivery, chunk, result))
        else:
            raise result
    if retryables:
        raise longest_wait(retryables, events)
    return events


async def _extract(
    delivery: Delivery[ChunksCreated],
    chunk: Chunk,
    cached_extractions: dict[str, Extraction],
    extractor: Extractor,
    extractions: Extractions,
    clock: Callable[[], float],
) -> Event:
    if chunk.given is not None:
        return _from_custom_knowledge(delivery, chunk, chunk.given)
    version = extractor.prompt_version
    started_at = clock()
    extraction = cached_extractions.get(cache_key(extractor, chunk))
    if extraction is None:
        version, extraction = await _ask(delivery, chunk, extractor, extractions)
    return EntitiesExtracted(
        document=delivery.event.document,
        chunk=ChunkRef(id=chunk.id, order=chunk.order),
        entities=extraction.entities,
        relations=extraction.relations,
        model=extractor.model,
        prompt_version=version,
        cache_key=cache_key(extractor, chunk, version),
        usage=extraction.usage,
        warnings=document_warnings(extraction.warnings),
        duration_ms=round((clock() - started_at) * 1000),
        # An earlier attempt at this very event may have paid, and ended before it was published.
        cached=extraction.payer != _payer(delivery, chunk),
    )


async def _ask(
    delivery: Delivery[ChunksCreated], chunk: Chunk, extractor: Extractor, extractions: Extractions
) -> tuple[str, Extraction]:
    """Return the prompt version of the last round, and the extraction, which names the chunk that
    round was paid for.

    The first round is cached before the second begins, so it is not paid for twice if the second
    fails. A second round that never succeeds is given up: the first one is returned, with its
    prompt version.
    """
    draft = extractor.draft_version
    once = partial(extractions.once, delivery.workspace)
    text = chunk.content
    headings = chunk.headings
    payer = _payer(delivery, chunk)
    document = delivery.event.document

    async def extract() -> Extraction:
        with calls_for_result(cache_key(extractor, chunk, draft), document):
            return replace(await extractor.extract(text, headings), payer=payer)

    async def glean() -> Extraction:
        with calls_for_result(cache_key(extractor, chunk), document):
            complete = await extractor.glean(text, headings, first)
        if complete is first:
            return first
        usage = complete.usage if first.payer == payer else complete.usage.without(first.usage)
        return replace(complete, usage=usage, payer=payer)

    first, _ = await once(cache_key(extractor, chunk, draft), extract)
    if draft == extractor.prompt_version:
        return draft, first
    try:
        complete, _ = await once(cache_key(extractor, chunk), glean)
    except RoundGivenUp:
        return draft, first
    return extractor.prompt_version, complete


def _payer(delivery: Delivery[ChunksCreated], chunk: Chunk) -> str:
    """Return what an extraction that is made now was paid for."""
    return f"{delivery.event.document.version}/{chunk.id}"


def _from_custom_knowledge(
    delivery: Delivery[ChunksCreated], chunk: Chunk, custom_extraction: CustomExtraction
) -> EntitiesExtracted:
    """Return the event for a chunk of custom knowledge, its names cleaned as those of an extraction
    are.
    """
    entities: dict[str, ExtractedEntity] = {}
    for row in custom_extraction.entities:
        if name := clean_name(row.name):
            kind = "".join(clean_text(row.type).split()).lower()[:64] or UNKNOWN_TYPE
            entities[name] = ExtractedEntity(
                name=name, type=kind, description=clean_text(row.description) or name
            )
    relations: dict[tuple[str, str], ExtractedRelation] = {}
    for row in custom_extraction.relations:
        key = source, target = clean_name(row.source), clean_name(row.target)
        if not source or not target or source == target:
            continue
        keywords = tuple(
            dict.fromkeys(word for keyword in row.keywords if (word := clean_text(keyword)))
        )
        description = clean_text(row.description) or ", ".join(keywords) or f"{source}, {target}"
        relations[key] = ExtractedRelation(
            source=source,
            target=target,
            keywords=keywords,
            description=description,
            weight=row.weight,
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
