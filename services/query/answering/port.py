"""Ports of answering: a generator of answers, and the caches of what models returned."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts.graph import Partition
from runtime.models.port import AnswerPiece, Completion, Message
from services.query.context.prompt import Prompt
from services.query.passage import Passage
from services.query.question import Effort, Question


class ModelResultCaches(Protocol):
    """Results of language models that were paid for and may be requested again."""

    async def clear(self, workspace: str) -> None:
        """Delete the cached extractions, keywords and answers of the workspace. Cached embeddings
        stay.
        """
        ...


class FollowUps(Protocol):
    """A model that reads what was found and says what is missing. Raises what `Chat` raises."""

    async def reply(self, workspace: str, prompt: str) -> str:
        """Return the reply to a prompt of `follow_up_prompt`, with one call at most."""
        ...


class ToolChoices(Protocol):
    """A model that chooses which tools of `context.tools` to use. Raises what `Chat` raises."""

    async def choose(self, workspace: str, messages: Sequence[Message]) -> Completion:
        """Return the calls that the model makes after this conversation, with one call of it at
        most.
        """
        ...


@dataclass(frozen=True)
class EffortLimits:
    """What a question with more than low effort may spend before it is answered."""

    medium_rounds: int = 1
    high_rounds: int = 6
    searches: int = 3
    """Searches, or calls of tools, of one round."""
    tokens: int = 60_000
    """Tokens that the model reads and writes in all rounds together."""
    seconds: float = 60.0
    """Seconds for all rounds with tools together."""

    def rounds(self, effort: Effort) -> int:
        """Return the rounds, each of one call of the model."""
        return {"low": 0, "medium": self.medium_rounds, "high": self.high_rounds}[effort]


class AnswerGenerator(Protocol):
    """Generates an answer from a context. Raises what `Chat` raises."""

    uses_model: bool

    async def answer(
        self,
        prompt: Prompt,
        passages: Sequence[tuple[str, Passage]],
        levels: Mapping[str, int] | None = None,
    ) -> Completion:
        """Return the answer. `passages` are pairs of a reference id and a passage, the best first.

        `levels`: by id, those to which others are preferred; see `RetrievalResult.levels`.
        """
        ...

    def stream(self, prompt: Prompt) -> AsyncGenerator[AnswerPiece] | None:
        """Return the answer in pieces; closing the generator ends the model's work. None if it
        cannot stream.
        """
        ...


class CachedAnswer(Protocol):
    """One entry of the answer cache. A failure to write it never fails an answer."""

    async def get(self) -> str | None:
        """Return the cached answer, or None. Waits for an equal question that is being answered
        unstreamed.
        """
        ...

    async def get_or_create(self, make: Callable[[], Awaitable[Completion]]) -> Completion:
        """Return the cached answer, else that of `make`; equal questions at one time share one
        call.

        A whole answer is stored, without its reasoning.
        """
        ...

    def store_stream(self, pieces: AsyncGenerator[AnswerPiece]) -> AsyncGenerator[AnswerPiece]:
        """Yield the pieces, and store their text after the last one, if the answer is whole."""
        ...


class AnswerCache(Protocol):
    """Cache of answers that a language model wrote. It never returns a stale one."""

    async def entry_factory(
        self, question: Question, partitions: Sequence[Partition]
    ) -> Callable[[Prompt], CachedAnswer] | None:
        """Return a function from a prompt to its cache entry; None if the answer must not be
        cached.

        Call it before retrieval reads these partitions of one workspace: what changes later makes
        the entry stale.
        """
        ...
