"""Checkpoints among the rows of a collection: rows of a tenant that no workspace can be.

Each is a row of its own, keyed by its sequence, and takes the place of lesser ones: so of two
writers at once the greater sequence always stands in the end, on a server that compares nothing
before it writes.
"""

from collections.abc import Iterable

from runtime.stores.port import Checkpoint
from runtime.stores.vectors.fields import NUMBERS, STRINGS, Columns, Fields, equals_filter

CHECKPOINT = "checkpoint"
"""The tenant of these rows. That of a workspace is 32 hexadecimal digits."""
CHECKPOINT_FIELDS = ("version", "text")
CHECKPOINT_FILTER = equals_filter("tenant", CHECKPOINT)


def to_columns(checkpoint: Checkpoint, dimension: int) -> Columns:
    """Return the row as the server takes it. Its vector is not zero, because cosine similarity
    needs a length.
    """
    fields: Fields = {
        **dict.fromkeys(STRINGS, ""),
        **dict.fromkeys(NUMBERS, 0),
        "key": f"{CHECKPOINT}-{checkpoint.sequence}",
        "tenant": CHECKPOINT,
        "id": CHECKPOINT,
        "text": checkpoint.log,
        "version": checkpoint.sequence,
        "vector": [1.0] * dimension,
    }
    return {name: [value] for name, value in fields.items()}


def older_filter(checkpoint: Checkpoint) -> str:
    """Return the filter for the checkpoints that it replaces."""
    return f"{CHECKPOINT_FILTER} and version < {checkpoint.sequence}"


def newest(rows: Iterable[Fields]) -> Checkpoint | None:
    """Return the checkpoint with the greatest sequence, None when there is none."""
    checkpoints = [Checkpoint(int(fields["version"]), fields["text"]) for fields in rows]
    return max(checkpoints, key=lambda checkpoint: checkpoint.sequence, default=None)
