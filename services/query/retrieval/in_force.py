"""Prefers passages of documents that are in force to those of documents that are not, and of those
that contradict each other the ones of greater authority.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from knowledge.nearest_passages import PassageSearch, nearest_passages
from services.query.partitions import Partitions
from services.query.passage import Passage
from services.query.question import Question
from services.query.retrieval.contradictions import (
    MAX_PASSAGES,
    PassageSentence,
    passage_sentences,
)
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.scoping import documents_in_scope
from services.query.standing import Precedence, Standing, Statement
from services.query.status.standings import ValidityRegister, validity_register

PASSAGES_OF_SUCCESSOR = 2
"""Passages of a successor that are looked for where the search has found none of it."""


@dataclass(frozen=True)
class InForce:
    """Passages, those in force before those that they supersede, and why these are not in force;
    which of those in force outweigh others that contradict them.
    """

    passages: Sequence[Passage]
    standings: Mapping[str, Standing] = field(default_factory=dict[str, Standing])
    precedences: Sequence[Precedence] = ()


async def in_force_first(
    question: Question,
    passages: Sequence[Passage],
    partitions: Partitions,
    deps: RetrievalDependencies,
) -> InForce:
    """Return the passages with those of the documents that supersede theirs in front of them, and
    of two in force that contradict each other the one of greater authority in front.

    Where none of a successor was found, its best ones are added, unless the question is not about
    it. What is not in force for another reason comes last. Raises `Unavailable`.
    """
    register = await _register(question, passages, partitions, deps)
    if register is None:
        return InForce(passages)
    ids = list(dict.fromkeys(passage.document_id for passage in passages))
    outdated = register.standings(ids)
    successor_ids = {
        successor.document_id for standing in outdated.values() for successor in standing.successors
    }
    absent_ids = successor_ids - {passage.document_id for passage in passages}
    added_passages = await _best_of(question, absent_ids, partitions, deps)
    all_passages = [*passages, *added_passages]
    precedences = _precedences(all_passages, outdated, register)
    ordered_passages = preferred_first(all_passages, outdated, precedences)
    sources = {passage.document_id for passage in ordered_passages}
    return InForce(
        ordered_passages, {id: outdated[id] for id in outdated if id in sources}, precedences
    )


async def _register(
    question: Question,
    passages: Sequence[Passage],
    partitions: Partitions,
    deps: RetrievalDependencies,
) -> ValidityRegister | None:
    """Return what is said of the validity of the passages' documents at the moment that the
    question is about; None for a question about none, or where nothing is said.
    """
    moment = question.valid_at
    if moment is None:
        return None
    ids = {passage.document_id for passage in passages}
    visible_ids = question.visible.restriction if question.visible else None
    register = await validity_register(deps.documents, partitions.status, ids, moment, visible_ids)
    return register if register.states else None


def _precedences(
    passages: Sequence[Passage], outdated: Collection[str], register: ValidityRegister
) -> list[Precedence]:
    """Return the pairs of statements in force that contradict each other, of documents of unequal
    authority; of two passages the first pair. Only the best passages are compared.
    """
    candidates = [passage for passage in passages if passage.document_id not in outdated]
    compared_passages = candidates[:MAX_PASSAGES]
    authorities = {
        passage.document_id: register.authority(passage.document_id)
        for passage in compared_passages
    }
    if len(set(authorities.values())) < 2:
        return []
    precedences: dict[frozenset[str], Precedence] = {}
    for left, right in combinations(passage_sentences(compared_passages), 2):
        left_authority = authorities[left.passage.document_id]
        right_authority = authorities[right.passage.document_id]
        if left_authority != right_authority and left.contradicts(right):
            weightier = _statement(left, left_authority)
            lighter = _statement(right, right_authority)
            if left_authority < right_authority:
                weightier, lighter = lighter, weightier
            precedence = Precedence(weightier, lighter)
            pair = frozenset((weightier.passage_id, lighter.passage_id))
            precedences.setdefault(pair, precedence)
    return list(precedences.values())


def _statement(sentence: PassageSentence, authority: int) -> Statement:
    passage = sentence.passage
    return Statement(passage.document_id, passage.file_path, passage.id, sentence.text, authority)


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
        search = PassageSearch(
            partitions.vectors, vector, PASSAGES_OF_SUCCESSOR, documents=frozenset([id])
        )
        hits = await nearest_passages(deps.vectors, deps.vectors.model, search)
        by_id = await deps.passages.get(partitions.status, [hit.names[0] for hit in hits])
        best += [by_id[hit.names[0]] for hit in hits if hit.names[0] in by_id]
    return best


def preferred_first(
    passages: Sequence[Passage],
    outdated: Mapping[str, Standing],
    precedences: Sequence[Precedence],
) -> list[Passage]:
    """Return the passages in their order, each behind those of the successors of its document and
    behind those that outweigh it, and what is not in force for another reason behind all others.
    """
    by_id = {passage.id: passage for passage in passages}
    of_document: dict[str, list[Passage]] = {}
    for passage in passages:
        of_document.setdefault(passage.document_id, []).append(passage)
    preferred: dict[str, list[Passage]] = {}
    for precedence in precedences:
        weightier = by_id[precedence.weightier.passage_id]
        preferred.setdefault(precedence.lighter.passage_id, []).append(weightier)
    for id, standing in outdated.items():
        newer = [item for s in standing.successors for item in of_document.get(s.document_id, ())]
        preferred |= {passage.id: newer for passage in of_document.get(id, ())}
    ordered_passages: dict[str, Passage] = {}

    def put(passage: Passage, path: Collection[str] = ()) -> None:
        if passage.id in ordered_passages or passage.document_id in path:
            return
        for better in preferred.get(passage.id, ()):
            put(better, (*path, passage.document_id))
        ordered_passages[passage.id] = passage

    outdated_passages = [
        passage
        for passage in passages
        if (standing := outdated.get(passage.document_id)) and not standing.successors
    ]
    outdated_ids = {passage.id for passage in outdated_passages}
    for passage in passages:
        if passage.id not in outdated_ids:
            put(passage)
    return [*(p for p in ordered_passages.values() if p.id not in outdated_ids), *outdated_passages]
