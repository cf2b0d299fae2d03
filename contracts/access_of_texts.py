"""Who may see a document of which more than one text may be there: its newest one, and what is left
of those that it takes the place of.
"""

from dataclasses import dataclass, replace
from typing import Self

from contracts.access import Access
from contracts.events.base import Event
from contracts.events.documents import (
    AccessChanged,
    DocumentAdded,
    DocumentDeleted,
    DocumentErased,
)

MOVING = (DocumentAdded, AccessChanged, DocumentDeleted, DocumentErased)
"""The events that say who may see a document, or that take it away."""


@dataclass(frozen=True)
class AccessOfTexts:
    """Who may see the texts of one document, by what the log says of it up to a place.

    A text is seen by whom its own list admits. Whoever sees the document sees all of its texts, so
    each of them must admit it. `is_there`: it has a text that is not deleted.
    """

    is_there: bool = False
    access: Access | None = None
    """Of its newest text; None: everyone of the workspace."""
    replaced_lists: frozenset[Access | None] = frozenset()
    """Of texts before that one, since the last deletion; empty where there is none."""
    deleted_lists: frozenset[Access | None] = frozenset()
    """Of texts that were deleted: nothing that is said of the document later is about them."""

    def after(self, event: Event) -> "AccessOfTexts":
        """Return the same after the next event about the document."""
        if isinstance(event, DocumentDeleted | DocumentErased):
            return AccessOfTexts(
                deleted_lists=self.deleted_lists | self.replaced_lists | self._newest
            )
        if isinstance(event, DocumentAdded):
            access = event.access or self.access
            return AccessOfTexts(
                True, access, self.replaced_lists | self._newest, self.deleted_lists
            )
        if isinstance(event, AccessChanged):
            of_all = frozenset((event.access,) if self.replaced_lists else ())
            replaced_lists = self.replaced_lists if event.newest_text_only else of_all
            return replace(self, access=event.access, replaced_lists=replaced_lists)
        return self

    def alone(self) -> Self:
        """Return the same once nothing is left of any text but the newest one."""
        return replace(self, replaced_lists=frozenset(), deleted_lists=frozenset())

    @property
    def _newest(self) -> frozenset[Access | None]:
        return frozenset((self.access,) if self.is_there else ())

    @property
    def required(self) -> frozenset[Access]:
        """Return the lists that must all admit who sees the document; none: everyone sees it."""
        of_texts = (*self.replaced_lists, *self.deleted_lists, self.access)
        return frozenset(access for access in of_texts if access)

    @property
    def older_lists(self) -> frozenset[Access]:
        """Return what texts before the newest one require beside its own list."""
        return self.required.difference((self.access,))

    def admits(self, principals: frozenset[str]) -> bool:
        """Return whether who is all of these principals, and `everyone`, sees the document."""
        return self.is_there and all(access.admits(principals) for access in self.required)
