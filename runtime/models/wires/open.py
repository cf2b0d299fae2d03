"""Opens the wire of a binding."""

from runtime.models.bindings import GEMINI, Connection
from runtime.models.wires.anthropic import AnthropicWire
from runtime.models.wires.azure import AzureWire, is_classic
from runtime.models.wires.bedrock import BedrockWire
from runtime.models.wires.embeddings import (
    CohereWire,
    JinaWire,
    NvidiaWire,
    TeiWire,
    VoyageWire,
)
from runtime.models.wires.gemini import GeminiWire
from runtime.models.wires.ollama import OllamaWire
from runtime.models.wires.openai import OpenAiWire
from runtime.models.wires.vertex import VertexWire

WIRES: dict[str, type[OpenAiWire]] = {
    "openai": OpenAiWire,
    "azure_openai": AzureWire,
    "ollama": OllamaWire,
    "anthropic": AnthropicWire,
    "gemini": GeminiWire,
    "bedrock": BedrockWire,
    "nvidia": NvidiaWire,
    "jina": JinaWire,
    "voyage": VoyageWire,
    "cohere": CohereWire,
    "huggingface": TeiWire,
}


def open_wire(binding: str, connection: Connection) -> OpenAiWire:
    """Return the wire of a binding. An address with one of Azure's deployments is Azure's in any
    case, and Gemini in a project of Google Cloud has a wire of its own.
    """
    if binding == GEMINI and connection.vertex:
        return VertexWire(connection)
    if binding == "openai" and is_classic(connection.address):
        return AzureWire(connection)
    return WIRES[binding](connection)
