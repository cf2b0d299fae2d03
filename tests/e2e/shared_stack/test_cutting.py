"""Documents cut as they ask, and documents that need no cutting at all, on a running stack."""

import json
from typing import Any

import pytest

from tests.support.raw_events import added, publish_added
from tests.support.stack import Stack, until


def add(stack: Stack, workspace: str, document: str, **data: Any) -> None:
    """What a foreign publisher does."""
    event = added(
        document, workspace, data={"document_id": document, "file_path": f"{document}.md", **data}
    )
    publish_added(stack, event, document, workspace)


def cut(stack: Stack, workspace: str) -> list[dict[str, Any]]:
    """The events that carry chunks, in order."""
    lines = stack.run("log", "--json", "--workspace", workspace).stdout.splitlines()
    return [json.loads(line) for line in lines if '"ChunksCreated"' in line]


MILL: dict[str, Any] = {
    "chunks": [{"content": "The tide mill stands on the causeway.", "source_id": "sheet-1"}],
    "entities": [
        {
            "name": "Tide mill",
            "type": "building",
            "description": "Driven by the tide.",
            "source_id": "sheet-1",
        },
        {
            "name": "Harbour Trust",
            "type": "organization",
            "description": "Owns the quays.",
            "source_id": "nowhere",
        },
    ],
    "relations": [
        {
            "source": "Tide mill",
            "target": "Causeway Road",
            "description": "The mill is at its end.",
            "weight": 2.0,
        }
    ],
}


def test_ready_knowledge_is_asked_about_like_any_document(stack: Stack) -> None:
    add(stack, "known", "register", knowledge=MILL)
    assert stack.settled(1, "known")["processed"] == 1
    assert len(cut(stack, "known")) == 1
    with stack.client("known") as client:
        answer = client.post(
            "/query", json={"query": "What is the tide mill driven by?", "only_need_context": True}
        )
    assert answer.status_code == 200, answer.text
    context = answer.json()["response"]
    for said in (
        "Driven by the tide.",
        "Owns the quays.",
        "The mill is at its end.",
        "stands on the causeway",
    ):
        assert said in context


def test_a_rebuild_of_ready_knowledge_gives_the_same(stack: Stack) -> None:
    before = stack.digest("known")
    outcome = stack.json("rebuild", "all")
    assert outcome["skipped"] == 0
    assert stack.digest("known") == before


@pytest.mark.parametrize(
    ("chunking", "count"),
    [
        ({"size": 20, "overlap": 0, "strategy": "recursive"}, 3),
        ({"size": 20, "overlap": 0, "split_by_character": "\n\n"}, 4),
        ({"size": 1000, "overlap": 0}, 1),
    ],
    ids=["recursive", "split", "token"],
)
def test_a_document_is_cut_as_it_asks(stack: Stack, chunking: dict[str, Any], count: int) -> None:
    workspace = f"cut-{count}"
    text = "# The mill\n\nThe tide mill stands on the causeway of Brackwater.\n\n" + "\n\n".join(
        f"In {year} the Harbour Trust bought it and turned it into a net loft."
        for year in (1831, 1902)
    )
    add(stack, workspace, "mill", text=text, chunking=chunking)
    assert stack.settled(1, workspace)["processed"] == 1
    with stack.client(workspace) as client:
        result = client.post("/documents/paginated", json={}).json()["documents"][0]
    assert result["chunks_count"] == count


def test_a_piece_that_may_not_be_cut_fails_the_document_with_the_reason(stack: Stack) -> None:
    chunking = {"size": 5, "overlap": 0, "split_by_character": "|", "split_by_character_only": True}
    add(
        stack,
        "refused",
        "long",
        text="short|this piece has far more than five tokens",
        chunking=chunking,
    )
    counts = until(lambda: (c := stack.counts("refused"))["failed"] and c)
    assert counts and counts["all"] == 1
    with stack.client("refused") as client:
        result = client.post("/documents/paginated", json={}).json()["documents"][0]
    assert "begins at character 6 has more than 5 tokens" in result["error_msg"]
