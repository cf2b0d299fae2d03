"""Methods that ask questions: for an answer, a streamed answer, or the data an answer would be
based on.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Generic, Literal, TypedDict, TypeVar, Unpack, cast

from lightstream_rag.errors import ServerFault
from lightstream_rag.flows import Call, Flow, json_body, parse_as, request
from lightstream_rag.models import Answer, Evidence, Piece

Mode = Literal["mix", "hybrid", "local", "global", "naive", "walk", "auto", "bypass"]
Effort = Literal["low", "medium", "high"]

STREAM = "/query/stream"

T = TypeVar("T")


class Message(TypedDict):
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


class Filter(TypedDict, total=False):
    """The documents to answer from: those that meet all conditions. Times must have a time zone."""

    document_ids: Sequence[str]
    tags: Sequence[str]
    metadata: Mapping[str, str | int | float | bool]
    file_path_prefix: str
    added_from: datetime
    added_before: datetime


class QueryOptions(TypedDict, total=False):
    """The settings of a question; the page of the HTTP API explains each. None: as if left out."""

    mode: Mode | None
    effort: Effort
    only_need_context: bool
    only_need_prompt: bool
    response_type: str
    top_k: int
    chunk_top_k: int
    max_entity_tokens: int
    max_relation_tokens: int
    max_total_tokens: int
    hl_keywords: Sequence[str]
    ll_keywords: Sequence[str]
    conversation_history: Sequence[Message]
    user_prompt: str
    disable_user_prompt_prefix: bool
    enable_rerank: bool
    include_references: bool
    include_chunk_content: bool
    include_chunk_locations: bool
    include_progress: bool
    include_reasoning: bool
    min_position: int
    as_of: str | None
    valid_at: datetime | None
    filter: Filter


def query(question: str, **options: Unpack[QueryOptions]) -> Flow[Answer]:
    """Answer a question from the documents."""
    return request(
        Call(
            "POST",
            "/query",
            parse_as(Answer),
            json_body(query=question, **options),
            idempotent=True,
        )
    )


def query_data(question: str, **options: Unpack[QueryOptions]) -> Flow[Evidence]:
    """Return the data for a question without an answer: entities, relationships, passages and their
    files.
    """
    return request(
        Call(
            "POST",
            "/query/data",
            parse_as(Evidence),
            json_body(query=question, **options),
            idempotent=True,
        )
    )


def query_stream(question: str, **options: Unpack[QueryOptions]) -> Call[Piece]:
    """Answer a question piece by piece, as it is written: `with … as pieces`, then iterate.

    Closing the block ends the model's work. An error in the middle of an answer is raised by the
    iteration.
    """
    return Call(
        "POST", STREAM, parse_as(Piece), json_body(query=question, **options), idempotent=True
    )


class LineParser(Generic[T]):
    """Parses the stream of a call, a JSON object in each line."""

    def __init__(self, call: Call[T]) -> None:
        self._call = call
        self._rest = b""

    def feed(self, data: bytes) -> list[T]:
        """Return the values that these bytes complete. Raises `ServerFault` for a line that tells
        of an error.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [self._value(line) for line in lines if line.strip()]

    def close(self) -> list[T]:
        """Return the value of a last line without a line break."""
        return self.feed(b"\n")

    def _value(self, line: bytes) -> T:
        path = self._call.path
        try:
            fields = json.loads(line)
            if isinstance(fields, dict) and "error" in fields:
                detail = str(cast("dict[str, object]", fields)["error"])
                raise ServerFault(f"{path}: {detail}", detail=detail)
            return self._call.parse(line)
        except ValueError:
            raise ServerFault(f"{path}: a line is no piece of an answer") from None
