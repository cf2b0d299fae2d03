"""Which documents a question is about."""

from datetime import UTC, datetime
from typing import Any

import pytest

from services.query.status.document_status import DocumentStatus
from services.query.status.scope import EVERYTHING, Scope

DOCUMENT = DocumentStatus(
    "a",
    file_path="reports/2026/a.md",
    metadata={"tags": "red, old", "year": 2026, "draft": False},
    created_at="2026-03-01T10:00:00.000000+00:00",
)
BEFORE = datetime(2026, 3, 1, 9, tzinfo=UTC)
AFTER = datetime(2026, 3, 1, 11, tzinfo=UTC)


@pytest.mark.parametrize(
    "conditions",
    [
        {},
        {"document_ids": ("a", "b")},
        {"tags": ("red",)},
        {
            "tags": (
                "old",
                "red",
            )
        },
        {"metadata": (("year", 2026), ("draft", False))},
        {"file_path_prefix": "reports/"},
        {"added_from": BEFORE, "added_before": AFTER},
        {"document_ids": ("a",), "tags": ("red",), "added_from": BEFORE},
    ],
)
def test_a_document_is_within_when_every_condition_holds(conditions: dict[str, Any]) -> None:
    assert Scope(**conditions).admits(DOCUMENT)


@pytest.mark.parametrize(
    "conditions",
    [
        {"document_ids": ("b",)},
        {
            "tags": (
                "red",
                "new",
            )
        },
        {"metadata": (("year", 2025),)},
        {"metadata": (("missing", ""),)},
        {"file_path_prefix": "2026/"},
        {"added_from": AFTER},
        {"added_before": BEFORE},
        {"document_ids": ("a",), "tags": ("new",)},
    ],
)
def test_a_document_is_without_when_one_condition_does_not(conditions: dict[str, Any]) -> None:
    assert not Scope(**conditions).admits(DOCUMENT)


def test_only_a_scope_with_conditions_is_one() -> None:
    assert not EVERYTHING
    assert not Scope()
    assert Scope(file_path_prefix="a")


def test_a_document_without_tags_has_none() -> None:
    assert not Scope(tags=("red",)).admits(DocumentStatus("b"))
