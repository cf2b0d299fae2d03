"""Who may see the documents of one workspace, moved by the events of the log."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from cachetools import LRUCache

from contracts.access import Access
from contracts.access_of_texts import AccessOfTexts
from contracts.events import AccessChanged, DocumentAdded, DocumentDeleted, DocumentErased, Event
from services.query.visibility.moves import Move
from services.query.visibility.port import VisibleDocuments
from services.query.visibility.viewer import Viewer

MAX_VIEWERS = 2000
"""Sets of principals whose documents are kept of each workspace."""

NOBODY = frozenset((Access(allow=()),))
"""What a document requires of which it is not known yet what was said of all of its texts."""


@dataclass(frozen=True)
class DocumentAccess:
    """Who may see a document, as the status projection has it.

    `is_there`: it is neither deleted nor announced only. `since`: the sequence from which on who
    may see it is as it is, 0 for ever. `applied_to`: the sequence of the newest event that counts.
    `may_have_others`: something may be left of texts whose access the projection does not have.
    """

    access: Access | None
    is_there: bool
    since: int = 0
    applied_to: int = 0
    may_have_others: bool = False


@dataclass
class WorkspaceAccess:
    """Who may see the documents of one workspace, up to a position of the log."""

    workspace: str
    position: int
    texts: dict[str, AccessOfTexts] = field(default_factory=dict[str, AccessOfTexts])
    """Of documents of which the log says anything, also of those that are not there."""
    ids: dict[frozenset[Access], set[str]] = field(default_factory=lambda: defaultdict(set))
    """The documents that are there, by the lists that must all admit who sees them."""
    since: dict[str, int] = field(default_factory=dict[str, int])
    """Since which sequence who may see a document is as it is; of others ever."""
    unsettled_ids: dict[str, None] = field(default_factory=dict[str, None])
    """Documents that have texts for others than their newest one, those that were looked at last at
    the end.
    """
    unread_ids: set[str] = field(default_factory=set[str])
    """Those of them whose texts are known to the log alone, so that nobody sees them."""
    applied_to: dict[str, int] = field(default_factory=dict[str, int])
    """Documents that were read as they were behind the position, and up to where."""
    seen_by: LRUCache[Viewer, VisibleDocuments] = field(
        default_factory=lambda: LRUCache(MAX_VIEWERS)
    )

    @classmethod
    def of(
        cls, name: str, position: int, documents: Mapping[str, DocumentAccess]
    ) -> "WorkspaceAccess":
        """Return the access of documents that include every event up to a position."""
        workspace = cls(name, position)
        texts_by_access: dict[tuple[bool, Access | None], AccessOfTexts] = {}
        for id, document in documents.items():
            key = document.is_there, document.access
            texts = texts_by_access.setdefault(key, AccessOfTexts(*key))
            if document.may_have_others:
                workspace.unread_ids.add(id)
            if document.since:
                workspace.since[id] = document.since
            if document.applied_to > position:
                workspace.applied_to[id] = document.applied_to
            workspace._put(id, texts)
        return workspace

    def apply(self, sequence: int, event: Event) -> None:
        """Move by one event; the events come in the order of the log."""
        id = event.aggregate_id
        old_texts = self.texts.get(id, AccessOfTexts())
        new_texts = old_texts.after(event)
        says_access = isinstance(event, AccessChanged | DocumentDeleted | DocumentErased) or (
            isinstance(event, DocumentAdded) and event.access is not None
        )
        if says_access or new_texts.required != old_texts.required:
            self.since[id] = sequence
        if sequence <= self.applied_to.get(id, 0):
            # What it was read with may have been said after this event.
            self.unread_ids.add(id)
        self._put(id, new_texts)

    def doubt(self, ids: Iterable[str]) -> None:
        """Note that something may be left of any text of these documents."""
        for id in ids:
            if self.since.get(id):
                self.unread_ids.add(id)
                self._put(id, self.texts[id])

    def postpone(self, id: str) -> None:
        """Look at all other unsettled documents before this one."""
        del self.unsettled_ids[id]
        self.unsettled_ids[id] = None

    def settle(self, id: str, sequence: int) -> None:
        """Note that from a sequence on nothing was left of texts but the newest one."""
        self.unread_ids.discard(id)
        self.since[id] = max(sequence, self.since.get(id, 0))
        self._put(id, self.texts[id].alone())

    def read(self, id: str, move: Move) -> None:
        """Note what the log says of a document, by the last move up to the position.

        Where the log has none of its texts, whether it is there is as it was: a document that is
        there and counted nowhere would make hiding others look needless.
        """
        self.unread_ids.discard(id)
        self.since[id] = max(move.sequence, self.since.get(id, 0))
        is_there = move.texts.is_there if move.version else self.texts[id].is_there
        self._put(id, replace(move.texts, is_there=is_there))

    def _put(self, id: str, texts: AccessOfTexts) -> None:
        old_texts = self.texts.get(id)
        if old_texts:
            self.ids[old_texts.required].discard(id)
            self.ids[NOBODY].discard(id)
        self.texts[id] = texts
        if texts.is_there:
            self.ids[NOBODY if id in self.unread_ids else texts.required].add(id)
        if texts.older_lists or id in self.unread_ids:
            self.unsettled_ids[id] = None
        else:
            self.unsettled_ids.pop(id, None)
        self.seen_by.clear()

    def seen(self, viewer: Viewer) -> VisibleDocuments:
        """Return what the viewer sees; the same object until something moves."""
        documents = self.seen_by.get(viewer)
        if documents is None:
            principals = frozenset(viewer.principals)
            admitted_ids = [
                ids
                for lists, ids in self.ids.items()
                if all(access.admits(principals) for access in lists)
            ]
            ids = frozenset[str]().union(*admitted_ids)
            total = sum(map(len, self.ids.values()))
            documents = self.seen_by[viewer] = VisibleDocuments(ids, len(ids) < total)
        return documents
