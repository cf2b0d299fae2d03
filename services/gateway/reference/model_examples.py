"""Example answers of the routes about models."""

from typing import Any

MODEL_EXAMPLES: dict[str, Any] = {
    "GET /operations/models": {
        "are_here": True,
        "models": [
            {
                "part": "language",
                "roles": ["extract", "summary", "keyword", "query"],
                "binding": "openai",
                "address": "https://api.openai.com/v1",
                "model": "gpt-4o-mini",
                "has_key": True,
            }
        ],
        "bindings": {"language": ["openai"], "embedding": ["openai"], "reranker": ["jina"]},
        "settings_file": None,
    },
    "POST /operations/models/test": {
        "works": True,
        "model": "gpt-4o-mini",
        "result": "yes",
        "seconds": 0.6,
    },
    "PUT /operations/models": {
        "file": "notes/.env",
        "variables": ["LLM_MODEL", "LLM_API_KEY"],
        "overridden": [],
        "result": "yes",
    },
    "GET /documents/languages": {
        "passages": 140,
        "languages": {"german": 128, "english": 12},
        "embedding_model": "minilm",
        "unknown_language": "german",
        "advised_model": "multilingual",
    },
}
"""Route → an answer."""
