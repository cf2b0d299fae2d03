"""What the query service needs of the outside, beside graph and vectors."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts.graph import DocumentBounds, Entity, Partition, Relation, Support
from runtime.models.ports import Vector
from runtime.stores.graph.port import Neighbourhood, Tie
from services.query.domain.linking import NameIndex
from services.query.domain.passage import Passage
from services.query.domain.prompt import Prompt
from services.query.domain.question import Keywords, Question
from services.query.domain.scope import Scope
from services.query.domain.spaces import Spaces
from services.query.domain.status import DocumentStatus


@dataclass(frozen=True)
class Page:
    """One page of a list of documents."""

    documents: Sequence[DocumentStatus]
    total: int


class Freshness(Protocol):
    """Of what may be remembered of the projections, by `KnownGraph` and `Likenesses`."""

    async def refresh(self, *spaces: Partition) -> None:
        """From now on show nothing older than what the log says of these spaces at this moment."""
        ...


class Likenesses(Protocol):
    """How like passages are to a question. Their vectors may be remembered."""

    async def likeness(self, space: Partition, chunks: Collection[str], asked: Vector) -> dict[str, float]:
        """The cosine similarity of those of these chunks that have a vector; no call where there are none."""
        ...


class KnownGraph(Protocol):
    """What questions read of the graph store. It may be remembered."""

    async def entities(self, space: Partition, names: Collection[str]) -> dict[str, Entity]:
        """See `Graph.entities`."""
        ...

    async def relations(self, space: Partition, pairs: Collection[tuple[str, str]]) -> dict[tuple[str, str], Relation]:
        """See `Graph.relations`."""
        ...

    async def ties(self, space: Partition, names: Collection[str], *, limit: int) -> dict[str, list[Tie]]:
        """See `Graph.ties`."""
        ...

    async def neighbourhood(self, space: Partition, names: Collection[str], *, limit: int) -> Neighbourhood:
        """See `Graph.neighbourhood`."""
        ...


class Documents(Protocol):
    """The state of every document. Law held by `tests/contract/test_documents.py`."""

    async def get(self, space: Partition, ids: Collection[str]) -> dict[str, tuple[DocumentStatus, int]]:
        """Those that exist among `ids`, each with the revision to give to `swap`."""
        ...

    async def swap(self, space: Partition, status: DocumentStatus, revision: int | None) -> bool:
        """Write the state if the stored one still has that revision (None: if there is none)."""
        ...

    async def page(
        self, space: Partition, *, statuses: Sequence[str], order: str, descending: bool, skip: int, limit: int
    ) -> Page:
        """Documents with any of these statuses (none given: all but those that are deleted).

        `order` is `updated_at`, `created_at`, `id` or `file_path`.
        """
        ...

    async def tracked(self, space: Partition, track_id: str) -> list[DocumentStatus]:
        """The documents that were added under one track id, by id."""
        ...

    async def within(self, space: Partition, scope: Scope) -> set[str]:
        """Ids of the documents that a scope admits. It reads them all, unless the scope names some."""
        ...

    async def unsettled(self, space: Partition) -> int | None:
        """When the oldest document on which work goes on was added, in microseconds since 1970."""
        ...

    async def counts(self, space: Partition) -> dict[str, int]:
        """How many documents there are of each status; deleted ones are not there."""
        ...


class Positions(Protocol):
    """Up to when everything that was said of the documents of a workspace is in every answer.

    A position is a time in microseconds since 1970, so it tells nothing of what other workspaces do.
    """

    async def of(self, space: Partition) -> int:
        """A time up to which every document that was added or deleted is settled; it never goes back.

        A document counts as settled when it is processed, partial, failed or gone.
        """
        ...

    async def reach(self, space: Partition, position: int, seconds: float) -> int:
        """The same, once every document that was added by `position` is settled, or when the time is over.

        It is `position` or more in the first case, and less in the second.
        """
        ...


class Supports(Protocol):
    """What single chunks say of an entity or relation; see `runtime.stores.documents.supports.Supports`."""

    async def of(
        self,
        space: Partition,
        names: Sequence[str],
        *,
        after: str = "",
        limit: int = 100,
        among: Collection[str] | None = None,
    ) -> list[Support]:
        """Up to `limit` supports, in these documents only where `among` names some."""
        ...


class Passages(Protocol):
    """The text of every chunk."""

    async def put(self, space: Partition, passages: Sequence[Passage]) -> None:
        """Keep them; a newer version that already stands wins. Twice is once."""
        ...

    async def get(self, space: Partition, ids: Collection[str]) -> dict[str, Passage]:
        """Those that exist among `ids`."""
        ...

    async def end(self, space: Partition, document_id: str, extent: DocumentBounds) -> None:
        """Remove what no longer belongs to the document."""
        ...


class Caches(Protocol):
    """What was paid for once and could be asked for again."""

    async def clear(self, workspace: str) -> None:
        """Forget extractions, keywords and answers of the workspace. Embeddings stay: the log has none."""
        ...


class Names(Protocol):
    """The names of every entity of a workspace, to be found in texts."""

    async def of(self, spaces: Spaces) -> NameIndex:
        """Those of this workspace and no other. Empty where there are more than are kept. Raises `Unavailable`."""
        ...


class KeywordFinders(Protocol):
    """What a question is about. Raises what `Chat` raises."""

    async def of(self, workspace: str, question: str) -> Keywords:
        """None found: both lists empty."""
        ...


class Rerankers(Protocol):
    """A model that judges how well passages answer a question."""

    async def rerank(
        self, question: str, passages: Sequence[Passage], top_n: int
    ) -> Sequence[tuple[Passage, float | None]]:
        """At most `top_n` with scores, the best first. On a failure all of them in their order, without scores."""
        ...


class Answers(Protocol):
    """An answer from a context. Raises what `Chat` raises."""

    uses_model: bool

    async def answer(self, prompt: Prompt, passages: Sequence[tuple[str, Passage]]) -> str:
        """`passages` are pairs of a reference id and a passage, the best first."""
        ...

    def stream(self, prompt: Prompt) -> AsyncGenerator[str] | None:
        """The answer in pieces; closing it ends the work. None where an answer only comes whole."""
        ...


class Memo(Protocol):
    """The place of one answer in the memory. Writing it never fails an answer."""

    async def known(self) -> str | None:
        """The answer, if it was given before. One that is being given in one piece is waited for."""
        ...

    async def once(self, make: Callable[[], Awaitable[str]]) -> str:
        """The answer that is known, or the one that is made now. Equal questions at the same time have it made once."""
        ...

    def keeping(self, pieces: AsyncGenerator[str]) -> AsyncGenerator[str]:
        """The pieces; they are remembered once the last one was taken."""
        ...


class Memories(Protocol):
    """Answers that a model gave before, none of them stale."""

    async def before(self, question: Question, spaces: Sequence[Partition]) -> Callable[[Prompt], Memo] | None:
        """To be called before retrieval, which reads these spaces of one workspace: the place of each prompt's answer.

        None: the answer is not to be remembered.
        """
        ...
