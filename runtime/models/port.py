"""The ports of the models. Their adapters are in this package; the settings choose one."""

import hashlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from contracts.values import TokenUsage

Vector = Sequence[float]
"""Numbers, best as an array: a tuple of 384 objects takes ten times as long to make and to read."""


@dataclass(frozen=True)
class Tool:
    """What a model may call. `parameters`: a JSON Schema of an object, its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool by a model. `arguments` are as the model gave them, which may break the
    schema; `id` is the provider's, empty where it gives none.
    """

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Picture:
    """A picture that a model is shown: the bytes of its file, and `image/png` or another type."""

    data: bytes = field(repr=False)
    media_type: str

    @property
    def sha256(self) -> str:
        """Return the hash of the bytes."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True)
class Message:
    """One turn of a conversation. Those of the role `tool` follow the turn that called them.

    `calls`: of an assistant's turn. `native`: the same turn as its provider gave it, which goes
    back unchanged; a turn with calls has it. `result_of`: the call whose result a turn is.
    `pictures`: of a user's turn; they stand before its text.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    native: Any = None
    result_of: ToolCall | None = None
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class Completion:
    """The answer of a language model, blank only with calls. `cut`: it ended at its length limit or
    broke off, not by itself.

    `reasoning` is what the model wrote before or amid its answer; it is no part of the text.
    `narrow`: the provider counted far fewer tokens of the prompt than it has, so the model's window
    cut it. `calls`: tools that the model calls instead of answering, or beside it; `native`: see
    `Message`.
    """

    text: str
    usage: TokenUsage = field(default_factory=TokenUsage)
    cut: bool = False
    reasoning: str = ""
    narrow: bool = False
    calls: tuple[ToolCall, ...] = ()
    native: Any = None


@dataclass(frozen=True)
class AnswerPiece:
    """A piece of a streamed answer, and apart from it of the reasoning.

    `cut`: the last one, of an answer that is not whole. `narrow`: the last one, as in `Completion`.
    `resets`: all text before this piece was reasoning.
    """

    text: str = ""
    reasoning: str = ""
    cut: bool = False
    resets: bool = False
    narrow: bool = False

    def __len__(self) -> int:
        """Return the characters."""
        return len(self.text) + len(self.reasoning)


class Chat(Protocol):
    """A language model.

    Raises `RateLimited`; `Unavailable`, also for an empty answer; `Poison` when it refuses this
    content for good, or reached its length limit before the first word.
    """

    model: str

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        """Return the whole answer. `json`: ask for a JSON object."""
        ...

    def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
        """Yield the answer in pieces. Closing the iterator cancels the provider's stream."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class ToolChat(Chat, Protocol):
    """A language model that can call tools."""

    async def call_tools(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        """Return the answer, or the calls of tools that it needs first."""
        ...


class Embedder(Protocol):
    """Texts to vectors of length 1. The same text always gives the same vector.

    All or nothing. Raises `RateLimited`; `Unavailable`, also for vectors of another dimension, too
    few or too many, mixed up or without a direction, which the provider or a setting amends;
    `Poison` for a text that alone is not embedded while others are.
    """

    model: str
    """Name and, for local models, hash: what makes vectors comparable."""
    dimension: int

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector per text, in order. An empty list gives an empty list; a blank text is
        allowed.
        """
        ...

    async def close(self) -> None:
        """Close connections or end threads."""
        ...


class Tokenizer(Protocol):
    """Tokens of a language model's vocabulary. Never fails on any text, however odd or long."""

    name: str

    def encode(self, text: str) -> list[int]:
        """Return the tokens. Special-token markers in the text are ordinary text."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of the tokens; a character cut in two at the ends becomes U+FFFD."""
        ...

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """Return the UTF-8 bytes of the tokens, whole characters or not."""
        ...

    def count(self, text: str) -> int:
        """Return `len(encode(text))`."""
        ...
