"""Arguments that several tools take, with what they mean to a model."""

from typing import Annotated, Literal

from pydantic import Field

Question = Annotated[
    str, Field(min_length=3, max_length=8000, description="In plain words, one question at a time.")
]
Mode = Annotated[
    Literal["auto", "mix", "naive", "local", "global", "hybrid", "walk"] | None,
    Field(
        description=(
            "What is searched: everything (mix), passages only (naive), entities (local), "
            "relations (global), both (hybrid); walk follows what is tied to the names in a "
            "question of several hops; auto chooses between walk and mix, and says why. Leave it "
            "out unless you have a reason: then it is what the server has, auto by default."
        )
    ),
]

Effort = Annotated[
    Literal["low", "medium", "high"],
    Field(
        description=(
            "low: one search; medium: a round more for what is missing; high: a model looks around "
            "with tools, for questions of several steps. Each is slower and dearer."
        )
    ),
]

Keywords = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]],
    Field(
        min_length=1,
        max_length=10,
        description=(
            "Words or phrases as they are written in the documents, such as a name, a code or an "
            "error message; passages with any of them are found."
        ),
    ),
]

EntityName = Annotated[
    str, Field(min_length=1, max_length=512, description="Its exact name; see find_entities.")
]

AsOf = Annotated[
    str,
    Field(
        max_length=64,
        description=(
            "Answer from what was there then: a sequence of the log, or a time such as "
            "2026-03-01T12:00:00Z. Empty: as it is now."
        ),
    ),
]
