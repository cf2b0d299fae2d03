"""Which documents are not in force at a moment, and why, by what is said of their validity."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from contracts.graph import Partition
from contracts.moments import from_microseconds
from services.query.standing import Standing, Successor
from services.query.status.document_status import LEAVING, DocumentStatus
from services.query.status.port import Documents

MAX_STEPS = 5
"""Amendments of amendments that are followed."""


async def validity_register(
    documents: Documents,
    partition: Partition,
    ids: Collection[str],
    moment: datetime,
    visible_ids: Collection[str] | None = None,
) -> "ValidityRegister":
    """Return what is said of the validity of the documents, and of those that supersede them. Of
    others than the visible ones nothing is told. Raises `Unavailable`.
    """
    links: dict[str, set[str]] = {}
    pending_ids = set(ids)
    for _ in range(MAX_STEPS):
        if not pending_ids:
            break
        new_links = await documents.related_by_validity(partition, pending_ids)
        links |= new_links
        pending_ids = {id for ids in new_links.values() for id in ids} - links.keys()
    related_ids = {*links, *(id for ids in links.values() for id in ids)}
    stored_documents = await documents.get(partition, related_ids) if related_ids else {}
    states = {
        id: state
        for id, (state, _) in stored_documents.items()
        if visible_ids is None or id in visible_ids
    }
    return ValidityRegister(states, links, moment)


@dataclass(frozen=True)
class ValidityRegister:
    """What is said of the validity of documents, at one moment."""

    states: Mapping[str, DocumentStatus]
    links: Mapping[str, Collection[str]]
    moment: datetime

    def authority(self, id: str) -> int:
        """Return the authority of a document; 0 where nothing is said of it."""
        state = self.states.get(id)
        return state.validity.authority if state and state.validity else 0

    def standings(self, ids: Collection[str]) -> dict[str, Standing]:
        """Return which of these documents, and of the successors that lead on from them, are not in
        force, and why.
        """
        standings: dict[str, Standing] = {}
        pending_ids = list(ids)
        while pending_ids:
            id = pending_ids.pop(0)
            if id not in standings and (standing := self.standing(id)):
                standings[id] = standing
                pending_ids += [successor.document_id for successor in standing.successors]
        return standings

    def standing(self, id: str) -> Standing | None:
        """Return why the document is not in force; None where it is."""
        state = self.states.get(id)
        if state is None:
            return None
        validity = state.validity
        begins = validity.valid_from if validity else None
        ends = validity.valid_until if validity else None
        standing = Standing(
            id,
            state.file_path,
            self._successors(id),
            begins if begins and begins > self.moment else None,
            ends if ends and ends <= self.moment else None,
        )
        is_in_force = not (standing.successors or standing.valid_from or standing.valid_until)
        return None if is_in_force else standing

    def _successors(self, id: str) -> list[Successor]:
        successors = [
            Successor(state.id, state.file_path, _beginning(state))
            for other_id in self.links.get(id, ())
            if (state := self.states.get(other_id)) and self._supersedes(state, id)
        ]
        return sorted(successors, key=lambda successor: successor.since, reverse=True)

    def _supersedes(self, state: DocumentStatus, id: str) -> bool:
        validity = state.validity
        return (
            validity is not None
            and id in validity.supersedes
            and state.version > 0
            and state.status not in LEAVING
            and _beginning(state) <= self.moment
            and not (validity.valid_until and validity.valid_until <= self.moment)
        )


def _beginning(state: DocumentStatus) -> datetime:
    """Return from when the document supersedes others: from when it holds, else since it is
    there.
    """
    begins = state.validity.valid_from if state.validity else None
    return begins or from_microseconds(state.added)
