"""What is said to who asks for a route that is not there."""

from services.gateway.errors import OLLAMA_PREFIX, OPENAI_PREFIX

NO_ROUTE = "Not Found"
"""What the framework says of a route that is not there."""

NO_EMBEDDINGS = (
    "embeddings are not given out: POST /query/data returns the passages that are nearest to a "
    "text, and your provider of models embeds texts of yours"
)

NOT_SPOKEN = {
    "/v1/embeddings": NO_EMBEDDINGS,
    "/v1/responses": (
        "the Responses API is not spoken: POST /v1/chat/completions takes the same conversation as "
        "`messages`"
    ),
    "/v1/completions": (
        "completions without a conversation are not given: POST /v1/chat/completions takes "
        "`messages`"
    ),
    "/api/embed": NO_EMBEDDINGS,
    "/api/embeddings": NO_EMBEDDINGS,
}
"""Routes of OpenAI and Ollama that clients try, and what is here instead."""

OFFERED = {
    OPENAI_PREFIX: "of OpenAI's routes GET /v1/models and POST /v1/chat/completions are here",
    OLLAMA_PREFIX: "of Ollama's routes /api/chat, /api/generate, /api/tags and /api/ps are here",
}
"""The routes below a prefix of other protocols, as a sentence."""


def describe_unknown_route(path: str) -> str:
    """Return a sentence that says what there is instead of the route of this path."""
    plain = path.rstrip("/")
    for route, sentence in NOT_SPOKEN.items():
        if plain == route or plain.startswith(f"{route}/"):
            return sentence
    for prefix, sentence in OFFERED.items():
        if path.startswith(prefix):
            return f"there is no such route: {sentence}"
    return "there is no such route: /docs lists all there are, unless it is switched off"
