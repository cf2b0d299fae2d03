"""The state of one document, folded from its events. Their order does not matter, and duplicates
change nothing.

The chunks that a step has finished are a bit set, one bit per chunk order: a repeated event sets
the same bit again, and a document of 10,000 chunks takes 1,250 bytes per step.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from contracts.access import Access
from contracts.ids import UNKNOWN_SOURCE
from contracts.values import MAX_WARNINGS, Scalar, Validity

TAGS = "tags"
"""Metadata field with a document's tags, separated by commas."""

STATUSES = (
    "pending",
    "parsing",
    "analyzing",
    "processing",
    "preprocessed",
    "processed",
    "partial",
    "failed",
    "deleting",
)
"""LightRAG's names, with `partial` (some chunks failed, the others are searchable) and `deleting`
of our own.
"""

SETTLED = ("processed", "partial", "failed")
"""Statuses that do not change without a new request."""
DELETED = "deleted"
"""Status of a removed document. Lists and counts leave it out; its row stays for events that arrive
late.
"""
LEAVING = ("deleting", DELETED)
"""Statuses of documents that questions no longer read."""
ALONE = ("processed", DELETED)
"""Statuses of documents of which nothing is left but their newest text, or nothing at all."""
STEPS = ("extracted", "merged", "embedded", "indexed")
"""Steps of every chunk: `embedded` is done with its own vector, `indexed` with those of its
entities and relations.
"""


@dataclass(frozen=True)
class Failure:
    """Why a step failed for one chunk, or for the whole document if `order` is None."""

    stage: str
    step: str
    order: int | None
    message: str
    cause: str = ""
    """Id of the event that led to a failure without a version; the failure counts for the version
    that event added.
    """
    sequence: int = 0
    """Sequence of its StageFailed, of repeats the newest."""


@dataclass(frozen=True)
class DocumentStatus:
    """The state of one document. `bits` maps each step to the bit set of the chunk orders that have
    finished it.
    """

    id: str
    file_path: str = UNKNOWN_SOURCE
    track_id: str = ""
    metadata: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    summary: str = ""
    length: int = 0
    created_at: str = ""
    updated_at: str = ""
    version: int = 0
    added: int = 0
    """When this version was added, in microseconds since 1970; callers see it as the position of
    the document.
    """
    added_id: str = ""
    """Event id of the DocumentAdded of this version."""
    chunk_count: int = 0
    text_count: int | None = None
    """Those of its text, where figures are counted with them."""
    bits: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STEPS, 0))
    failures: tuple[Failure, ...] = ()
    deleted: int = 0
    """Sequence of the newest DocumentDeleted; it does not apply to a version with a higher
    sequence.
    """
    erased: dict[str, int] = field(default_factory=dict[str, int])
    """Progress of that deletion: bit sets `chunks` and `graph` of finished parts, and `parts` of
    the graph in all.
    """
    first_cut: int = 0
    """The oldest version with a ChunksCreated event; if it is older than this version, old chunks
    may need removal.
    """
    sequence: int = 0
    """Sequence of the newest event that was applied."""
    retried: dict[str, int] = field(default_factory=dict[str, int])
    """Sequence of the newest RetryRequested of the whole document, by stage; an empty stage stands
    for all.
    """
    text_warnings: tuple[str, ...] = ()
    """What whoever published the text says of it, as a parser of what it left out."""
    chunk_warnings: dict[str, int] = field(default_factory=dict[str, int])
    """Warning of a later stage → the bit set of the orders of chunks it is about; 0 where it is not
    about a chunk.
    """
    access: Access | None = None
    """Who may see it; None: everyone of the workspace."""
    access_set: int = 0
    """Sequence of the event that said so, 0 for none."""

    version_validity: Validity | None = None
    """When this version holds and what it supersedes, as whoever published it says."""
    stated_validity: Validity | None = None
    """The same as somebody stated it afterwards; None where that was taken back."""
    statement: int = 0
    """Sequence of the newest SupersessionStated."""
    tags: tuple[str, ...] | None = None
    """The tags that somebody gave it afterwards; None: those of its metadata."""
    tags_set: int = 0
    """Sequence of the TagsChanged that said so, 0 for none."""
    original_size: int = 0
    """Bytes of the file that this version was read from, where it is kept; 0 where it is not."""

    def changed(self, **values: Any) -> "DocumentStatus":
        """Return the state with these fields changed.

        `dataclasses.replace` looks at every field, which takes a fifth of what folding an event
        does.
        """
        copy = object.__new__(DocumentStatus)
        vars(copy).update(vars(self))
        vars(copy).update(values)
        return copy

    def with_warnings(self, texts: Iterable[str], bits: int) -> "DocumentStatus":
        """Return the state with these warnings about the chunks whose orders are in the bit set.

        Of more than `MAX_WARNINGS` the first by their words are kept, so that the order of events
        does not matter.
        """
        warnings = dict(self.chunk_warnings)
        for text in texts:
            warnings[text] = warnings.get(text, 0) | bits
        return self.changed(chunk_warnings=dict(sorted(warnings.items())[:MAX_WARNINGS]))

    @property
    def validity(self) -> Validity | None:
        """When the document holds and what it supersedes; None where nobody says anything of it."""
        is_stated = self.statement > self.deleted and self.stated_validity is not None
        return self.stated_validity if is_stated else self.version_validity

    @property
    def current_metadata(self) -> dict[str, Scalar]:
        """The metadata, with the tags that it has now."""
        if self.tags is None:
            return self.metadata
        other_metadata = {name: value for name, value in self.metadata.items() if name != TAGS}
        return {**other_metadata, TAGS: ", ".join(self.tags)} if self.tags else other_metadata

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may be missing or wrong in what became of this version, in sentences for people."""
        of_chunks = [
            self._with_count(text, bits.bit_count())
            for text, bits in sorted(self.chunk_warnings.items())
        ]
        return tuple(dict.fromkeys((*self.text_warnings, *of_chunks)))

    def _with_count(self, text: str, count: int) -> str:
        if not count or self.chunk_count == 1:
            return text
        if self.chunk_count:
            return f"{text} ({count:,} of {self.chunk_count:,} chunks)"
        return f"{text} ({count:,} {'chunk' if count == 1 else 'chunks'})"

    def done(self, step: str) -> int:
        """Return how many chunks have finished the step."""
        return self.bits[step].bit_count()

    @property
    def open_failures(self) -> tuple[Failure, ...]:
        """The failures of this version that no later success has resolved, and that nobody has
        asked to try again.
        """
        return tuple(
            f
            for f in self.failures
            if self._concerns(f) and not self._healed(f) and not self._retried(f)
        )

    def _retried(self, failure: Failure) -> bool:
        return failure.sequence < max(self.retried.get(failure.stage, 0), self.retried.get("", 0))

    def _concerns(self, failure: Failure) -> bool:
        return failure.cause in {"", self.added_id} or not self.added_id

    def _healed(self, failure: Failure) -> bool:
        if failure.stage == "chunker" and failure.order is None:
            return self.chunk_count > 0
        if failure.order is None:
            return 0 < self.chunk_count == self.done(failure.step)
        return bool(self.bits[failure.step] >> failure.order & 1)

    @property
    def status(self) -> str:
        """One of STATUSES, or DELETED."""
        is_announced = bool(self.retried or self.access_set or self.statement or self.tags_set)
        if not (self.version or self.failures or self.deleted) and is_announced:
            # Of a document that does not exist, or whose other events have not come yet.
            return DELETED
        if self.deleted > self.version:
            everywhere = (
                self.erased.get("chunks")
                and self.erased.get("graph") == (1 << self.erased.get("parts", 0)) - 1
            )
            return DELETED if everywhere else "deleting"
        failures = self.open_failures
        if not self.chunk_count:
            return "failed" if failures else "pending"
        all_chunks = (1 << self.chunk_count) - 1
        complete = all_chunks
        for step in STEPS:
            complete &= self.bits[step]
        failed_chunks = 0
        for failure in failures:
            failed_chunks |= all_chunks if failure.order is None else 1 << failure.order
        if complete == all_chunks:
            return "processed"
        if (complete | failed_chunks) & all_chunks != all_chunks:
            return "processing"
        return "partial" if complete else "failed"


def working(counts: Mapping[str, int]) -> int:
    """Return how many documents are not settled, given the count of each status."""
    return sum(count for status, count in counts.items() if status not in SETTLED)
