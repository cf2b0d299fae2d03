"""What a judge reads of a server of ours: answers, streams, pictures, tools, vectors, errors."""

from dataclasses import dataclass
from typing import Any, Protocol

from tests.support.model_servers import TOOL

LIMIT = 1000
"""Tokens of an answer that judges ask for."""


@dataclass(frozen=True)
class Reading:
    """What a client has read of an answer."""

    text: str
    reasoning: str
    prompt: int
    completion: int
    cached: int
    reason: str


ToolReading = tuple[str, dict[str, Any], str]
"""Name and arguments of the call, and the text that answers its result."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"keywords": {"type": "array", "items": {"type": "string"}}},
    "required": ["keywords"],
}
"""The arguments of the tool."""

FUNCTION: Any = {"name": TOOL, "description": "Find words.", "parameters": SCHEMA}
OPENAI_TOOL: Any = {"type": "function", "function": FUNCTION}


class Judge(Protocol):
    """An official client."""

    async def whole(self, prompt: str) -> Reading:
        """Read a whole answer."""
        ...

    async def streamed(self, prompt: str) -> Reading:
        """Read a streamed answer."""
        ...

    async def seeing(self, prompt: str, png: bytes) -> Reading:
        """Read the answer to a picture and a text."""
        ...

    async def status(self, prompt: str) -> int:
        """Return the status of the error that the prompt brings."""
        ...

    async def vectors(self, texts: list[str]) -> list[list[float]]:
        """Return vectors."""
        ...

    async def with_tool(self, prompt: str) -> ToolReading:
        """Offer the tool, give its result when it is called, and read the answer."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
