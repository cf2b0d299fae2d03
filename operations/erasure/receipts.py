"""Receipts of erasures: what was removed, as a document with a hash; the log keeps the hash and the
counts.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from contracts.events import DocumentErased
from contracts.ids import sha256

DEPLOYMENT_REMARKS = (
    (
        "MongoDB, Neo4j and Milvus remove rows by their own compaction: run it, or wait until it "
        "has run"
    ),
    "a cluster of NATS keeps entries of its own log until the next snapshot of it",
)
"""What an erasure cannot do on servers that others run."""

REMARKS = (
    "edits and aliases that people made stay, also where they name what only this document named",
    "backups made before, and copies that others have, are not reached",
)


@dataclass(frozen=True)
class Receipt:
    """What was erased of one document. `events` are the tombstone's lines: what stays of each
    event.
    """

    workspace: str
    document: str
    erased_at: str
    actor: str
    reason: str
    counts: Mapping[str, int]
    events: Mapping[int, str]
    remarks: Sequence[str]

    @property
    def sha256(self) -> str:
        """Return the hash of everything above, as the log has it."""
        return sha256(json.dumps(asdict(self), sort_keys=True, ensure_ascii=False))

    def as_json(self) -> dict[str, object]:
        """Return the receipt with its hash."""
        return {**asdict(self), "sha256": self.sha256}

    def last_part(self, part: int) -> DocumentErased:
        """Return the event that ends the erasure."""
        return DocumentErased(
            document_id=self.document,
            part=part,
            counts=dict(self.counts),
            receipt=self.sha256,
            reason=self.reason,
        )


def make_receipt(
    workspace: str,
    tombstones: Sequence[DocumentErased],
    counts: Mapping[str, int],
    actor: str,
    remarks: Sequence[str],
) -> Receipt:
    """Return the receipt of the erasure that these tombstones began: all since the receipt before
    it.

    One whose receipt was published, and then nobody was given it, has another one of the same.
    """
    last_listing = max(number for number, tombstone in enumerate(tombstones) if tombstone.erased)
    since = max(
        (
            number + 1
            for number, tombstone in enumerate(tombstones[:last_listing])
            if tombstone.receipt
        ),
        default=0,
    )
    own_tombstones = tombstones[since:]
    events = {
        event.sequence: event.sha256 for tombstone in own_tombstones for event in tombstone.erased
    }
    return Receipt(
        workspace,
        own_tombstones[0].document_id,
        f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        actor,
        own_tombstones[0].reason,
        {**counts, "events_in_all": len(events)},
        events,
        (*REMARKS, *remarks),
    )
