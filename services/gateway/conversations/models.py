"""Bodies and answers of the routes about conversations."""

import json
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from contracts.text import sanitize
from services.gateway.strict_model import StrictModel

MAX_QUESTIONS = 100
MAX_CONVERSATION_BYTES = 64 * 1024
"""Size of the questions of one conversation, as JSON."""


class AskedQuestion(StrictModel):
    """A question with the parameters it was asked with, as in `POST /query`."""

    model_config = ConfigDict(extra="allow")

    query: Annotated[str, AfterValidator(sanitize)] = Field(
        min_length=1, max_length=16_384, examples=["Who leads the Harbour Office?"]
    )


_EXAMPLE: dict[str, JsonValue] = {
    "name": "The Harbour Office",
    "at": 1795889479347,
    "questions": [{"query": "Who leads the Harbour Office?", "mode": "walk"}],
}


class ConversationRequest(StrictModel):
    """What was asked in a conversation, one question after the other."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    name: Annotated[str, AfterValidator(sanitize)] = Field(min_length=1, max_length=200)
    at: int = Field(
        ge=0,
        le=2**53,
        description="when something was asked last, in milliseconds since 1970",
    )
    questions: list[AskedQuestion] = Field(min_length=1, max_length=MAX_QUESTIONS)

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        size = len(json.dumps([question.model_dump() for question in self.questions]))
        if size > MAX_CONVERSATION_BYTES:
            raise ValueError(
                f"the questions of a conversation may have {MAX_CONVERSATION_BYTES} bytes together,"
                f" and these have {size}: begin a new one, or leave out the oldest"
            )
        return self


class ConversationEntry(BaseModel):
    """A conversation as it is kept."""

    id: str
    name: str
    at: int
    questions: list[AskedQuestion]


class ConversationList(BaseModel):
    """The conversations of who asks, the one that was last asked in first.

    `are_kept`: whether the server keeps any for these credentials; a page that is open to everybody
    keeps them in the browser.
    """

    are_kept: bool
    conversations: list[ConversationEntry]


class ConversationRemoval(BaseModel):
    """The conversation that was removed."""

    id: str
