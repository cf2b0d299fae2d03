"""Opens the batches of the provider that a wire leads to."""

from runtime.models.batches.anthropic import AnthropicBatches
from runtime.models.batches.azure import AzureBatches
from runtime.models.batches.openai import OpenAiBatches
from runtime.models.batches.port import Batches
from runtime.models.endpoint import Endpoint
from runtime.models.wires.anthropic import AnthropicWire
from runtime.models.wires.azure import AzureWire
from runtime.models.wires.openai import OpenAiWire


def open_batches(endpoint: Endpoint) -> Batches | None:
    """Return the batches of an endpoint's provider; None where its wire has none."""
    if type(endpoint.wire) is OpenAiWire:
        return OpenAiBatches(endpoint)
    if isinstance(endpoint.wire, AzureWire):
        return AzureBatches(endpoint, endpoint.wire)
    return AnthropicBatches(endpoint) if isinstance(endpoint.wire, AnthropicWire) else None
