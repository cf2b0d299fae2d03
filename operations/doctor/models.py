"""Findings about models: each that the settings name is asked something harmless."""

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from urllib.parse import urlsplit

from embedded.data_folder import DataFolder
from embedded.environment import settings_from, stack_environment
from runtime.errors import ServiceError, Unavailable
from runtime.findings import Finding
from runtime.models.roles import ROLES, VISION, LanguageModel, RoleSettings, language_model
from runtime.models.trial import COLOUR, try_embedder, try_language_model
from services.query.settings import QuerySettings
from services.query.wiring import try_reranker

TODO = "see docs/providers.md for its binding and settings"


async def examine_models(
    settings: RoleSettings, query: QuerySettings | None = None
) -> AsyncIterator[Finding]:
    """Yield whether each language model, the embedder and the reranker answer; the reranker is that
    of `query`, else of this process's settings.
    """
    models_asked: set[tuple[str, str, str]] = set()
    for role in ROLES:
        model = language_model(settings, role)
        if model is None:
            continue
        place = _place(model.binding, model.base_url)
        if role == VISION:
            title = f"model of figures {model.model} ({place})"
            yield await _trial(title, partial(_look, settings))
        elif _identity(model) not in models_asked:
            models_asked.add(_identity(model))
            title = f"language model {model.model} ({place})"
            yield await _trial(title, partial(try_language_model, settings, role))
    if settings.has_embedding_endpoint:
        place = _place(settings.embedding_binding, settings.embedding_base_url)
        title = f"embedding model {settings.embedding_model} ({place})"
        yield await _trial(title, partial(try_embedder, settings))
    query = query or QuerySettings()
    if query.rerank_binding not in ("", "null"):
        place = _place(query.rerank_binding, query.rerank_binding_host)
        yield await _trial(f"reranker ({place})", partial(try_reranker, query))


async def examine_models_of(folder: DataFolder) -> AsyncIterator[Finding]:
    """Examine the models that the running stack of a folder asks, whatever this shell names; where
    none runs, those that one started from this shell would ask.
    """
    environ = stack_environment(folder.read()) if folder.is_running() else os.environ
    settings = settings_from(RoleSettings, environ)
    whose = "the running stack" if folder.is_running() else "this shell; no stack runs"
    yield Finding("note", f"models are those of {whose}")
    async for finding in examine_models(settings, settings_from(QuerySettings, environ)):
        yield finding


async def _look(settings: RoleSettings) -> None:
    """Show the model of figures a picture. Raises Unavailable where it does not see what is on
    it.
    """
    trial = await try_language_model(settings, VISION)
    if trial and COLOUR not in trial.result.lower():
        raise Unavailable(
            f"it was shown a {COLOUR} picture and answered {trial.result!r}: it may see no pictures"
        )


def _identity(model: LanguageModel) -> tuple[str, str, str]:
    return model.base_url, model.model, model.connection.key


def _place(binding: str, address: str) -> str:
    host = urlsplit(address).hostname
    return f"{binding} at {host}" if host else binding


async def _trial(title: str, ask: Callable[[], Awaitable[object]]) -> Finding:
    """Return whether a model answers, and how soon."""
    start = time.monotonic()
    try:
        await ask()
    except ServiceError as error:
        return Finding("fault", f"{title}: {error}", TODO)
    return Finding("well", f"{title} answers in {time.monotonic() - start:.1f} s")
