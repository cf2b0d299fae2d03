"""What answering needs of the outside: a model that answers, and the answers it gave before."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Protocol

from contracts.graph import Partition
from services.query.context.prompt import Prompt
from services.query.passage import Passage
from services.query.question import Question


class ModelResultCaches(Protocol):
    """What was paid for once and could be asked for again."""

    async def clear(self, workspace: str) -> None:
        """Forget extractions, keywords and answers of the workspace. Embeddings stay: the log has none."""
        ...


class AnswerGenerator(Protocol):
    """An answer from a context. Raises what `Chat` raises."""

    uses_model: bool

    async def answer(self, prompt: Prompt, passages: Sequence[tuple[str, Passage]]) -> str:
        """`passages` are pairs of a reference id and a passage, the best first."""
        ...

    def stream(self, prompt: Prompt) -> AsyncGenerator[str] | None:
        """The answer in pieces; closing it ends the work. None where an answer only comes whole."""
        ...


class CachedAnswer(Protocol):
    """The place of one answer in the memory. Writing it never fails an answer."""

    async def get(self) -> str | None:
        """The answer, if it was given before. One that is being given in one piece is waited for."""
        ...

    async def get_or_create(self, make: Callable[[], Awaitable[str]]) -> str:
        """The answer that is known, or the one that is made now. Equal questions at the same time have it made once."""
        ...

    def store_stream(self, pieces: AsyncGenerator[str]) -> AsyncGenerator[str]:
        """The pieces; they are remembered once the last one was taken."""
        ...


class AnswerCache(Protocol):
    """Answers that a model gave before, none of them stale."""

    async def entry_factory(
        self, question: Question, spaces: Sequence[Partition]
    ) -> Callable[[Prompt], CachedAnswer] | None:
        """To be called before retrieval, which reads these spaces of one workspace: the place of each prompt's answer.

        None: the answer is not to be remembered.
        """
        ...
