"""Services of models that `lightstream init` offers: where they are, and which models a beginner
takes.

Addresses are those of docs/providers.md.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelService:
    """A service with a language model, and perhaps an embedding model, of OpenAI's protocol.

    Without an address it is asked for; without a language model the first that the service offers
    is proposed. Without an embedding model the built-in one is proposed.
    """

    title: str
    base_url: str = ""
    needs_key: bool = True
    language_model: str = ""
    embedding_model: str = ""


MODEL_SERVICES = {
    "openai": ModelService(
        "OpenAI",
        "https://api.openai.com/v1",
        language_model="gpt-4o-mini",
        embedding_model="text-embedding-3-small",
    ),
    "ollama": ModelService("Ollama on this machine", "http://127.0.0.1:11434/v1", needs_key=False),
    "lm-studio": ModelService(
        "LM Studio on this machine", "http://127.0.0.1:1234/v1", needs_key=False
    ),
    "gemini": ModelService(
        "Google Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai/",
        language_model="gemini-2.5-flash",
        embedding_model="gemini-embedding-001",
    ),
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
