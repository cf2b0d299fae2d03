"""The ledger's port: an entry for each event that says what a model was paid; of questions one per
step and model.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts.graph import Partition

QUESTION_STAGE = "query-"
"""Beginning of the stage of what questions cost; behind it stands the step, such as `keywords`."""


@dataclass(frozen=True)
class CostEntry:
    """What one event says was paid to a model, or saved by a cached result; what of it was paid in
    batches has an entry of its own.

    `sequence` is that of the event in the log: of two messages with one event's id the first
    counts.
    """

    day: str
    """The day of the event in UTC, as 2026-11-22."""
    document: str
    """The id of the document; empty for what no single document caused, as a summary."""
    stage: str
    model: str
    sequence: int
    prompt: int = 0
    """Tokens read by the model, with `cached`."""
    cached: int = 0
    """Tokens among them that the provider had cached."""
    completion: int = 0
    calls: int = 0
    milliseconds: int = 0
    saved: bool = False
    """Whether a cached result was used, and nothing paid."""
    in_batch: bool = False
    """Whether it was paid at the price of batches."""
    count: int = 1
    """How many entries it is the sum of."""

    @property
    def of_question(self) -> bool:
        """Return whether a question caused it, and no document."""
        return self.stage.startswith(QUESTION_STAGE)


class Ledger(Protocol):
    """The entries of a workspace. Those of a generation of the status projection are made anew by
    its rebuild.
    """

    async def put(self, partition: Partition, entries: Mapping[str, CostEntry]) -> None:
        """Store entries by the ids of their events, in any order; repeats change nothing."""
        ...

    def entries(self, partition: Partition, document: str = "") -> AsyncIterator[CostEntry]:
        """Yield all entries of the workspace, or those of one document."""
        ...

    def entries_of(
        self, partition: Partition, documents: Sequence[str]
    ) -> AsyncIterator[CostEntry]:
        """Yield the entries of these documents, and read no others."""
        ...

    def sums(self, partition: Partition) -> AsyncIterator[CostEntry]:
        """Yield entries that add up to all of the workspace, by day, stage and model: few of them
        where `entries` are many. They name documents only by chance.
        """
        ...
