"""The event of an answer, made from what was recorded while it was given."""

import json
from dataclasses import dataclass, field
from typing import Any

from contracts.events import (
    AnswerEvidence,
    AnswerGiven,
    AnswerRound,
    AnswerSettings,
    AskedWords,
    EvidenceEntity,
    EvidencePassage,
    EvidenceRelation,
    RecordedText,
)
from contracts.graph import Entity, Relation
from contracts.ids import chunk_place, entity_vector_id, relation_vector_id, sha256
from services.query.answer import Answer
from services.query.charges import question_costs
from services.query.context.prompt import Prompt
from services.query.question import Question, Turn
from services.query.receipt_forms import RecordedForm
from services.query.receipts.recording import Recording
from services.query.retrieval.results import RetrievalResult
from services.query.status.scope import Scope

MOST_CONTRIBUTIONS = 12
"""Chunks of an entity or a relation whose documents a receipt names: the first ones of its list."""


def answer_given(recording: Recording, position: int, model: str) -> AnswerGiven:
    """Return the event. `position`: sequence of the newest event when it was asked; `model`: that
    of the settings, empty for none.
    """
    answer = recording.answer
    assert answer is not None
    assert recording.ended_at is not None
    question = recording.question
    form = recording.form
    costs = question_costs(recording.paid_calls)
    is_past = recording.place.sequence is not None
    was_paid = any(cost.step == "answer" for cost in costs)
    return AnswerGiven(
        receipt=recording.id,
        form=form,
        branch=recording.place.branch,
        asked_at=recording.asked_at,
        duration_ms=_milliseconds(recording),
        position=recording.place.sequence if recording.place.sequence is not None else position,
        complete_to=recording.place.complete_to,
        is_past=is_past,
        settings=_settings(question, answer, is_streamed=recording.is_streamed),
        words=_words(question) if form == "full" else None,
        viewer=question.viewer.principals if question.viewer else None,
        question=recorded_text(question.query, form),
        turns=len(question.history),
        history_sha256=history_hash(question.history),
        evidence=evidence_of(answer.retrieval, form),
        by_model=answer.by_model,
        is_cached=answer.by_model and bool(model) and not was_paid,
        model=model,
        prompt_sha256=prompt_hash(answer.prompt),
        rounds=_rounds(answer.retrieval, form),
        costs=costs,
        answer=recorded_text(recording.text, form),
        end=recording.end,
    )


def recorded_text(text: str, form: RecordedForm) -> RecordedText:
    """Return a text as a receipt of that form has it."""
    return RecordedText(sha256=sha256(text), text=text if form == "full" else None)


def prompt_hash(prompt: Prompt | None) -> str:
    """Return the SHA-256 of the prompt without earlier turns, which have a hash of their own; empty
    where there was none.
    """
    return "" if prompt is None else sha256(prompt.text)


def history_hash(turns: tuple[Turn, ...]) -> str:
    """Return the SHA-256 of the earlier turns of a conversation; empty without any."""
    pairs = [[turn.role, turn.content] for turn in turns]
    return sha256(json.dumps(pairs, ensure_ascii=False)) if pairs else ""


def evidence_of(retrieval: RetrievalResult, form: RecordedForm = "hashes") -> AnswerEvidence:
    """Return what an answer with this retrieval rests on, as a receipt of that form has it."""
    return _Evidence(form).of(retrieval)


def scope_text(scope: Scope) -> str:
    """Return the documents that a question is restricted to, as JSON; empty for all of them."""
    if not scope:
        return ""
    fields: dict[str, Any] = {name: value for name, value in vars(scope).items() if value}
    return json.dumps(fields, ensure_ascii=False, default=str)


def _milliseconds(recording: Recording) -> int:
    assert recording.ended_at is not None
    seconds = (recording.ended_at - recording.asked_at).total_seconds()
    return max(0, round(1000 * seconds))


def _settings(question: Question, answer: Answer, *, is_streamed: bool) -> AnswerSettings:
    return AnswerSettings(
        mode=question.mode,
        valid_at=question.valid_at,
        chosen_mode=str(answer.retrieval.info.get("mode", "")) if question.mode == "auto" else "",
        effort=question.effort,
        top_k=question.top_k,
        chunk_top_k=question.chunk_top_k,
        max_entity_tokens=question.max_entity_tokens,
        max_relation_tokens=question.max_relation_tokens,
        max_total_tokens=question.max_total_tokens,
        rerank=question.rerank,
        is_streamed=is_streamed,
    )


def _words(question: Question) -> AskedWords:
    return AskedWords(
        response_type=question.response_type,
        user_prompt=question.user_prompt,
        high_level_keywords=question.keywords.high,
        low_level_keywords=question.keywords.low,
        filter=scope_text(question.scope),
    )


def _rounds(retrieval: RetrievalResult, form: RecordedForm) -> tuple[AnswerRound, ...]:
    return tuple(
        AnswerRound(
            new_passages=search_round["new_passages"],
            tokens=search_round["tokens"],
            searches=tuple(search_round["searches"]) if form == "full" else (),
        )
        for search_round in retrieval.info.get("rounds", ())
    )


@dataclass
class _Evidence:
    """Collects the documents of an answer's evidence, each once."""

    form: RecordedForm
    places: dict[str, int] = field(default_factory=dict[str, int])

    def of(self, retrieval: RetrievalResult) -> AnswerEvidence:
        """Return the evidence of an answer."""
        for _, passage in retrieval.passages:
            self.places.setdefault(passage.document_id, len(self.places))
        passages = tuple(
            EvidencePassage(
                chunk_id=passage.id,
                document_id=passage.document_id,
                version=passage.version,
                sha256=sha256(passage.content),
                reference=reference,
                file_path=passage.file_path if self.form == "full" else "",
            )
            for reference, passage in retrieval.passages
        )
        entities = tuple(map(self._entity, retrieval.entities))
        relations = tuple(map(self._relation, retrieval.relations))
        return AnswerEvidence(
            documents=tuple(self.places), passages=passages, entities=entities, relations=relations
        )

    def _entity(self, entity: Entity) -> EvidenceEntity:
        return EvidenceEntity(
            id=entity_vector_id(entity.name),
            revision=entity.revision,
            support=entity.support,
            documents=self._contributors(entity.source_ids),
            name=entity.name if self.form == "full" else "",
        )

    def _relation(self, relation: Relation) -> EvidenceRelation:
        return EvidenceRelation(
            id=relation_vector_id(*relation.key),
            revision=relation.revision,
            support=relation.support,
            documents=self._contributors(relation.source_ids),
            source=relation.source if self.form == "full" else "",
            target=relation.target if self.form == "full" else "",
        )

    def _contributors(self, chunk_ids: tuple[str, ...]) -> tuple[int, ...]:
        """Return the places of the documents that these chunks are of, each once."""
        chunk_places = [chunk_place(id) for id in chunk_ids[:MOST_CONTRIBUTIONS]]
        documents = dict.fromkeys(place[0] for place in chunk_places if place)
        return tuple(self.places.setdefault(document, len(self.places)) for document in documents)
