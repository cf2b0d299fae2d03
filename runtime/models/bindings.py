"""Bindings: which kind of provider a model is asked of, under LightRAG's names; and what a wire to
it is opened with.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from runtime.variables import http_address

OPENAI = "openai"
AZURE = "azure_openai"
GEMINI = "gemini"

LLM_BINDINGS = ("openai", "azure_openai", "ollama", "anthropic", "gemini", "bedrock", "nvidia")
EMBEDDING_BINDINGS = (
    "openai",
    "azure_openai",
    "ollama",
    "gemini",
    "bedrock",
    "jina",
    "voyage",
    "cohere",
    "nvidia",
    "huggingface",
)

SAME: Mapping[str, str] = MappingProxyType(
    {
        "aws_bedrock": "bedrock",
        "azure": "azure_openai",
        "google": "gemini",
        "voyageai": "voyage",
        "tei": "huggingface",
        "vllm": "openai",
        "lmstudio": "openai",
        "openrouter": "openai",
        "openai-ollama": "openai",
    }
)
"""Other names of bindings."""

OFFLINE_EMBEDDERS = ("minilm", "minilm-floats", "multilingual", "lexical")
"""Values of EMBEDDING_MODEL that name an embedder of our own."""

KEYLESS = ("ollama", "bedrock")
"""Bindings that work without a key: a server of one's own, and AWS's chain of credentials."""

ADDRESSES: Mapping[str, str] = MappingProxyType(
    {
        "openai": "https://api.openai.com/v1",
        "ollama": "http://localhost:11434",
        "anthropic": "https://api.anthropic.com",
        "gemini": "https://generativelanguage.googleapis.com",
        "jina": "https://api.jina.ai/v1",
        "voyage": "https://api.voyageai.com/v1",
        "cohere": "https://api.cohere.com/v2",
        "nvidia": "https://integrate.api.nvidia.com/v1",
    }
)
"""Addresses of providers that have one of their own; Bedrock's depends on the region."""

_DEFAULT_ADDRESS = re.compile(r"DEFAULT_\w+_ENDPOINT")
"""What LightRAG takes for the provider's own address."""


@dataclass(frozen=True)
class EntraApplication:
    """An application of Microsoft Entra ID, to which Azure answers without a key. It has a secret,
    or a file with the token of its workload.
    """

    authority: str
    tenant: str
    client: str
    secret: str = ""
    token_file: str = ""


@dataclass(frozen=True)
class ManagedIdentity:
    """An identity that Azure gives to the machine this runs on. `client`: which of several; empty:
    the machine's own.
    """

    client: str = ""


@dataclass(frozen=True)
class VertexProject:
    """A project in Google Cloud, and its place."""

    id: str
    location: str


@dataclass(frozen=True)
class Connection:
    """What a wire is opened with."""

    address: str = ""
    key: str = ""
    api_version: str = ""
    """Azure's `api-version`."""
    deployment: str = ""
    """Azure's name of the model; empty: the model's."""
    batch_deployment: str = ""
    """Azure's name of the model that answers batches; empty: that of all calls."""
    region: str = ""
    """AWS's region."""
    window: int = 0
    """Tokens of the window that Ollama's embedding models are asked for; 0: their own."""
    entra: EntraApplication | ManagedIdentity | None = None
    """Who asks Azure, where there is no key."""
    vertex: VertexProject | None = None
    """Where Gemini is, if it is asked of Google Cloud."""


def binding_of(name: str, bindings: tuple[str, ...]) -> str:
    """Return the binding of this name. Raises ValueError for one that is not among `bindings`."""
    binding = name.strip().lower()
    binding = SAME.get(binding, binding)
    if binding not in bindings:
        raise ValueError(
            f"must be one of {', '.join(bindings)}, where a server of OpenAI's form is openai"
        )
    return binding


def vertex_address(location: str) -> str:
    """Return the address of Vertex AI at a location of Google Cloud."""
    if location == "global":
        return "https://aiplatform.googleapis.com"
    if location in ("us", "eu"):
        return f"https://aiplatform.{location}.rep.googleapis.com"
    return f"https://{location}-aiplatform.googleapis.com"


def own_address(address: str) -> str:
    """Return an address, empty where it stands for the provider's own one. Raises ValueError for
    what is none.
    """
    return "" if _DEFAULT_ADDRESS.fullmatch(address.strip()) else http_address(address)
