"""Requests and answers of OpenAI's chat completions. Unknown fields are ignored, as other servers of it do."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from services.query.api.strict_model import StrictModel
from services.query.question import Turn

CREATED = 1_705_276_800
"""Seconds of the epoch; the field is required of a model, and ours have no date."""


class TextPart(StrictModel):
    """A text as one part of a message. Other parts are not read, and refused."""

    type: Literal["text"]
    text: str


class ChatMessage(StrictModel):
    """What somebody said."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[TextPart] | None = None

    @property
    def turn(self) -> Turn:
        """The same, for the answering model; what it knows as the system may be called the developer."""
        text = self.content if isinstance(self.content, str) else "\n".join(part.text for part in self.content or ())
        return Turn("system" if self.role == "developer" else self.role, text)


class StreamOptions(StrictModel):
    """What a stream holds beside the answer."""

    include_usage: bool | None = None


class ChatCompletionRequest(StrictModel):
    """A conversation. `model` says how it is answered, and may say from which workspace."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "lightstream:mix",
                    "messages": [{"role": "user", "content": "Who leads the Harbour Office?"}],
                }
            ]
        }
    )

    model: str = Field(
        max_length=256, description="`lightstream`, `lightstream:<mode>`, `lightstream:<mode>@<workspace>`"
    )
    messages: list[ChatMessage] = Field(min_length=1, max_length=4096)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: int | None = Field(default=None, ge=1, le=1, description="one answer is given")

    @property
    def turns(self) -> list[Turn]:
        """All that was said."""
        return [message.turn for message in self.messages]

    @property
    def with_usage(self) -> bool:
        """Whether a stream ends with the tokens it took."""
        return bool(self.stream_options and self.stream_options.include_usage)


class Reason(BaseModel):
    """What is wrong."""

    message: str = Field(examples=["The model `x` does not exist; GET /v1/models lists those that do"])
    type: str = Field(examples=["invalid_request_error"])
    param: None = None
    code: str | None = Field(examples=["not_found"])


class OpenAiProblem(BaseModel):
    """Why there is no answer."""

    error: Reason


def usage(prompt: int, answer: int) -> dict[str, int]:
    """Tokens, as our tokenizer counts what was sent and said."""
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def model_object(id: str) -> dict[str, Any]:
    """A model, as the list of them has it."""
    return {"id": id, "object": "model", "created": CREATED, "owned_by": "lightstream"}


COMPLETION_EXAMPLE: dict[str, Any] = {
    "id": "chatcmpl-6f1f0b8be1f14e1d9c1f",
    "object": "chat.completion",
    "created": 1_768_469_400,
    "model": "lightstream:mix",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "Ada Marsh leads it. [1]\n\n### References\n\n- [1] harbour.md\n",
                "refusal": None,
            },
            "finish_reason": "stop",
            "logprobs": None,
        }
    ],
    "usage": usage(9, 14),
    "references": [{"reference_id": "1", "file_path": "harbour.md"}],
}
"""An answer as the description of the API shows it."""
