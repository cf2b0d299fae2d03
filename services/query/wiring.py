"""Opens the stores and models of the settings and builds the query service's dependencies from
them.
"""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

import structlog

from contracts.events import GoldenQuestionSet
from contracts.graph import PROJECTIONS, Generations
from runtime.bus.port import Log
from runtime.costs.ledger import RowLedger
from runtime.golden.judging import GivenAnswer
from runtime.health import Health
from runtime.models.limits import Limits
from runtime.models.multilingual import MultilingualEmbedder
from runtime.models.open import UNSHARED_LIMITERS, open_chat, open_tokenizer
from runtime.models.port import Chat, Embedder, ToolChat
from runtime.models.rate_limiters import RateLimiters
from runtime.models.roles import Role, language_model
from runtime.models.truncation import cutter
from runtime.projections.embedding import GenerationEmbedders
from runtime.projections.integrity import Integrity
from runtime.projections.log_archive import LogArchive, archiving
from runtime.service import Bus, until_it_answers
from runtime.stores.documents.checkpoints import RowCheckpoints
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from runtime.stores.open import open_documents, open_graph
from runtime.stores.port import CheckpointStore
from services.query.adapters.answer_cache import StoredAnswers
from services.query.adapters.model_result_caches import RowModelResultCaches
from services.query.adapters.models import (
    ModelAnswerGenerator,
    ModelFollowUps,
    ModelKeywordExtractor,
    ModelReranker,
    Reranker,
)
from services.query.adapters.named_models import NamedChat
from services.query.adapters.offline import ExtractiveAnswerGenerator, OfflineKeywordExtractor
from services.query.adapters.provenance import RowProvenance
from services.query.adapters.row_cache import RowCache
from services.query.adapters.searches import ModelVectorSearches
from services.query.adapters.sources import Sources, cached_sources
from services.query.adapters.tool_choices import ModelToolChoices
from services.query.adapters.warm_caches import SourceCaches
from services.query.adapters.word_embeddings import CachedWordEmbedder
from services.query.answering.ask import ask
from services.query.answering.comparison import CompareAnswers, compare_answers
from services.query.answering.dependencies import QueryDependencies
from services.query.answering.port import AnswerCache, AnswerGenerator
from services.query.charges import charged_to
from services.query.partitions import Partitions
from services.query.questions.judged_answer import given_answer
from services.query.questions.local import to_question
from services.query.questions.port import QuestionRequest, SearchPlace
from services.query.retrieval.caches.invalidation import ProjectionCache
from services.query.retrieval.port import PassageReranker
from services.query.settings import QuerySettings

if TYPE_CHECKING:
    from runtime.models.trial import Trial

logger = structlog.get_logger(__name__)

MAX_WAIT = 30.0
"""Seconds a question waits for the rate limiter of a language or embedding model."""

MAX_RERANKER_WAIT = 5.0
"""Seconds a question waits for the rate limiter of the reranker."""

Ready = Callable[[Rows, Graph, GenerationEmbedders], AbstractAsyncContextManager[None]]
"""Waits for the stores and watches them, inside of what it returns."""


@asynccontextmanager
async def open_dependencies(
    settings: QuerySettings, bus: Bus, health: Health
) -> AsyncGenerator[QueryDependencies]:
    """Open stores and models, wait until the stores answer, watch log and stores, and close all of
    them at the end.
    """
    wait_for_stores = partial(_ready_and_watched, settings, bus, health)
    async with open_answering(settings, bus.log, bus.limiters, wait_for_stores) as dependencies:
        yield dependencies


@asynccontextmanager
async def open_answering(
    settings: QuerySettings, log: Log, limiters: RateLimiters, wait_for_stores: Ready
) -> AsyncGenerator[QueryDependencies]:
    """Open stores and models, hand out what answers questions inside of `wait_for_stores`, and
    close all of them at the end.
    """
    cache = ProjectionCache(log, settings.graph_cache_mb * 2**20)
    sources = cached_sources(open_documents(settings), open_graph(settings), cache)
    embeddings = GenerationEmbedders(settings, limiters, max_wait=MAX_WAIT)
    models = _Models(embeddings, *open_chats(settings, limiters), open_reranker(settings, limiters))
    searches = ModelVectorSearches(embeddings, cache)
    keywords = open_keyword_extractor(models.keyword_chat, sources.rows, settings)
    dependencies = _dependencies(settings, log, sources, models, searches, keywords)
    try:
        async with wait_for_stores(sources.rows, sources.graph, embeddings):
            yield dependencies
    finally:
        await _close(sources.names, sources.reader, searches)
        await _close(keywords, embeddings, sources.graph, sources.rows)
        await _close(models.chat, models.keyword_chat, models.reranker)


class _Models(NamedTuple):
    embeddings: GenerationEmbedders
    chat: ToolChat | None
    keyword_chat: ToolChat | None
    reranker: Reranker | None


def _dependencies(
    settings: QuerySettings,
    log: Log,
    sources: Sources,
    models: _Models,
    searches: ModelVectorSearches,
    keywords: ModelKeywordExtractor | OfflineKeywordExtractor,
) -> QueryDependencies:
    rows = sources.rows
    chat = models.chat
    configured_search = searches.configured
    return QueryDependencies(
        graph=sources.graph,
        graph_reader=sources.reader,
        vectors=configured_search.vectors,
        vector_reader=configured_search.reader,
        cache_invalidation=sources.cache,
        documents=sources.documents,
        passages=sources.passages,
        provenance=RowProvenance(rows),
        aliases=sources.aliases,
        caches=RowModelResultCaches(rows),
        ledger=RowLedger(rows),
        keyword_extractor=keywords,
        answer_generator=_answer_generator(chat, models.embeddings.configured.embedder),
        embed=configured_search.embed,
        entity_names=sources.names,
        passage_reader=sources.passages,
        count_tokens=open_tokenizer().count,
        reranker=passage_reranker(models.reranker, settings),
        min_score=settings.cosine_threshold,
        min_rerank_score=settings.min_rerank_score,
        related_chunks=settings.related_chunk_number,
        chunk_pick_method=settings.kg_chunk_pick_method,
        answer_cache=open_answer_cache(chat, rows, log, settings),
        follow_ups=open_follow_ups(chat, rows, settings),
        tool_choices=open_tool_choices(chat, rows, settings),
        effort_limits=settings.effort_limits,
        vector_searches=searches,
        warm_caches=SourceCaches(sources, searches),
    )


@asynccontextmanager
async def open_comparison(
    settings: QuerySettings, log: Log, workspace: str
) -> AsyncGenerator[CompareAnswers]:
    """Open what compares answers, for a command, and charge the workspace for it; fails where a
    store is away.
    """
    async with (
        charged_to(workspace, log),
        open_answering(settings, log, UNSHARED_LIMITERS, _unwatched) as dependencies,
    ):
        yield partial(compare_answers, dependencies, mode=settings.default_mode)


@asynccontextmanager
async def open_asking(
    settings: QuerySettings, log: Log, workspace: str
) -> AsyncGenerator[Callable[[GoldenQuestionSet, Generations], Awaitable[GivenAnswer]]]:
    """Open what asks golden questions of any generations, for a command, and charge the workspace
    for it; fails where a store is away.
    """
    async with (
        charged_to(workspace, log),
        open_answering(settings, log, UNSHARED_LIMITERS, _unwatched) as dependencies,
    ):

        async def ask_generations(
            question: GoldenQuestionSet, generations: Generations
        ) -> GivenAnswer:
            place = SearchPlace(partitions=Partitions.of(workspace, generations))
            request = QuestionRequest(query=question.question, place=place, mode=question.mode)
            searched_generation = place.partitions.vectors.generation
            async with dependencies.for_generation(searched_generation) as of_generation:
                full_question = to_question(request, settings)
                return given_answer(await ask(full_question, place.partitions, of_generation))

        yield ask_generations


def _unwatched(*_: object) -> AbstractAsyncContextManager[None]:
    return nullcontext()


class _Closes(Protocol):
    async def close(self) -> None: ...


async def _close(*parts: _Closes | None) -> None:
    """Close each part once, though it may stand in two places."""
    for part in {id(part): part for part in parts if part is not None}.values():
        await part.close()


def open_chats(
    settings: QuerySettings, limiters: RateLimiters
) -> tuple[ToolChat | None, ToolChat | None]:
    """Return the models that answer and that extract keywords: the same one unless they are set
    apart.
    """

    def opened(role: Role) -> ToolChat | None:
        chat = open_chat(settings, limiters, role=role, max_wait=MAX_WAIT)
        return NamedChat(chat) if chat else None

    logger.info("instructions of every request", characters=len(settings.prompt_prefix))
    answers = opened("query")
    apart = language_model(settings, "keyword") != language_model(settings, "query")
    return answers, opened("keyword") if apart else answers


def _answer_generator(chat: Chat | None, embedder: Embedder) -> AnswerGenerator:
    if chat:
        return ModelAnswerGenerator(chat)
    from runtime.models.reader import ThreadedReader  # noqa: PLC0415 - no model needs it

    multilingual = MultilingualEmbedder()
    # What finds passages in other languages compares English sentences less well.
    if embedder.model == multilingual.model:
        from runtime.models.minilm import MiniLmEmbedder  # noqa: PLC0415

        embedder = MiniLmEmbedder()
    # Many questions are answered from the same sentences, and embedding them takes most of the
    # time.
    return ExtractiveAnswerGenerator(
        CachedWordEmbedder(embedder), CachedWordEmbedder(multilingual), ThreadedReader()
    )


@asynccontextmanager
async def _ready_and_watched(
    settings: QuerySettings,
    bus: Bus,
    health: Health,
    rows: Rows,
    graph: Graph,
    embeddings: GenerationEmbedders,
) -> AsyncGenerator[None]:
    await until_it_answers("the document store", rows.prepare, health)
    await until_it_answers("the graph store", graph.prepare, health)
    await until_it_answers("the vector store", embeddings.configured.vectors.ping, health)
    async with _watched_log(settings, bus, rows, graph, embeddings):
        yield


def _watched_log(
    settings: QuerySettings, bus: Bus, rows: Rows, graph: Graph, vectors: CheckpointStore
) -> AbstractAsyncContextManager[None]:
    """Watch log and stores, and copy the log into the document store in the context, where the
    settings ask for it.
    """
    watch_integrity(bus.integrity, rows, graph, vectors)
    if not settings.log_archive:
        return nullcontext()
    return archiving(LogArchive(bus.jetstream, rows, bus.integrity.values), bus.integrity.writes)


def watch_integrity(
    integrity: Integrity, rows: Rows, graph: Graph, vectors: CheckpointStore
) -> None:
    """Watch that the stores read here are not behind their checkpoints; write those of the status
    projection.
    """
    here = {name: RowCheckpoints(rows, name) for name in PROJECTIONS}
    integrity.mark_store = integrity.schema_store = rows
    integrity.watch("status", {"the document store": here["status"]}, ("query-status",))
    integrity.watch("graph", {"the document store": here["graph"], "the graph store": graph})
    integrity.watch("vectors", {"the document store": here["vectors"], "the vector store": vectors})


def open_answer_cache(
    chat: Chat | None, rows: Rows, log: Log, settings: QuerySettings
) -> AnswerCache | None:
    """Return the cache of the model's answers; None without a model or if the settings disable
    it.
    """
    return (
        StoredAnswers(RowCache(rows, "answers"), log, chat.model)
        if chat and settings.enable_llm_cache
        else None
    )


def open_follow_ups(
    chat: Chat | None, rows: Rows, settings: QuerySettings
) -> ModelFollowUps | None:
    """Return what asks the model for what is missing, cached unless disabled; None without a
    model.
    """
    # Among keywords, because both are what a model said about how to search.
    cache = RowCache(rows, "keywords") if settings.enable_llm_cache else None
    return ModelFollowUps(chat, cache) if chat else None


def open_tool_choices(
    chat: ToolChat | None, rows: Rows, settings: QuerySettings
) -> ModelToolChoices | None:
    """Return what lets the model choose tools, cached unless disabled; None without a model."""
    cache = RowCache(rows, "keywords") if settings.enable_llm_cache else None
    return ModelToolChoices(chat, cache) if chat else None


def open_keyword_extractor(
    chat: Chat | None, rows: Rows, settings: QuerySettings
) -> ModelKeywordExtractor | OfflineKeywordExtractor:
    """Return the keyword extractor of the model, cached unless disabled; without a model the
    offline one.
    """
    if chat is None:
        return OfflineKeywordExtractor()
    cache = RowCache(rows, "keywords") if settings.enable_llm_cache else None
    return ModelKeywordExtractor(chat, settings.summary_language, cache)


def passage_reranker(reranker: Reranker | None, settings: QuerySettings) -> PassageReranker | None:
    """Return the reranker with passages truncated to its token limit; None without a reranker."""
    return (
        ModelReranker(reranker, cutter(settings.rerank_max_tokens_per_doc, 0)) if reranker else None
    )


async def try_reranker(settings: QuerySettings) -> "Trial | None":
    """Have the reranker order two texts; None if none is configured. Raises what
    `Reranker.rerank` does.
    """
    # Imported only here, with the wires of all providers.
    from runtime.models.trial import TEXT, Trial  # noqa: PLC0415

    reranker = open_reranker(settings, UNSHARED_LIMITERS)
    if reranker is None:
        return None
    start = time.monotonic()
    try:
        ranking = await reranker.rerank("What was replaced?", [TEXT, "It rains."], 2)
    finally:
        await reranker.close()
    name = settings.rerank_model or settings.rerank_binding
    return Trial(name, f"{len(ranking)} texts ordered", time.monotonic() - start)


def open_reranker(settings: QuerySettings, limiters: RateLimiters) -> Reranker | None:
    """Return the configured reranker, or None. A call waits only `MAX_RERANKER_WAIT` seconds: it is
    optional.
    """
    if settings.rerank_binding in ("", "null"):
        return None
    # Imported only here: the import of its client takes seconds, and most deployments have no
    # reranker.
    from services.query.adapters.http_reranker import HttpReranker  # noqa: PLC0415

    model = settings.rerank_model
    address = settings.rerank_binding_host
    key = settings.rerank_binding_api_key.get_secret_value()
    display_name = model or settings.rerank_binding
    limiter = limiters.limiter(
        "reranker",
        display_name,
        f"{display_name} {address} {key}",
        Limits(calls=settings.rerank_max_async),
        MAX_RERANKER_WAIT,
    )
    return HttpReranker(
        settings.rerank_binding,
        address,
        model,
        key,
        timeout=settings.rerank_timeout,
        limiter=limiter,
    )
