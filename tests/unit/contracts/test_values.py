"""What the parts of events refuse, and why."""

from typing import Any

import pytest
from pydantic import ValidationError

from contracts.chunking import Chunking
from contracts.events import DocumentAdded
from contracts.values import KNOWLEDGE_LIMIT, BlobRef, CustomKnowledge

MILL: dict[str, Any] = {"name": "Tide mill"}


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"size": 5, "overlap": 5}, "overlap 5 must be smaller than size 5"),
        ({"size": 0}, "greater than or equal to 1"),
        ({"overlap": -1}, "greater than or equal to 0"),
        ({"strategy": "semantic"}, "'token' or 'recursive'"),
        ({"split_by_character": ""}, "at least 1 character"),
        ({"split_by_character": "x" * 65}, "at most 64 characters"),
        ({"split_by_character_only": True}, "split_by_character_only needs split_by_character"),
        ({"split_by_character": "|", "strategy": "recursive"}, "needs the strategy `token`"),
    ],
)
def test_a_way_of_cutting_that_means_nothing_is_refused(
    fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValidationError, match=reason):
        Chunking.model_validate(fields)


def test_what_a_document_says_of_its_cutting_goes_before_the_service_s() -> None:
    defaults = Chunking(size=1200, overlap=100, strategy="recursive")
    assert Chunking().over(defaults) == defaults
    assert Chunking(size=200).over(defaults) == Chunking(
        size=200, overlap=100, strategy="recursive"
    )
    assert Chunking(overlap=0, strategy="token").over(defaults) == Chunking(
        size=1200, overlap=0, strategy="token"
    )
    assert Chunking(split_by_character="|").over(defaults) == Chunking(
        size=1200, overlap=100, strategy="token", split_by_character="|"
    )


def test_what_does_not_go_together_with_the_service_s_cutting_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"overlap \d+ must be smaller than size"):
        Chunking(overlap=1200).over(Chunking(size=1200, overlap=100))


def test_the_service_s_overlap_is_at_most_half_of_a_size_that_a_document_says() -> None:
    defaults = Chunking(size=1200, overlap=100)
    overlaps = {
        size: Chunking(size=size).over(defaults).bounded().overlap
        for size in (1, 2, 100, 199, 200, 5000)
    }
    assert overlaps == {1: 0, 2: 1, 100: 50, 199: 99, 200: 100, 5000: 100}


def test_an_overlap_of_more_than_half_can_be_read_and_is_not_in_bounds() -> None:
    chunking = Chunking.model_validate({"size": 1000, "overlap": 999})
    with pytest.raises(
        ValueError, match="overlap 999 is more than half of size 1000: give at most 500"
    ):
        chunking.bounded()
    assert Chunking(size=1000, overlap=500).bounded() == Chunking(size=1000, overlap=500)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "the knowledge is empty"),
        ({"chunks": [{"content": ""}]}, "at least 1 character"),
        ({"chunks": [{"content": "x" * 100_001}]}, "at most 100000 characters"),
        ({"entities": [{"name": ""}]}, "at least 1 character"),
        ({"entities": [{"name": "a\ud800"}]}, "valid string"),
        ({"relations": [{"source": "a", "target": "b", "keywords": ["\ud800"]}]}, "valid string"),
        ({"relations": [{"source": "a"}]}, "target"),
        (
            {"relations": [{"source": "a", "target": "b", "weight": -1}]},
            "greater than or equal to 0",
        ),
        ({"relations": [{"source": "a", "target": "b", "weight": float("nan")}]}, "finite"),
    ],
)
def test_knowledge_that_is_none_or_too_much_is_refused(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        CustomKnowledge.model_validate(fields)


def test_an_event_takes_so_much_knowledge_and_no_more() -> None:
    knowledge = {"chunks": [{"content": "x" * 90_000}] * 3}
    with pytest.raises(ValidationError, match=f"at most {KNOWLEDGE_LIMIT:,} are taken inside"):
        DocumentAdded.model_validate({"document_id": "d", "knowledge": knowledge})


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"text": "a", "knowledge": {"entities": [MILL]}},
        {"text": "a", "blob": BlobRef(sha256="0" * 64, size=1, parts=1)},
        {"blob": BlobRef(sha256="0" * 64, size=1, parts=1), "knowledge": {"entities": [MILL]}},
    ],
)
def test_a_document_is_a_text_or_a_blob_or_knowledge(content: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="exactly one of `text`, `blob` and `knowledge`"):
        DocumentAdded.model_validate({"document_id": "d", **content})


@pytest.mark.parametrize("pages", [(-1, 3), (0, 5, 4), tuple(range(10_001))])
def test_pages_begin_one_behind_the_other(pages: tuple[int, ...]) -> None:
    with pytest.raises(ValidationError, match="pages"):
        DocumentAdded(document_id="d", text="text", pages=pages)
