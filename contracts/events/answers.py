"""The receipt of an answer: what was asked, from which place of the log, and on what the answer
rests. The texts of passages stand in the events of their documents, and here only as hashes.
"""

from typing import Literal

from pydantic import AwareDatetime, Field

from contracts.events.base import Event
from contracts.events.questions import QUESTIONS, QuestionCost
from contracts.values import Value

ReceiptForm = Literal["hashes", "full", "erased"]
"""`full` has question and answer as texts, `hashes` only their hashes; `erased` is what an erasure
left of either.
"""

AnswerEnd = Literal["whole", "truncated", "left", "failed"]
"""How the answer ended: the model ended too early, its reader left, or it broke off by an error."""

HASH = r"^([0-9a-f]{64})?$"
"""A SHA-256 in lower-case hexadecimal digits; empty for none."""


class RecordedText(Value):
    """A text by its hash; in the form `full` also the text."""

    sha256: str = Field(pattern=HASH, description="of its UTF-8 bytes")
    text: str | None = None


class AnswerSettings(Value):
    """What the question was asked with, after the settings of the service had filled in the rest.
    Limits are in tokens.
    """

    mode: str = Field(max_length=32)
    chosen_mode: str = Field(default="", max_length=32, description="what `auto` chose")
    effort: str = Field(default="low", max_length=32)
    top_k: int = Field(ge=0)
    chunk_top_k: int = Field(ge=0)
    max_entity_tokens: int = Field(ge=0)
    max_relation_tokens: int = Field(ge=0)
    max_total_tokens: int = Field(ge=0)
    rerank: bool = False
    is_streamed: bool = False
    valid_at: AwareDatetime | None = Field(
        default=None, description="what was in force then came first"
    )


class AskedWords(Value):
    """Texts beside the question that its asker gave; only in the form `full`."""

    response_type: str = ""
    user_prompt: str = ""
    high_level_keywords: tuple[str, ...] = ()
    low_level_keywords: tuple[str, ...] = ()
    filter: str = Field(default="", description="the documents to answer from, as JSON")


class EvidencePassage(Value):
    """A passage that the model read."""

    chunk_id: str
    document_id: str
    version: int = Field(
        default=0, description="of the document: log sequence of its DocumentAdded"
    )
    sha256: str = Field(pattern=HASH, description="of its text; empty once it is erased")
    reference: str = Field(default="", description="what the answer cites it as")
    file_path: str = Field(default="", description="only in the form `full`")


class EvidenceEntity(Value):
    """An entity whose description the model read."""

    id: str = Field(description="`ent-` and a hash of its name")
    revision: int = Field(description="of the graph, which says what was known of it")
    support: int = Field(default=0, description="chunks that name it")
    documents: tuple[int, ...] = Field(
        default=(), description="places in `documents` of the first that say something of it"
    )
    name: str = Field(default="", description="only in the form `full`")


class EvidenceRelation(Value):
    """A relation whose description the model read."""

    id: str = Field(description="`rel-` and a hash of both names")
    revision: int
    support: int = 0
    documents: tuple[int, ...] = ()
    source: str = Field(default="", description="only in the form `full`")
    target: str = Field(default="", description="only in the form `full`")


class AnswerEvidence(Value):
    """What an answer rests on. `documents`: those of the passages first, then those that
    contributed to entities and relations.
    """

    documents: tuple[str, ...] = ()
    passages: tuple[EvidencePassage, ...] = ()
    entities: tuple[EvidenceEntity, ...] = ()
    relations: tuple[EvidenceRelation, ...] = ()


class AnswerRound(Value):
    """A round of a question with more than low effort."""

    new_passages: int = 0
    tokens: int = 0
    searches: tuple[str, ...] = Field(default=(), description="only in the form `full`")


class AnswerGiven(Event):
    """A question was answered. Who asked is the event's `actor`. It is on a subject apart
    (`subjects.QUESTIONS`).
    """

    receipt: str = Field(min_length=1, max_length=64, description="the receipt's id")
    form: ReceiptForm
    branch: str = Field(
        default="",
        max_length=32,
        description="name of the branch that answered for the workspace; empty: it did so itself",
    )
    asked_at: AwareDatetime
    duration_ms: int = Field(ge=0, description="until the end of the answer")
    position: int = Field(
        ge=0,
        description="sequence of the newest event of the workspace when it was asked; 0: not known",
    )
    complete_to: int = Field(
        default=0, ge=0, description="up to when all documents were in it, µs since 1970"
    )
    is_past: bool = Field(default=False, description="it was asked of the past, at `position`")
    settings: AnswerSettings
    words: AskedWords | None = None
    viewer: tuple[str, ...] | None = Field(
        default=None,
        description="principals whose documents alone it was answered from; null: all documents",
    )
    question: RecordedText
    turns: int = Field(default=0, ge=0, description="earlier turns of the conversation")
    history_sha256: str = Field(default="", pattern=HASH, description="of these turns")
    evidence: AnswerEvidence = AnswerEvidence()
    by_model: bool = Field(default=False, description="a language model wrote it")
    is_cached: bool = Field(default=False, description="it had been paid for by an equal question")
    model: str = Field(default="", description="the model of the settings; empty for none")
    prompt_sha256: str = Field(
        default="", pattern=HASH, description="of the prompt, without earlier turns"
    )
    rounds: tuple[AnswerRound, ...] = ()
    costs: tuple[QuestionCost, ...] = ()
    answer: RecordedText
    end: AnswerEnd = "whole"
    erased_documents: tuple[str, ...] = Field(
        default=(), description="why it has the form `erased`"
    )

    @property
    def aggregate_id(self) -> str:
        return QUESTIONS
