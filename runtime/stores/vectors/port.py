"""The port of the vector store: three kinds of rows, each with one vector."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from contracts.graph import EmbeddingModel, Hit, Partition, VectorKind, VectorRow
from runtime.stores.port import Checkpoint

if TYPE_CHECKING:  # services without vectors load no numpy
    import numpy as np
    from numpy.typing import NDArray


class RowVersion(NamedTuple):
    """What tells whether a stored row is up to date."""

    version: int
    text_hash: str


class VectorPage(NamedTuple):
    """The vectors of some rows, an array of rows × dimension, with the ids and names of these
    rows.
    """

    ids: list[str]
    names: list[tuple[str, ...]]
    vectors: "NDArray[np.float32]"


class Vectors(Protocol):
    """Vectors by id. One contract for all adapters, tested by `tests/contract/test_vectors.py`.

    An adapter is made for one embedding model and dimension; each generation has its own
    collections, which carry the model's name. A call for a generation that another model filled
    raises `ModelChanged`, a write to one whose ids have an older format `OutdatedVectors`. Ids are
    `[A-Za-z0-9_-]`, at most 64 long. A write is searchable, by every reader, when it returns; twice
    is once. Rows are checked before anything is sent: every vector finite and of the right
    dimension, else `Poison`, and nothing is written. Text that is too long for the server's field
    is cut at a character; its hash stays that of the whole. Empty input is allowed and does
    nothing. A store that does not answer raises `Unavailable`.
    """

    model: str
    dimension: int

    async def prepare(self, generation: int) -> None:
        """Make the generation's collections. Repeats change nothing. Raises `ModelChanged`."""
        ...

    async def missing(self, generation: int) -> list[str]:
        """Return what `prepare` would make, a line each; for an outdated generation that line
        alone.
        """
        ...

    async def outdated(self, generation: int) -> str | None:
        """Return why the generation can only be read (its ids have an older format) and what to do;
        None otherwise.
        """
        ...

    async def ping(self) -> None:
        """Return when the store answers a query, else raise `Unavailable`."""
        ...

    async def put(self, partition: Partition, kind: VectorKind, rows: Sequence[VectorRow]) -> None:
        """Store these rows under their ids. Of two rows with one id in one call the later
        counts.
        """
        ...

    async def get(
        self, partition: Partition, kind: VectorKind, ids: Collection[str], *, vectors: bool = False
    ) -> dict[str, VectorRow]:
        """Return the rows that exist among `ids`, with their vectors only if `vectors` is set."""
        ...

    async def versions(
        self, partition: Partition, kind: VectorKind, ids: Collection[str]
    ) -> dict[str, RowVersion]:
        """Return version and text hash of the rows that exist among `ids`."""
        ...

    async def search(
        self,
        partition: Partition,
        kind: VectorKind,
        vector: Sequence[float],
        *,
        top_k: int,
        min_score: float = -1.0,
        documents: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return at most `top_k` rows by cosine similarity, best first, equal ones by id, none at
        or below `min_score`.

        `documents` restricts the search to chunks of these documents.
        """
        ...

    async def warm(self, partition: Partition, kind: VectorKind) -> bool:
        """Have in memory what this process keeps there of vectors that are searched often, so that
        no search has to; nothing happens where a server searches. Returns whether `likeness` of
        chunks reads memory alone from now on, so that nobody need keep vectors to spare it.
        """
        ...

    async def likeness(
        self, partition: Partition, kind: VectorKind, vector: Sequence[float], ids: Collection[str]
    ) -> dict[str, float]:
        """Return the exact cosine similarity of the rows that exist among `ids`."""
        ...

    async def delete(
        self,
        partition: Partition,
        kind: VectorKind,
        ids: Collection[str],
        *,
        before: int | None = None,
    ) -> None:
        """Delete the rows under these ids, if there are any; with `before` only those of lower
        versions.
        """
        ...

    async def scan(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> list[VectorRow]:
        """Return up to `limit` rows with ids greater than `after`, by id, without their vectors."""
        ...

    async def scan_vectors(
        self, partition: Partition, kind: VectorKind, after: str = "", limit: int = 1000
    ) -> VectorPage:
        """Return the vectors of up to `limit` rows with ids greater than `after`, by id."""
        ...

    async def count(self, partition: Partition, kind: VectorKind) -> int:
        """Return the number of rows."""
        ...

    async def model_of(self, generation: int) -> EmbeddingModel | None:
        """Return the model that filled the generation, ours if it did; None while the generation is
        empty.
        """
        ...

    async def generations(self) -> set[int]:
        """Return every generation that has collections, of any model."""
        ...

    async def drop(self, generation: int) -> None:
        """Remove the generation's collections, all workspaces and models. Repeats change
        nothing.
        """
        ...

    async def checkpoint(self, generation: int) -> Checkpoint | None:
        """See `CheckpointStore`. No search, scan or count shows a checkpoint. None when any
        collection lacks it.
        """
        ...

    async def put_checkpoint(self, generation: int, checkpoint: Checkpoint) -> None:
        """See `CheckpointStore`. Collections that are missing are made; `drop` removes the
        checkpoint with them.
        """
        ...

    async def close(self) -> None:
        """Close the connection. No call may follow."""
        ...
