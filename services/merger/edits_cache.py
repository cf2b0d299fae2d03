"""Caches, in this process, the edits of workspaces: only those that their history names as new are
read.
"""

from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol

from contracts.graph import Partition
from knowledge.edit import Edit
from knowledge.edits import Edits, apply_edits
from services.merger.domain.history import History

MAX_WORKSPACES = 1000
"""Workspaces whose edits are cached: those that were merged last."""


class StoredEdits(Protocol):
    """The part of `Contributions` that is about edits."""

    async def edit_history(self, partition: Partition) -> History: ...

    async def edits(
        self, partition: Partition, sequences: Collection[int] | None = None
    ) -> list[Edit]: ...


@dataclass(frozen=True)
class _Entry:
    count: int
    edits: dict[int, Edit]
    state: Edits


class EditsCache:
    """The state after all edits, by partition."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Partition, _Entry] = OrderedDict()

    def last(self, partition: Partition) -> Edits:
        """Return the state as it was when it was read last; without edits if it never was."""
        return self._entry(partition).state

    async def current(self, partition: Partition, repository: StoredEdits) -> Edits:
        """Return the state after all edits that are stored now. Reads one row, and the edits that
        are new.
        """
        history = await repository.edit_history(partition)
        entry = self._entry(partition)
        if entry.count < history.revision:
            entry = await _updated(entry, history, partition, repository)
            # Another task may have read on meanwhile.
            if self._entry(partition).count < entry.count:
                self._entries[partition] = entry
        if partition in self._entries:
            self._entries.move_to_end(partition)
        while len(self._entries) > MAX_WORKSPACES:
            self._entries.popitem(last=False)
        return entry.state

    def _entry(self, partition: Partition) -> _Entry:
        return self._entries.get(partition) or _Entry(0, {}, Edits())


async def _updated(
    entry: _Entry, history: History, partition: Partition, repository: StoredEdits
) -> _Entry:
    """Return the entry with the edits that its history names as new; with all where it does not
    reach back.
    """
    changes = history.changes_since(entry.count) if entry.count else None
    sequences = None if changes is None else [int(sequence) for sequence in changes.chunks]
    edits = dict(entry.edits)
    for edit in await repository.edits(partition, sequences):
        edits[edit.sequence] = edit
    return _Entry(history.revision, edits, apply_edits(list(edits.values())))
