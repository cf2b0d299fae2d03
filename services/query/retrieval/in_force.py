"""Prefers passages of documents that are in force to those of documents that are not."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.question import Question
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.scoping import documents_in_scope
from services.query.standing import Standing
from services.query.status.standings import standings

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
    outdated = await _outdated(question, passages, partitions, deps)
    if not outdated:
        return InForce(passages)
    successor_ids = {
        successor.document_id for standing in outdated.values() for successor in standing.successors
    }
    absent_ids = successor_ids - {passage.document_id for passage in passages}
    added = await _best_of(question, absent_ids, partitions, deps)
    ordered = _ordered([*passages, *added], outdated)
    sources = {passage.document_id for passage in ordered}
    return InForce(ordered, {id: item for id, item in outdated.items() if id in sources})


async def _outdated(
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
    ids = list(dict.fromkeys(passage.document_id for passage in passages))
    visible_ids = question.visible.restriction if question.visible else None
    return await standings(deps.documents, partitions.status, ids, moment, visible_ids)


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


def _ordered(passages: Sequence[Passage], outdated: Mapping[str, Standing]) -> list[Passage]:
    """Return the passages in their order, each behind those of the successors of its document, and
    what is not in force for another reason behind all others.
    """
    of_document: dict[str, list[Passage]] = {}
    for passage in passages:
        of_document.setdefault(passage.document_id, []).append(passage)
    ordered: dict[str, Passage] = {}

    def put(passage: Passage, path: Collection[str] = ()) -> None:
        standing = outdated.get(passage.document_id)
        if passage.id in ordered or passage.document_id in path:
            return
        for successor in standing.successors if standing else ():
            for newer in of_document.get(successor.document_id, ()):
                put(newer, (*path, passage.document_id))
        ordered[passage.id] = passage

    outdated_passages = [
        passage
        for passage in passages
        if (standing := outdated.get(passage.document_id)) and not standing.successors
    ]
    outdated_ids = {passage.id for passage in outdated_passages}
    for passage in passages:
        if passage.id not in outdated_ids:
            put(passage)
    return [*(p for p in ordered.values() if p.id not in outdated_ids), *outdated_passages]
