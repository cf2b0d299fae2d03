"""The providers with wires of their own: a server in the form of each, and its official client."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from contracts.values import TokenUsage
from runtime.models.bindings import Connection
from runtime.models.chat import EndpointChat
from runtime.models.endpoint import Endpoint
from runtime.models.limits import Limits
from runtime.models.port import AnswerPiece, Message
from runtime.models.rate_limiter import RateLimiter
from runtime.models.wires.open import open_wire
from tests.support import model_servers as servers
from tests.support.model_servers import (
    Answer,
    ModelServer,
    anthropic,
    azure,
    bedrock,
    entra,
    gemini,
    ollama,
    vertex,
)
from tests.support.model_servers.judges.anthropic import AnthropicJudge
from tests.support.model_servers.judges.azure import AzureJudge
from tests.support.model_servers.judges.bedrock import BedrockJudge
from tests.support.model_servers.judges.entra import EntraJudge
from tests.support.model_servers.judges.gemini import GeminiJudge
from tests.support.model_servers.judges.ollama import OllamaJudge
from tests.support.model_servers.judges.port import Judge
from tests.support.model_servers.judges.vertex import VertexJudge


@dataclass(frozen=True)
class Kind:
    """A binding, the server in its form and the official client."""

    binding: str
    answer: Answer
    judge: Callable[[str], Judge]
    model: str
    reasons: bool = True
    caches: bool = True
    embeds: bool = True
    filters: bool = True
    wait: float | None = servers.WAIT
    """Seconds that it asks to wait."""
    connect: Callable[[str, str], Connection] = Connection
    """How its server is reached with a key, or with what stands in the place of one."""
    key_name: str = "LLM_API_KEY"
    """What is to be changed when that is refused."""
    name: str = ""

    @property
    def usage(self) -> TokenUsage:
        cached = servers.CACHED if self.caches else 0
        return TokenUsage(
            prompt=servers.PROMPT, completion=servers.COMPLETION, cached=cached, calls=1
        )


KINDS = {
    kind.name or kind.binding: kind
    for kind in (
        Kind("azure_openai", azure.answer, AzureJudge, azure.DEPLOYMENT, reasons=False),
        Kind(
            "azure_openai",
            entra.answer,
            EntraJudge,
            azure.DEPLOYMENT,
            reasons=False,
            connect=entra.connection,
            key_name="AZURE_CLIENT_SECRET",
            name="entra",
        ),
        Kind("ollama", ollama.answer, OllamaJudge, ollama.MODEL, caches=False, filters=False),
        Kind("anthropic", anthropic.answer, AnthropicJudge, anthropic.MODEL, embeds=False),
        Kind("gemini", gemini.answer, GeminiJudge, gemini.MODEL),
        Kind(
            "gemini",
            vertex.answer,
            VertexJudge,
            gemini.MODEL,
            connect=vertex.connection,
            key_name="GOOGLE_APPLICATION_CREDENTIALS",
            name="vertex",
        ),
        Kind("bedrock", bedrock.answer, BedrockJudge, bedrock.MODEL, wait=None),
    )
}
EMBEDDING = [kind for kind in KINDS.values() if kind.embeds]
FIELDS = {"temperature": 0.5, "max_tokens": 900, "stop": ["###"]}


def endpoint(server: ModelServer, kind: Kind, key: str = servers.KEY, **options: Any) -> Endpoint:
    wire = open_wire(kind.binding, kind.connect(server.url, key))
    return Endpoint(wire, RateLimiter("m", Limits(calls=4)), 10.0, "LLM", **options)


def question(word: str = "") -> list[Message]:
    return [
        Message("system", "You answer from a knowledge base."),
        Message("user", "Hello"),
        Message("assistant", "What do you want to know?"),
        Message("user", f"Who leads? {word}"),
    ]


async def stream_answer(chat: EndpointChat, word: str = "") -> AnswerPiece:
    text = reasoning = ""
    last = AnswerPiece()
    async for last in chat.stream(question(word)):
        text += last.text
        reasoning += last.reasoning
    return AnswerPiece(text, reasoning, last.cut, narrow=last.narrow)
