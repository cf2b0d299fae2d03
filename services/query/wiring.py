"""Opens what a question is answered from, as the settings name it."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from hashlib import blake2b
from threading import Lock

import structlog
from cachetools import LRUCache, cached

from contracts.graph import PROJECTIONS
from runtime.health import Health
from runtime.models.limits import Limits
from runtime.models.limits_shared import Guards
from runtime.models.open import open_chat, open_tokenizer
from runtime.models.port import Chat
from runtime.models.truncation import cutter
from runtime.projections.embedding import Embeddings
from runtime.projections.integrity import Integrity
from runtime.service import Bus, until_it_answers
from runtime.stores.documents.checkpoints import RowCheckpoints
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from runtime.stores.open import open_documents, open_graph
from runtime.stores.port import CheckpointStore
from services.query.adapters.answer_cache import RowMemories
from services.query.adapters.documents import RowCaches, RowDocuments, RowPassages
from services.query.adapters.models import ModelAnswers, ModelKeywords, ModelReranker, Reranker
from services.query.adapters.named_models import NamedChat
from services.query.adapters.provenance import RowProvenance
from services.query.adapters.row_cache import RowCache
from services.query.adapters.searches import ModelSearches
from services.query.adapters.word_embeddings import RememberedWords
from services.query.answering.dependencies import Library
from services.query.answering.port import Memories
from services.query.offline.models import ExtractiveAnswers, OfflineKeywords
from services.query.retrieval.caches.cached_graph import KeptGraph
from services.query.retrieval.caches.invalidation import Kept
from services.query.retrieval.caches.name_indexes import NameIndexes
from services.query.retrieval.port import KeywordFinders, Rerankers
from services.query.settings import QuerySettings

logger = structlog.get_logger(__name__)

PATIENCE = 30.0
"""Seconds a question waits for its turn at a model that others use too."""

SHORT_PATIENCE = 5.0

COUNTED = 50_000
"""Texts whose tokens are remembered, the least used forgotten first: what many questions find is counted once. 8 MB."""


@asynccontextmanager
async def opened_library(settings: QuerySettings, bus: Bus, health: Health) -> AsyncGenerator[Library]:
    """Stores that answer, and models; closed in the end."""
    logger.info("instructions of every request", characters=len(settings.prompt_prefix))
    embeddings = Embeddings(settings, bus.guards, patience=PATIENCE)
    opened = open_chat(settings, bus.guards, patience=PATIENCE)
    chat = NamedChat(opened) if opened else None
    reranker = open_reranker(settings, bus.guards)
    rows, graph = open_documents(settings), open_graph(settings)
    documents, kept = RowDocuments(rows), Kept(bus.log, settings.graph_cache_mb * 2**20)
    names = NameIndexes(graph, documents)
    configured = (searches := ModelSearches(embeddings, kept)).configured
    try:
        await _stores_answer(rows, graph, embeddings, health)
        watch(bus.integrity, rows, graph, embeddings)
        yield Library(
            graph=graph,
            around=KeptGraph(graph, kept),
            vectors=configured.vectors,
            likenesses=configured.likenesses,
            freshness=kept,
            documents=documents,
            passages=RowPassages(rows),
            supports=RowProvenance(rows),
            caches=RowCaches(rows),
            keywords=keyword_finders(chat, rows, settings),
            # Many questions are answered from the same sentences; embedding them is most of the work.
            answers=ModelAnswers(chat) if chat else ExtractiveAnswers(RememberedWords(embeddings.configured.embedder)),
            embed=configured.embed,
            embed_words=configured.embed_words,
            names=names,
            count=counter(open_tokenizer().count),
            reranker=rerankers(reranker, settings),
            min_score=settings.cosine_threshold,
            min_rerank_score=settings.min_rerank_score,
            related_chunks=settings.related_chunk_number,
            pick=settings.kg_chunk_pick_method,
            memories=memories(chat, rows, bus, settings),
            searches=searches,
        )
    finally:
        for part in (names, embeddings, graph, rows, *(model for model in (chat, reranker) if model)):
            await part.close()


async def _stores_answer(rows: Rows, graph: Graph, embeddings: Embeddings, health: Health) -> None:
    await until_it_answers("the document store", rows.prepare, health)
    await until_it_answers("the graph store", graph.prepare, health)
    await until_it_answers("the vector store", embeddings.configured.vectors.ping, health)


def watch(integrity: Integrity, rows: Rows, graph: Graph, vectors: CheckpointStore) -> None:
    """Have all that is read here watched, and the checkpoints of what this service fills kept."""
    here = {name: RowCheckpoints(rows, name) for name in PROJECTIONS}
    integrity.keeper = rows
    integrity.watch("status", {"the document store": here["status"]}, ("query-status",))
    integrity.watch("graph", {"the document store": here["graph"], "the graph store": graph})
    integrity.watch("vectors", {"the document store": here["vectors"], "the vector store": vectors})


def counter(count: Callable[[str], int]) -> Callable[[str], int]:
    """Counts tokens, those of the same text once. Texts are known by their hashes, so long ones take no more memory."""

    def known_by(text: str) -> bytes:
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    return cached(LRUCache[bytes, int](COUNTED), key=known_by, lock=Lock())(count)


def memories(chat: Chat | None, rows: Rows, bus: Bus, settings: QuerySettings) -> Memories | None:
    """Where the model's answers are remembered, unless that is switched off."""
    return RowMemories(RowCache(rows, "answers"), bus.log, chat.model) if chat and settings.enable_llm_cache else None


def keyword_finders(chat: Chat | None, rows: Rows, settings: QuerySettings) -> KeywordFinders:
    """The model's keywords, each question's asked for once; without a model the question's own words."""
    if chat is None:
        return OfflineKeywords()
    cache = RowCache(rows, "keywords") if settings.enable_llm_cache else None
    return ModelKeywords(chat, settings.summary_language, cache)


def rerankers(reranker: Reranker | None, settings: QuerySettings) -> Rerankers | None:
    """The reranker with passages cut to what it reads."""
    return ModelReranker(reranker, cutter(settings.rerank_max_tokens_per_doc, 0)) if reranker else None


def open_reranker(settings: QuerySettings, guards: Guards) -> Reranker | None:
    """The reranker, where one is configured. A call waits only shortly for its turn: an answer can do without."""
    if settings.rerank_binding in ("", "null"):
        return None
    # Loaded only here: the client behind it takes seconds, and most stacks have no reranker.
    from services.query.adapters.http_reranker import HttpReranker  # noqa: PLC0415

    model, address = settings.rerank_model, settings.rerank_binding_host
    key = settings.rerank_binding_api_key.get_secret_value()
    shown = model or settings.rerank_binding
    guard = guards.guard(
        "reranker", shown, f"{shown} {address} {key}", Limits(calls=settings.rerank_max_async), SHORT_PATIENCE
    )
    return HttpReranker(
        settings.rerank_binding,
        address,
        model,
        key,
        timeout=settings.rerank_timeout,
        guard=guard,
    )
