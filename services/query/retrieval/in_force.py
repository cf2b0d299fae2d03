"""Prefers passages of documents that are in force to those of documents that are not."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from contracts.moments import from_microseconds
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.question import Question
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.scoping import documents_in_scope
from services.query.standing import Standing, Successor
from services.query.status.document_status import LEAVING, DocumentStatus

MAX_STEPS = 5
"""Amendments of amendments that are followed."""

PASSAGES_OF_SUCCESSOR = 2
"""Passages of a successor that are looked for where the search has found none of it."""


@dataclass(frozen=True)
class InForce:
    """Passages, those in force before those that they supersede, and why these are not in force."""

    passages: Sequence[Passage]
    standings: Mapping[str, Standing] = field(default_factory=dict[str, Standing])


async def in_force_first(
    question: Question,
    passages: Sequence[Passage],
    partitions: Partitions,
    deps: RetrievalDependencies,
) -> InForce:
    """Return the passages with those of the documents that supersede theirs in front of them.

    Where none of a successor was found, its best ones are added, unless the question is not about
    it. What is not in force for another reason comes last. Raises `Unavailable`.
    """
    standings = await _standings(question, passages, partitions, deps)
    if not standings:
        return InForce(passages)
    successor_ids = {
        successor.document_id
        for standing in standings.values()
        for successor in standing.successors
    }
    absent_ids = successor_ids - {passage.document_id for passage in passages}
    added = await _best_of(question, absent_ids, partitions, deps)
    ordered = _ordered([*passages, *added], standings)
    sources = {passage.document_id for passage in ordered}
    return InForce(ordered, {id: item for id, item in standings.items() if id in sources})


async def _standings(
    question: Question,
    passages: Sequence[Passage],
    partitions: Partitions,
    deps: RetrievalDependencies,
) -> dict[str, Standing]:
    """Return the documents of the passages, and those that supersede them, that are not in force at
    the moment that the question is about, by id; none for a question about none.
    """
    moment = question.valid_at
    if moment is None:
        return {}
    sources = list(dict.fromkeys(passage.document_id for passage in passages))
    links: dict[str, set[str]] = {}
    pending_ids = set(sources)
    for _ in range(MAX_STEPS):
        if not pending_ids:
            break
        new_links = await deps.documents.related_by_validity(partitions.status, pending_ids)
        links |= new_links
        pending_ids = {id for ids in new_links.values() for id in ids} - links.keys()
    if not links:
        return {}
    ids = {*links, *(id for ids in links.values() for id in ids)}
    states = await deps.documents.get(partitions.status, ids)
    visible_ids = question.visible.restriction if question.visible else None
    register = _Register(
        {
            id: state
            for id, (state, _) in states.items()
            if visible_ids is None or id in visible_ids
        },
        links,
        moment,
    )
    return register.standings(sources)


@dataclass(frozen=True)
class _Register:
    """What is known of documents, at one moment."""

    states: Mapping[str, DocumentStatus]
    links: Mapping[str, Collection[str]]
    moment: datetime

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
            for other in self.links.get(id, ())
            if (state := self.states.get(other)) and self._supersedes(state, id)
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


async def _best_of(
    question: Question,
    ids: Collection[str],
    partitions: Partitions,
    deps: RetrievalDependencies,
) -> list[Passage]:
    """Return the passages of each of these documents that are most like the question."""
    documents = await documents_in_scope(question, partitions, deps) if ids else None
    allowed_ids = ids if documents is None else documents.intersection(ids)
    if not allowed_ids:
        return []
    (vector,) = await deps.embed([question.query])
    best: list[Passage] = []
    for id in sorted(allowed_ids):
        hits = await deps.vectors.search(
            partitions.vectors, "chunks", vector, top_k=PASSAGES_OF_SUCCESSOR, documents=[id]
        )
        by_id = await deps.passages.get(partitions.status, [hit.names[0] for hit in hits])
        best += [by_id[hit.names[0]] for hit in hits if hit.names[0] in by_id]
    return best


def _ordered(passages: Sequence[Passage], standings: Mapping[str, Standing]) -> list[Passage]:
    """Return the passages in their order, each behind those of the successors of its document, and
    what is not in force for another reason behind all others.
    """
    of_document: dict[str, list[Passage]] = {}
    for passage in passages:
        of_document.setdefault(passage.document_id, []).append(passage)
    ordered: dict[str, Passage] = {}

    def put(passage: Passage, path: Collection[str] = ()) -> None:
        standing = standings.get(passage.document_id)
        if passage.id in ordered or passage.document_id in path:
            return
        for successor in standing.successors if standing else ():
            for newer in of_document.get(successor.document_id, ()):
                put(newer, (*path, passage.document_id))
        ordered[passage.id] = passage

    outdated_passages = [
        passage
        for passage in passages
        if (standing := standings.get(passage.document_id)) and not standing.successors
    ]
    outdated_ids = {passage.id for passage in outdated_passages}
    for passage in passages:
        if passage.id not in outdated_ids:
            put(passage)
    return [*(p for p in ordered.values() if p.id not in outdated_ids), *outdated_passages]
