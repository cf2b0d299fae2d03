"""Requests and answers of OpenAI's chat completions. Unknown fields are ignored, as other servers
of it do.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from services.gateway.compat.left_out import left_out_parts
from services.gateway.strict_model import StrictModel
from services.query.question import Turn

CREATED = 1_705_276_800
"""The `created` of every model, in seconds since 1970. The protocol requires it, but models have no
date here.
"""


class TextPart(StrictModel):
    """A text as one part of a message."""

    type: Literal["text"]
    text: str


class OtherPart(StrictModel):
    """A picture, a sound, a file or the like as one part of a message. It is left out."""

    type: str = Field(max_length=64)

    @field_validator("type")
    @classmethod
    def _other_than_text(cls, type: str) -> str:
        if type == "text":
            raise ValueError("a part of the type text needs a text")
        return type


class ChatMessage(StrictModel):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[TextPart | OtherPart] | None = None

    @property
    def turn(self) -> Turn:
        """Return the message as a turn; the role `developer` becomes `system`."""
        text = (
            self.content
            if isinstance(self.content, str)
            else "\n".join(part.text for part in self._texts)
        )
        return Turn("system" if self.role == "developer" else self.role, text)

    @property
    def _texts(self) -> list[TextPart]:
        return [part for part in self.content or () if isinstance(part, TextPart)]

    @property
    def left_out(self) -> list[str]:
        """Return the types of the parts that are no text."""
        return [part.type for part in self.content or () if isinstance(part, OtherPart)]


class StreamOptions(StrictModel):
    """Options of a streamed answer."""

    include_usage: bool | None = None


class ChatCompletionRequest(StrictModel):
    """A conversation. `model` names the mode, and may name the workspace."""

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
        max_length=256,
        description="`lightstream`, `lightstream:<mode>`, `lightstream:<mode>@<workspace>`",
    )
    messages: list[ChatMessage] = Field(min_length=1, max_length=4096)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    user: str | None = Field(
        default=None,
        max_length=256,
        description="who asks, where the key asks for others: only what this user sees is read",
    )
    n: int | None = Field(default=None, ge=1, le=1, description="one answer is given")

    @property
    def turns(self) -> list[Turn]:
        """Return the messages as turns."""
        return [message.turn for message in self.messages]

    @property
    def warnings(self) -> list[str]:
        """Return what of the messages is left out."""
        return left_out_parts(type for message in self.messages for type in message.left_out)

    @property
    def with_usage(self) -> bool:
        """Return whether a stream ends with its token counts."""
        return bool(self.stream_options and self.stream_options.include_usage)


class Reason(BaseModel):
    """The error: a sentence, its type and its code."""

    message: str = Field(
        examples=["The model `x` does not exist; GET /v1/models lists those that do"]
    )
    type: str = Field(examples=["invalid_request_error"])
    param: None = None
    code: str | None = Field(examples=["not_found"])


class OpenAiProblem(BaseModel):
    """The body of an error."""

    error: Reason


def usage(prompt: int, answer: int) -> dict[str, int]:
    """Return the `usage` of an answer: the tokens of the prompt and of the answer."""
    return {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}


def model_object(id: str) -> dict[str, Any]:
    """Return the entry of a model in the list of models."""
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
"""The example answer for the OpenAPI document."""
