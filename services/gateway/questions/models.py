"""Questions and answers of the HTTP API, in LightRAG's shapes. As there, unknown fields of a
request are ignored.
"""

import unicodedata
from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
    model_validator,
)

from contracts.spelling import one_spelling, spellings
from contracts.tags import MAX_TAGS
from contracts.text import encodable, sanitize
from contracts.values import FigureRef
from runtime.bus.points import FORM
from services.gateway.questions.standings import OutdatedSource, OutweighedStatement
from services.gateway.strict_model import StrictModel, Timestamp
from services.query.answer import Answer
from services.query.passage import Passage
from services.query.question import Effort, Mode
from services.query.retrieval.results import RetrievalResult
from services.query.status.scope import Scope

MAX_MODEL_INPUT = 131_072
"""Characters of one request that are sent to a language model at most."""

MAX_TURNS = 128
"""Turns that the history of a conversation may have in one request."""

MAX_TURN_LENGTH = 32_768
"""Characters that one turn may have."""


def query_length(query: str) -> int:
    """Return the characters of a query; a CJK one counts two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in query)


def _encodable(word: object) -> object:
    return encodable(word) if isinstance(word, str) else word


Keyword = Annotated[str, BeforeValidator(_encodable), Field(max_length=512)]
"""A keyword; lone surrogates are removed instead of rejected."""


class HistoryMessage(StrictModel):
    """One earlier message of the conversation."""

    role: Literal["system", "user", "assistant"]
    content: str = Field(max_length=MAX_TURN_LENGTH)


class Filter(StrictModel):
    """The documents that a question is about: those that meet all of the conditions."""

    model_config = ConfigDict(extra="forbid")

    document_ids: list[Annotated[str, Field(max_length=512)]] = Field(default=[], max_length=1000)
    tags: list[Annotated[str, Field(max_length=256)]] = Field(
        default=[],
        max_length=MAX_TAGS,
        description="all of them, in the comma-separated metadata `tags`",
    )
    metadata: dict[str, StrictBool | StrictInt | StrictFloat | StrictStr] = Field(
        default={}, max_length=32
    )
    file_path_prefix: str = Field(default="", max_length=4096)
    added_from: Timestamp | None = None
    added_before: Timestamp | None = None

    def scope(self) -> Scope:
        """Return the filter as retrieval takes it."""
        return Scope(
            document_ids=tuple(
                id for document_id in self.document_ids for id in spellings(document_id)
            ),
            tags=tuple(self.tags),
            metadata=tuple(self.metadata.items()),
            file_path_prefix=self.file_path_prefix,
            added_from=self.added_from,
            added_before=self.added_before,
        )


class QueryRequest(StrictModel):
    """A question. Null stands for the server's default."""

    query: str = Field(max_length=65536, examples=["What does the merger do?"])
    mode: Mode | None = Field(
        default=None,
        description="what is searched; without one the setting DEFAULT_MODE, which is `auto`",
    )
    only_need_context: bool | None = None
    only_need_prompt: bool | None = None
    response_type: str | None = Field(
        default=None, min_length=1, max_length=256, examples=["Bullet Points"]
    )
    top_k: int | None = Field(default=None, ge=1, le=1000)
    chunk_top_k: int | None = Field(default=None, ge=1, le=1000)
    max_entity_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    max_relation_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    max_total_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    hl_keywords: list[Keyword] = Field(default=[], max_length=64)
    ll_keywords: list[Keyword] = Field(default=[], max_length=64)
    conversation_history: list[HistoryMessage] | None = Field(
        default=None,
        max_length=MAX_TURNS,
        description=(
            "for the answering model; a question that refers to it is searched with its names"
        ),
    )
    user_prompt: str | None = Field(
        default=None, max_length=65_536, description="instructions for the answering model"
    )
    disable_user_prompt_prefix: bool | None = None
    enable_rerank: bool | None = None
    effort: Effort = Field(
        default="low",
        description=(
            "low: one search; medium: a round in which a model asks for what is missing; high: "
            "rounds in which it looks around with tools"
        ),
    )
    include_references: bool = True
    min_position: int | None = Field(
        default=None,
        ge=0,
        description="wait until all that was added by then is in the answer; see X-Log-Position",
    )
    as_of: str | None = Field(
        default=None, max_length=64, description=f"answer from what was there then: {FORM}"
    )
    valid_at: Timestamp | None = Field(
        default=None,
        description="prefer what was in force then; absent: the time of `as_of`, else now",
    )
    filter: Filter = Field(default_factory=Filter, description="the documents to answer from")
    include_chunk_content: bool = False
    include_chunk_locations: bool = Field(
        default=False, description="documents, offsets and pages of the passages"
    )
    include_progress: bool = Field(
        default=False, description="/query/stream: a line for each step, and the seconds"
    )
    include_reasoning: bool = Field(
        default=False,
        description=(
            "what the model wrote before its answer, in a field of its own; no cache has it"
        ),
    )
    stream: bool | None = Field(
        default=None, description="/query/stream: false for an answer in one line"
    )

    @field_validator("query")
    @classmethod
    def _sanitized(cls, query: str) -> str:
        return one_spelling(sanitize(query))

    @model_validator(mode="after")
    def _long_enough(self) -> Self:
        if self.mode == "bypass" and not self.query:
            raise ValueError("the query is empty")
        if self.mode != "bypass" and query_length(self.query) < 3:
            raise ValueError(
                "the query is too short: at least 3 characters, or 2 Chinese, Japanese or "
                "Korean ones"
            )
        return self

    @model_validator(mode="after")
    def _short_enough(self) -> Self:
        messages = [message.content for message in self.conversation_history or ()]
        if (
            length := sum(map(len, [self.query, self.user_prompt or "", *messages]))
        ) > MAX_MODEL_INPUT:
            raise ValueError(
                f"query, user_prompt and conversation_history have {length:,} characters, "
                f"over {MAX_MODEL_INPUT:,}"
            )
        return self


class Place(BaseModel):
    """The position of a passage: characters of the document's text, and the page on which it
    begins, if known.
    """

    chunk_id: str
    document_id: str
    start: int | None
    end: int | None
    page: int | None
    page_breaks: list[int] = Field(
        default=[],
        description="characters of the passage at which its next pages begin",
        exclude_if=lambda breaks: not breaks,
    )
    figures: list[FigureRef] = Field(
        default=[],
        description="that stand in it: GET /documents/{document_id}/figures/{sha256}",
        exclude_if=lambda figures: not figures,
    )


class Reference(BaseModel):
    """A file that the answer is based on."""

    reference_id: str
    file_path: str
    content: list[str] | None = Field(
        default=None, description="the passages, when they were asked for"
    )
    also_in: list[str] | None = Field(
        default=None,
        description="files that say the same in a passage which is left out here as a double",
        exclude_if=lambda files: files is None,
    )
    chunks: list[Place] | None = Field(
        default=None,
        description=(
            "where the passages stand, in the order of `content`, when either was asked for"
        ),
        exclude_if=lambda places: places is None,
    )


def references_of(request: QueryRequest, answer: Answer) -> list[Reference] | None:
    """Return the references of an answer with the requested details, None when they are not
    requested.
    """
    if not request.include_references:
        return None
    passages: dict[str, list[Passage]] = {}
    for id, passage in answer.retrieval.passages:
        passages.setdefault(id, []).append(passage)
    with_locations = request.include_chunk_content or request.include_chunk_locations
    return [
        Reference(
            reference_id=id,
            file_path=path,
            content=[passage.content for passage in passages.get(id, ())]
            if request.include_chunk_content
            else None,
            also_in=answer.retrieval.files_of_doubles(id, path) or None,
            chunks=[_location(passage) for passage in passages.get(id, ())]
            if with_locations
            else None,
        )
        for path, id in answer.retrieval.references.items()
    ]


def _location(passage: Passage) -> Place:
    return Place(
        chunk_id=passage.id,
        document_id=passage.document_id,
        start=passage.start,
        end=passage.end,
        page=passage.page,
        page_breaks=list(passage.page_breaks),
        figures=list(passage.figures),
    )


class ToolStep(BaseModel):
    """A tool that the model used."""

    tool: str = Field(description="`search`, `find_text`, `read_passages` or `find_paths`")
    arguments: str = Field(description="what with, in a line")
    passages: int = Field(description="new passages that it read")
    error: str = Field(
        default="",
        description="why it found nothing, where it was called wrongly",
        exclude_if=lambda error: not error,
    )


class SearchRound(BaseModel):
    """A round of a question with more than low effort."""

    searches: list[str] = Field(description="what was searched for, or the tools that were used")
    steps: list[ToolStep] = Field(
        default=[], description="with high effort", exclude_if=lambda steps: not steps
    )
    missing: str = Field(description="what the model said was missing before it")
    new_passages: int
    tokens: int = Field(description="that the model read and wrote for it")
    ended: str = Field(description="why no other round followed; empty when one did")


def rounds_of(answer: Answer) -> list[SearchRound] | None:
    """Return the rounds of an answer, None for one of low effort."""
    rounds = answer.retrieval.info.get("rounds")
    return (
        None
        if rounds is None
        else [SearchRound.model_validate(search_round) for search_round in rounds]
    )


def mode_choice(retrieval: RetrievalResult) -> dict[str, str]:
    """Return the fields `mode` and `mode_reason` where `auto` has chosen the mode, else none."""
    if "mode_reason" not in retrieval.info:
        return {}
    return {name: retrieval.info[name] for name in ("mode", "mode_reason")}


class QueryResponse(BaseModel):
    """An answer."""

    response: str
    references: list[Reference] | None
    response_time: float = Field(description="seconds")
    llm_generated: bool
    truncated: bool = Field(
        default=False,
        description=(
            "true: the model ended at its length limit, or broke off, before the end of the answer"
        ),
        exclude_if=lambda truncated: not truncated,
    )
    prompt_truncated: bool = Field(
        default=False,
        description=(
            "true: the model read only a part of the question's context, because its context "
            "window is too small; raise it where the model is served"
        ),
        exclude_if=lambda prompt_truncated: not prompt_truncated,
    )
    reasoning: str | None = Field(
        default=None,
        description="with `include_reasoning`, what the model wrote before its answer, if anything",
        exclude_if=lambda reasoning: reasoning is None,
    )
    rounds: list[SearchRound] | None = Field(
        default=None,
        description="with more than low effort",
        exclude_if=lambda rounds: rounds is None,
    )
    mode: Mode | None = Field(
        default=None,
        description="the mode that `auto` chose for this question",
        exclude_if=lambda mode: mode is None,
    )
    mode_reason: str | None = Field(
        default=None,
        description="why `auto` chose it, in a sentence",
        exclude_if=lambda reason: reason is None,
    )
    outdated_sources: list[OutdatedSource] | None = Field(
        default=None,
        description="the sources that are not in force, and what supersedes them",
        exclude_if=lambda sources: sources is None,
    )
    outweighed_statements: list[OutweighedStatement] | None = Field(
        default=None,
        description="what sources say and others of greater authority seem to contradict",
        exclude_if=lambda statements: statements is None,
    )
    receipt: str | None = Field(
        default=None,
        description="with RECEIPTS, the id of the answer's receipt: GET /receipts/{id}",
        exclude_if=lambda receipt: receipt is None,
    )
