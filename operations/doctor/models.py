"""Findings about models: each that the settings name is models_asked something harmless."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import urlsplit

from runtime.errors import ServiceError
from runtime.findings import Finding
from runtime.models.open import open_chat, open_embedder
from runtime.models.port import Message
from runtime.models.rate_limiters import RateLimiters
from runtime.models.roles import ROLES, LanguageModel, RoleSettings, language_model
from services.query.settings import QuerySettings
from services.query.wiring import open_reranker

QUESTION = "Answer with the single word: yes"
TEXT = "The tide gauge of Port Elm was replaced in March."
PATIENCE = 60.0
"""Seconds a call may wait for its turn: a model on this machine is loaded by its first request."""

TODO = "see docs/providers.md for its binding and settings"


async def examine_models(settings: RoleSettings) -> AsyncIterator[Finding]:
    """Yield whether each language model, the embedder and the reranker answer."""
    models_asked: dict[tuple[str, str, str], str] = {}
    for role in ROLES:
        model = language_model(settings, role)
        if model and _identity(model) not in models_asked:
            models_asked[_identity(model)] = role
            title = f"language model {model.model} ({_place(model.binding, model.base_url)})"
            yield await _trial(title, lambda role=role: _ask_role(settings, role))
    if settings.has_embedding_endpoint:
        place = _place(settings.embedding_binding, settings.embedding_base_url)
        title = f"embedding model {settings.embedding_model} ({place})"
        yield await _trial(title, lambda: _embed_text(settings))
    query = QuerySettings()
    if query.rerank_binding not in ("", "null"):
        place = _place(query.rerank_binding, query.rerank_binding_host)
        yield await _trial(f"reranker ({place})", lambda: _rerank_texts(query))


def _identity(model: LanguageModel) -> tuple[str, str, str]:
    return model.base_url, model.model, model.connection.key


def _place(binding: str, address: str) -> str:
    host = urlsplit(address).hostname
    return f"{binding} at {host}" if host else binding


async def _trial(title: str, ask: Callable[[], Awaitable[None]]) -> Finding:
    """Return whether a model answers, and how soon."""
    start = time.monotonic()
    try:
        await ask()
    except ServiceError as error:
        return Finding("fault", f"{title}: {error}", TODO)
    return Finding("well", f"{title} answers in {time.monotonic() - start:.1f} s")


async def _ask_role(settings: RoleSettings, role: str) -> None:
    chat = open_chat(settings, role=next(name for name in ROLES if name == role), max_wait=PATIENCE)
    if chat is None:
        return
    try:
        await chat.complete([Message("user", QUESTION)])
    finally:
        await chat.close()


async def _embed_text(settings: RoleSettings) -> None:
    embedder = open_embedder(settings, max_wait=PATIENCE)
    try:
        await embedder.embed([TEXT])
    finally:
        await embedder.close()


async def _rerank_texts(settings: QuerySettings) -> None:
    reranker = open_reranker(settings, RateLimiters())
    if reranker is None:
        return
    try:
        await reranker.rerank("What was replaced?", [TEXT, "It rains."], 2)
    finally:
        await reranker.close()
