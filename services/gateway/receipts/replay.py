"""Asks the question of a receipt once more, from the same place of the log with the same settings,
and says what is the same.
"""

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

from contracts.events import AnswerEvidence, AnswerGiven
from contracts.ids import sha256
from services.query.answer import Answer
from services.query.errors import BadRequest
from services.query.partitions import Partitions
from services.query.question import Effort, Keywords, Mode, Output
from services.query.questions.port import QuestionRequest, Questions, SearchPlace
from services.query.receipts.event import evidence_of
from services.query.status.scope import EVERYTHING, Scope
from services.query.visibility.viewer import Viewer

_TIMES = ("added_from", "added_before")


@dataclass
class Replay:
    """What is the same as in the receipt. `prompt` and `answer` are None where there is nothing to
    compare; `missing`, `new`: ids of passages, entities and relations.
    """

    evidence: bool
    prompt: bool | None
    answer: bool | None
    text: str | None
    missing: list[str]
    new: list[str]
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class ReplayedQuestion:
    """The question of a receipt, as it is asked once more. `query`: the question itself, for a
    receipt that has its hash alone; `viewer`: who asks now, None for someone who sees all.
    """

    event: AnswerGiven
    partitions: Partitions
    query: str = ""
    viewer: Viewer | None = None

    def request(self, output: Output) -> QuestionRequest:
        """Return the request. Raises BadRequest for what cannot be asked again."""
        question = recorded_question(self.event, self.query)
        place = SearchPlace(partitions=self.partitions, sequence=self.event.position)
        request = _request(self.event, question, place, output)
        return replace(request, viewer=self.viewer or recorded_viewer(self.event))


async def replay(again: ReplayedQuestion, questions: Questions, *, with_answer: bool) -> Replay:
    """Ask again. Without an answer no model is paid for one.

    Raises BadRequest for what cannot be asked again, and what `Questions.ask` raises.
    """
    event = again.event
    prompt = await questions.ask(again.request("prompt"))
    text = None
    if with_answer:
        answer = await questions.ask(again.request("answer"))
        text = answer.text
    missing_ids, new_ids = _differences(event.evidence, evidence_of(prompt.retrieval))
    return Replay(
        evidence=not (missing_ids or new_ids),
        prompt=_is_same_prompt(event, prompt),
        answer=None if text is None else sha256(text) == event.answer.sha256,
        text=text,
        missing=missing_ids,
        new=new_ids,
        notes=_notes(event, again.viewer),
    )


def recorded_question(event: AnswerGiven, query: str) -> str:
    """Return the question. Raises BadRequest where it is not known, or another one was given."""
    if event.position == 0:
        raise BadRequest("the receipt has no place in the log to ask from: the log did not answer")
    question = query or event.question.text
    if not question:
        raise BadRequest(
            "the receipt has the hash of the question alone: give the question itself as `query`"
        )
    if sha256(question) != event.question.sha256:
        raise BadRequest("this is not the question of the receipt: its hash is another one")
    return question


def recorded_viewer(event: AnswerGiven) -> Viewer | None:
    """Return for whom the question was asked; None: someone who sees all documents."""
    return None if event.viewer is None else Viewer(event.viewer)


def scope_of(text: str) -> Scope:
    """Return the documents that a recorded question was restricted to."""
    if not text:
        return EVERYTHING
    fields = cast("dict[str, Any]", json.loads(text))
    values: dict[str, Any] = {
        name: tuple(cast("list[Any]", value)) if isinstance(value, list) else value
        for name, value in fields.items()
    }
    values |= {name: datetime.fromisoformat(fields[name]) for name in _TIMES if name in fields}
    if "metadata" in fields:
        values["metadata"] = tuple((name, value) for name, value in fields["metadata"])
    return Scope(**values)


def _request(
    event: AnswerGiven, question: str, place: SearchPlace, output: Output
) -> QuestionRequest:
    settings = event.settings
    words = event.words
    return QuestionRequest(
        query=question,
        place=place,
        mode=cast("Mode", settings.mode),
        top_k=settings.top_k,
        chunk_top_k=settings.chunk_top_k,
        max_entity_tokens=settings.max_entity_tokens,
        max_relation_tokens=settings.max_relation_tokens,
        max_total_tokens=settings.max_total_tokens,
        keywords=Keywords(words.high_level_keywords, words.low_level_keywords)
        if words
        else Keywords(),
        effort=cast("Effort", settings.effort),
        scope=scope_of(words.filter) if words else EVERYTHING,
        rerank=settings.rerank,
        valid_at=settings.valid_at or event.asked_at,
        response_type=words.response_type if words else None,
        user_prompt=words.user_prompt if words else "",
        # What was recorded begins with the prefix of then; that of now is for other questions.
        has_prompt_prefix=words is None,
        output=output,
    )


def _is_same_prompt(event: AnswerGiven, prompt: Answer) -> bool | None:
    """Return whether the prompt has the hash of the receipt; None where there was none."""
    return sha256(prompt.text) == event.prompt_sha256 if event.prompt_sha256 else None


def _differences(before: AnswerEvidence, now: AnswerEvidence) -> tuple[list[str], list[str]]:
    before_ids = _ids(before)
    ids = _ids(now)
    missing_ids = [id for id, hash in before_ids.items() if ids.get(id, "-") != hash]
    new_ids = [id for id, hash in ids.items() if before_ids.get(id, "-") != hash]
    return missing_ids, new_ids


def _ids(evidence: AnswerEvidence) -> dict[str, str]:
    """Return the hash of each passage, and an empty one of each entity and relation."""
    hashes = {passage.chunk_id: passage.sha256 for passage in evidence.passages}
    return hashes | {item.id: "" for item in (*evidence.entities, *evidence.relations)}


def _notes(event: AnswerGiven, viewer: Viewer | None) -> list[str]:
    notes: list[str] = []
    if viewer and viewer != recorded_viewer(event):
        notes.append("it was asked for other groups then: what is seen differs")
    elif event.viewer is not None:
        notes.append("what its asker may see today counts: documents may have been hidden since")
    if event.turns:
        notes.append(
            f"the {event.turns} earlier turns of the conversation are in no receipt: it was asked "
            "without them"
        )
    if event.form != "full":
        notes.append("what the asker gave beside the question is not recorded in this form")
    if event.erased_documents:
        notes.append(f"{len(event.erased_documents)} documents were erased since")
    return notes
