"""Names of entities that have changed since an index of names read them."""

from typing import Any

from services.query.retrieval.caches.graph_arrays import ENTITY


class ChangedNames:
    """Names of entities that events have named since they were last taken. `row_count`: of the
    names in the index.
    """

    def __init__(self, row_count: int = 0) -> None:
        self.row_count = row_count
        self.names: set[str] = set()

    def forget(self, change: tuple[Any, ...]) -> None:
        """Add the name of a change: see `ChangedKeys`."""
        if change[0] == ENTITY:
            self.names.add(change[1])

    def take(self) -> set[str]:
        """Return the names, and have none any more."""
        names = self.names
        self.names = set()
        return names
