"""An example answer of each route about conversations."""

from typing import Any

_CONVERSATION: dict[str, Any] = {
    "id": "m2k4c1-0f9a7b3e",
    "name": "The Harbour Office",
    "at": 1795889479347,
    "questions": [{"query": "Who leads the Harbour Office?", "mode": "walk"}],
}

CONVERSATION_EXAMPLES: dict[str, Any] = {
    "GET /conversations": {"are_kept": True, "conversations": [_CONVERSATION]},
    "PUT /conversations/{id}": _CONVERSATION,
    "DELETE /conversations/{id}": {"id": "m2k4c1-0f9a7b3e"},
}
