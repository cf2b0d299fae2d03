"""Models and limits of answers as `/health` shows them, under LightRAG's names."""

from typing import Any

from runtime.models.roles import ROLES, Role, language_model
from runtime.stores.open import store_kinds
from services.query.settings import QuerySettings


def configuration(
    settings: QuerySettings, embedding_model: str, *, reranks: bool
) -> dict[str, Any]:
    """Return models and limits, without addresses and keys."""
    answers = language_model(settings, "query")
    llm = answers.model if answers else None
    return {
        "llm_binding": answers.binding if answers else None,
        "llm_model": llm,
        "role_llm_config": {role: role_configuration(settings, role) for role in ROLES},
        "embedding_binding": settings.embedding_binding
        if settings.has_embedding_endpoint
        else "offline",
        "embedding_model": embedding_model,
        "vector_storage": store_kinds(settings).vectors,
        "default_mode": settings.default_mode,
        "enable_llm_cache": settings.enable_llm_cache,
        "enable_llm_cache_for_extract": True,
        "enable_rerank": reranks,
        "rerank_binding": settings.rerank_binding or "null",
        "rerank_model": settings.rerank_model or None,
        "summary_language": settings.summary_language,
        "force_llm_summary_on_merge": settings.force_llm_summary_on_merge,
        "cosine_threshold": settings.cosine_threshold,
        "min_rerank_score": settings.min_rerank_score,
        "related_chunk_number": settings.related_chunk_number,
        "max_async": settings.llm_max_async,
        "llm_timeout": settings.llm_timeout,
        "embedding_func_max_async": settings.embedding_max_async,
        "embedding_batch_num": settings.embedding_batch_num,
        "embedding_timeout": settings.embedding_timeout,
    }


def role_configuration(settings: QuerySettings, role: Role) -> dict[str, Any]:
    """Return which model serves a role, as far as this process's settings tell, without address and
    key.
    """
    model = language_model(settings, role)
    if model is None:
        return {"binding": "offline", "model": None}
    return {
        "binding": model.binding,
        "model": model.model,
        "max_async": model.limits.calls,
        "timeout": model.timeout,
    }
