"""The port of a provider's batches. Each has an adapter for its own routes."""

from collections.abc import AsyncGenerator, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Line:
    """One call in a batch: its id, which no other call has, and the body of its request."""

    id: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Progress:
    """How far a batch is. `failure`: why it did not even begin, in the provider's words."""

    has_ended: bool
    answer_count: int
    failure: str = ""


class Batches(Protocol):
    """The batches of one provider. Every method raises `Failure` as the provider's calls do.

    What a provider no longer has raises `Failure` with the status 404.
    """

    async def submit(self, key: str, lines: Sequence[Line]) -> str:
        """Submit the lines as one batch under our `key`, and return the provider's id of it.

        Never sends the order for the batch twice. Where its answer is lost, `find` says whether
        there is one.
        """
        ...

    async def find(
        self, key: str, size: int, since: float, other_ids: Container[str]
    ) -> str | None:
        """Return the id of the batch of `size` lines that was submitted under this key after
        `since`, in seconds since 1970; None where there is none. `other_ids`: ids that are not it.

        Raises `Undecided` while that cannot be told. What was uploaded for it alone is removed.
        """
        ...

    async def progress(self, id: str) -> Progress:
        """Return how far a batch is."""
        ...

    def answers(self, id: str) -> AsyncGenerator[tuple[str, Any]]:
        """Yield the id of each line of a batch that has ended, and its answer: JSON, or None where
        the line failed or expired. In any order; lines may be missing.
        """
        ...

    async def remove_requests(self, id: str) -> None:
        """Remove what was submitted, of a batch that has ended, so far as the provider can."""
        ...

    async def remove(self, id: str) -> None:
        """Remove the answers, too. Repeats do nothing."""
        ...


class Undecided(Exception):
    """Whether a batch was submitted is seen only when another one has ended."""
