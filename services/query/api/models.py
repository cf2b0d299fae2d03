"""Requests and answers of the HTTP API, in LightRAG's shapes. Unknown fields of a request are ignored, as there."""

import unicodedata

from pydantic import BaseModel, Field, field_validator

from contracts.text import sanitize
from services.query.domain.question import Mode


def weight(query: str) -> int:
    """Characters of a query, a CJK one counting two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in query)


class QueryRequest(BaseModel):
    """A question."""

    query: str = Field(max_length=65536, examples=["What does the merger do?"])
    mode: Mode = "mix"
    only_need_context: bool | None = None
    top_k: int | None = Field(default=None, ge=1, le=1000)
    chunk_top_k: int | None = Field(default=None, ge=1, le=1000)
    max_entity_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    max_relation_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    max_total_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    hl_keywords: list[str] = Field(default=[], max_length=64)
    ll_keywords: list[str] = Field(default=[], max_length=64)
    include_references: bool = True
    min_position: int | None = Field(
        default=None, ge=0, description="wait until what the log holds up to here is in the answer"
    )
    include_chunk_content: bool = False

    @field_validator("query")
    @classmethod
    def _long_enough(cls, query: str) -> str:
        query = sanitize(query)
        if weight(query) < 3:
            raise ValueError("the query is too short: at least 3 characters, or 2 Chinese, Japanese or Korean ones")
        return query


class Reference(BaseModel):
    """A file the answer rests on."""

    reference_id: str
    file_path: str
    content: list[str] | None = Field(default=None, description="the passages, when they were asked for")


class QueryResponse(BaseModel):
    """An answer."""

    response: str
    references: list[Reference] | None
    response_time: float = Field(description="seconds")
    llm_generated: bool
