"""Services of models that `lightstream init` offers: where they are, and which models a beginner
takes.

Addresses are those of docs/providers.md.
"""

from dataclasses import dataclass

from runtime.models.bindings import EMBEDDING_BINDINGS, OPENAI


@dataclass(frozen=True)
class ModelService:
    """A service with a language model, and perhaps an embedding model, and the binding that
    speaks to it.

    Without an address it is asked for, unless the binding has one of its own; without a language
    model the first that the service offers is proposed. Without an embedding model the built-in
    one is proposed.
    """

    title: str
    base_url: str = ""
    needs_key: bool = True
    language_model: str = ""
    embedding_model: str = ""
    binding: str = OPENAI
    form: str = "http://HOST:PORT/v1"
    """How an address of it looks, for whoever is asked for one."""

    @property
    def needs_address(self) -> bool:
        """Return whether the service has no address that everybody calls."""
        return not self.base_url and self.binding in (OPENAI, "azure_openai")

    @property
    def embeds(self) -> bool:
        """Return whether its binding has embedding models, too."""
        return self.binding in EMBEDDING_BINDINGS


MODEL_SERVICES = {
    "openai": ModelService(
        "OpenAI",
        "https://api.openai.com/v1",
        language_model="gpt-4o-mini",
        embedding_model="text-embedding-3-small",
    ),
    "ollama": ModelService(
        "Ollama on this machine", "http://127.0.0.1:11434", needs_key=False, binding="ollama"
    ),
    "lm-studio": ModelService(
        "LM Studio on this machine", "http://127.0.0.1:1234/v1", needs_key=False
    ),
    "anthropic": ModelService("Anthropic", binding="anthropic"),
    "gemini": ModelService(
        "Google Gemini",
        language_model="gemini-2.5-flash",
        embedding_model="gemini-embedding-001",
        binding="gemini",
    ),
    "azure_openai": ModelService(
        "Azure OpenAI: your deployments are the models",
        binding="azure_openai",
        form="https://NAME.openai.azure.com",
    ),
    "bedrock": ModelService(
        "AWS Bedrock: the key may be empty, then AWS's own chain of credentials counts",
        needs_key=False,
        binding="bedrock",
    ),
    "nvidia": ModelService("NVIDIA", binding="nvidia"),
    "mistral": ModelService(
        "Mistral",
        "https://api.mistral.ai/v1",
        language_model="mistral-small-latest",
        embedding_model="mistral-embed",
    ),
    "groq": ModelService("Groq", "https://api.groq.com/openai/v1"),
    "openrouter": ModelService("OpenRouter", "https://openrouter.ai/api/v1"),
    "dashscope": ModelService(
        "Alibaba DashScope",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        language_model="qwen-plus",
        embedding_model="text-embedding-v4",
    ),
    "other": ModelService("another address of OpenAI's protocol", needs_key=False),
    "none": ModelService("no model: rules extract, answers are quotations", needs_key=False),
}
"""By the name that the option --provider takes."""
