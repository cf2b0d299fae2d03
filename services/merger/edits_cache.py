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
        entry = self._entries.get(partition)
        return entry.state if entry else Edits()

    async def current(self, partition: Partition, stored: StoredEdits) -> Edits:
        """Return the state after all edits that are stored now. Reads one row, and the edits that
        are new.
        """
        history = await stored.edit_history(partition)
        entry = self._entries.get(partition)
        if entry is None or entry.count < history.revision:
            changes = history.changes_since(entry.count) if entry else None
            if entry and changes:
                new = await stored.edits(partition, list(map(int, changes.chunks)))
            else:
                new = await stored.edits(partition) if history.revision else []
            edits = {**(entry.edits if entry else {}), **{edit.sequence: edit for edit in new}}
            entry = _Entry(history.revision, edits, apply_edits(list(edits.values())))
            if (newer := self._entries.get(partition)) is None or newer.count < entry.count:
                self._entries[partition] = entry
        if partition in self._entries:
            self._entries.move_to_end(partition)
        while len(self._entries) > MAX_WORKSPACES:
            self._entries.popitem(last=False)
        return entry.state
