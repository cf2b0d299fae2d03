"""Requests and answers of Ollama's API. Unknown fields of a request are ignored, as in Ollama."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from services.gateway.strict_model import StrictModel
from services.query.question import Turn

SIZE = 7_365_960_935
MODIFIED = "2024-01-15T00:00:00Z"
EXPIRES = "2050-12-31T14:38:31.83753-07:00"
DIGEST = "sha256:lightrag"
PROTOCOL = "0.9.3"
"""The version of Ollama that is emulated. It and the constants above are LightRAG's; clients only
show them.
"""


class Message(StrictModel):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str
    images: list[str] | None = Field(
        default=None, max_length=256, description="left out, which the answer says"
    )


class ChatRequest(StrictModel):
    """A conversation."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "lightrag:latest",
                    "messages": [{"role": "user", "content": "/mix Who leads the Harbour Office?"}],
                    "stream": False,
                }
            ]
        }
    )

    model: str = Field(max_length=256)
    messages: list[Message] = Field(min_length=1, max_length=4096)
    stream: bool | None = True
    system: str | None = Field(default=None, description="instructions for the answering model")
    options: dict[str, Any] | None = Field(default=None, description="without effect")

    @property
    def turns(self) -> list[Turn]:
        """Return the messages as turns."""
        return [Turn(message.role, message.content) for message in self.messages]


class GenerateRequest(StrictModel):
    """A prompt for the language model, without any retrieval."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"model": "lightrag:latest", "prompt": "Name three harbours.", "stream": False}
            ]
        }
    )

    model: str = Field(max_length=256)
    prompt: str
    system: str | None = Field(default=None, description="instructions for the model")
    stream: bool | None = False
    options: dict[str, Any] | None = Field(default=None, description="without effect")


class OllamaProblem(BaseModel):
    """The body of an error."""

    error: str = Field(examples=["model 'mistral' not found"])


def tags(name: str, tag: str) -> dict[str, Any]:
    """Return the list of models, which has one."""
    full_name = f"{name}:{tag}"
    details = _details(name, "13B")
    about = {
        "name": full_name,
        "model": full_name,
        "size": SIZE,
        "digest": DIGEST,
        "modified_at": MODIFIED,
        "details": details,
    }
    return {"models": [about]}


def running(name: str, tag: str) -> dict[str, Any]:
    """Return the list of loaded models; the one model always is loaded."""
    full_name = f"{name}:{tag}"
    details = _details("llama", "7.2B")
    about = {
        "name": full_name,
        "model": full_name,
        "size": SIZE,
        "digest": DIGEST,
        "details": details,
    }
    return {"models": [{**about, "expires_at": EXPIRES, "size_vram": SIZE}]}


def _details(family: str, parameters: str) -> dict[str, Any]:
    return {
        "parent_model": "",
        "format": "gguf",
        "family": family,
        "families": [family],
        "parameter_size": parameters,
        "quantization_level": "Q4_0",
    }


STATISTICS = {
    "total_duration": 412_000_000,
    "load_duration": 0,
    "prompt_eval_count": 9,
    "prompt_eval_duration": 105_000_000,
    "eval_count": 14,
    "eval_duration": 307_000_000,
}
CHAT_EXAMPLE: dict[str, Any] = {
    "model": "lightrag:latest",
    "created_at": "2026-01-15T09:30:00Z",
    "message": {
        "role": "assistant",
        "content": "Ada Marsh leads it. [1]\n\n### References\n\n- [1] harbour.md\n",
        "images": None,
    },
    "done": True,
    "done_reason": "stop",
    **STATISTICS,
    "references": [{"reference_id": "1", "file_path": "harbour.md"}],
}
GENERATE_EXAMPLE: dict[str, Any] = {
    "model": "lightrag:latest",
    "created_at": "2026-01-15T09:30:00Z",
    "response": "Rotterdam, Antwerp and Hamburg.",
    "context": [],
    "done": True,
    "done_reason": "stop",
    **STATISTICS,
    "references": [],
}
"""Example answers for the OpenAPI document."""
