"""Models that answer from a script, so that no test reaches a network, and a counter of embedded
texts.
"""

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass

from runtime.models.port import AnswerPiece, Completion, Embedder, Message, Tool, Vector

Answer = str | Completion | Exception
"""A text, a whole completion, or an error to raise."""

Script = Callable[[Sequence[Message]], Answer | Awaitable[Answer]]


@dataclass(frozen=True)
class Call:
    """What a scripted model was asked."""

    messages: tuple[Message, ...]
    json: bool = False
    is_streamed: bool = False
    tools: tuple[Tool, ...] = ()

    @property
    def text(self) -> str:
        """All messages, joined by line breaks."""
        return "\n".join(message.content for message in self.messages)


class ScriptedChat:
    """Answers from a function of the messages, which may be async, or from a list, one answer a
    call.

    A call beyond the end of the list is an error of the test: AssertionError. `calls` records every
    call.
    """

    def __init__(self, script: Script | Sequence[Answer], *, model: str = "scripted") -> None:
        self.model = model
        self.calls: list[Call] = []
        self.closed = False
        self._script = script if callable(script) else _from_list(script)

    async def complete(self, messages: Sequence[Message], *, json: bool = False) -> Completion:
        """The next answer, or its error raised."""
        return await self._next(Call(tuple(messages), json))

    async def call_tools(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        """The next answer, or its error raised. A completion of the script may call tools."""
        return await self._next(Call(tuple(messages), tools=tuple(tools)))

    async def stream(self, messages: Sequence[Message]) -> AsyncGenerator[AnswerPiece]:
        """The next answer, word by word, blanks kept with the word before them."""
        completion = await self._next(Call(tuple(messages), is_streamed=True))
        for piece in completion.text.replace(" ", " \0").split("\0"):
            yield AnswerPiece(piece)
        if completion.cut:
            yield AnswerPiece(cut=True)

    async def close(self) -> None:
        """Remembered in `closed`."""
        self.closed = True

    async def _next(self, call: Call) -> Completion:
        self.calls.append(call)
        answer = self._script(call.messages)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Completion) else Completion(answer)


def _from_list(answers: Sequence[Answer]) -> Script:
    remaining: Iterator[Answer] = iter(answers)

    def script(messages: Sequence[Message]) -> Answer:
        for answer in remaining:
            return answer
        raise AssertionError(
            f"the script has {len(answers)} answers and was asked once more: {messages!r:.500}"
        )

    return script


class CountingEmbedder:
    """Another embedder, with a record of what it was asked: `texts` in order, `calls`."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.model = embedder.model
        self.dimension = embedder.dimension
        self.texts: list[str] = []
        self.calls = 0

    @property
    def count(self) -> int:
        """Texts embedded so far."""
        return len(self.texts)

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of the wrapped embedder."""
        self.calls += 1
        self.texts += texts
        return await self._embedder.embed(texts)

    async def close(self) -> None:
        """Close the wrapped embedder."""
        await self._embedder.close()
