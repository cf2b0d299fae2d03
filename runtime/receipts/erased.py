"""What an erased document leaves of a receipt: that an answer rested on it, and nothing of what it
said.
"""

from collections.abc import Set
from typing import Any

from contracts.events import AnswerEvidence, AnswerGiven, AnswerRound
from contracts.ids import entity_vector_id, relation_vector_id


def graph_ids(keys: Set[tuple[str, ...]]) -> frozenset[str]:
    """Return the ids that receipts have for entities, of one name, and relations, of two."""
    return frozenset(
        relation_vector_id(*key) if len(key) == 2 else entity_vector_id(key[0]) for key in keys
    )


def may_have_words_of(event: AnswerGiven, document: str, ids: Set[str]) -> bool:
    """Return whether the receipt may hold words of the document, or hashes of them.

    `ids`: of the entities and relations that the document says something of. What was said before
    in a conversation may be of any document, and an answer may repeat it.
    """
    if event.form == "full" and (event.turns or document in event.evidence.documents):
        return True
    evidence = event.evidence
    return any(
        passage.document_id == document and passage.sha256 for passage in evidence.passages
    ) or any(item.id in ids for item in (*evidence.entities, *evidence.relations))


def without_words_of(event: AnswerGiven, document: str, ids: Set[str]) -> AnswerGiven:
    """Return the receipt without any word of the document: ids, numbers, and the hashes of question
    and answer stay.
    """
    fields: dict[str, Any] = {
        "form": "erased",
        "words": None,
        "question": event.question.model_copy(update={"text": None}),
        "answer": event.answer.model_copy(update={"text": None}),
        "rounds": tuple(_round_without_words(search_round) for search_round in event.rounds),
        "evidence": _evidence_without(event.evidence, document, ids),
        "erased_documents": tuple(dict.fromkeys((*event.erased_documents, document))),
    }
    return event.model_copy(update=fields)


def _round_without_words(search_round: AnswerRound) -> AnswerRound:
    return search_round.model_copy(update={"searches": ()})


def _evidence_without(evidence: AnswerEvidence, document: str, ids: Set[str]) -> AnswerEvidence:
    passages = tuple(
        passage.model_copy(update={"sha256": "", "file_path": ""})
        if passage.document_id == document
        else passage
        for passage in evidence.passages
    )
    entities = tuple(
        entity.model_copy(update={"name": ""})
        for entity in evidence.entities
        if entity.id not in ids
    )
    relations = tuple(
        relation.model_copy(update={"source": "", "target": ""})
        for relation in evidence.relations
        if relation.id not in ids
    )
    return AnswerEvidence(
        documents=evidence.documents, passages=passages, entities=entities, relations=relations
    )
