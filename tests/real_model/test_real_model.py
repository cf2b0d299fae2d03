"""Small real models that extract badly: nothing loops, nothing is lost, and warnings say what came
of it.

`make test-model` runs it. What such a model says is not the point and is never compared; what
becomes of it is.
"""

import json
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from lightstream_rag.models import Document
from tests.real_model.llama import GEMMA, SMOLLM, LlamaServer, serving
from tests.support.raw_events import history
from tests.support.stack import Stack, ended, running, until

PATIENCE = 1500.0
"""Seconds for all documents: some thirty answers of a model on one core that has other work too."""

QUIET = 45.0
"""Seconds without a call after which nothing is being asked again: longer than the pauses between
two tries.
"""

TEXTS = {
    "keeper.md": (
        "# The light\n\nAda Marlow keeps the light of Port Elm since 1921. Before her it was "
        "Hector Vane."
    ),
    "ferry.md": (
        "The ferry Ottilie crosses from Port Elm to Saint Brannock twice a day. Åsa Lind steers "
        "her."
    ),
    "office.md": (
        "The Harbour Office of Port Elm pays Ada Marlow and Åsa Lind. Its head is José Marín."
    ),
    "log.md": "\n\n".join(
        f"Day {day}: the ferry Ottilie left Port Elm {day % 7} minutes late, "
        f"and Åsa Lind wrote it into the log. Hector Vane counted {day * 3} barrels of herring at "
        "the quay of Saint Brannock."
        for day in range(1, 11)
    ),
}
QUESTION = "Who keeps the light of Port Elm?"
CALLS_PER_CHUNK = 8
"""Answers that a chunk may take: two rounds, each tried a few times."""


@pytest.fixture(scope="module", params=[SMOLLM, GEMMA], ids=["smollm2", "gemma3"])
def model(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[LlamaServer]:
    """Each of the models in turn. An answer ends at 160 tokens, so that some are cut."""
    with serving(request.param, tmp_path_factory.mktemp("model"), answer_tokens=160) as server:
        yield server


@pytest.fixture(scope="module")
def stack(model: LlamaServer, tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """A stack whose only language model it is."""
    folder = tmp_path_factory.mktemp("stack") / "data"
    with running(folder, CHUNK_SIZE="400", CHUNK_OVERLAP_SIZE="0", **model.environment()) as stack:
        yield stack


@pytest.fixture(scope="module")
def documents(stack: Stack, model: LlamaServer) -> list[Document]:
    """The documents, once each has come to an end."""
    stack.add(TEXTS)
    try:
        until(lambda: ended(stack.counts(), len(TEXTS)), stack.logs, PATIENCE)
    finally:
        for answer in model.answers():
            print(answer)
    with stack.service() as service:
        documents = service.all_documents()
    for document in documents:
        print(document)
    return documents


def test_every_document_comes_to_an_end_that_says_what_came_of_it(
    documents: list[Document],
) -> None:
    assert {document.file_path for document in documents} == TEXTS.keys()
    for document in documents:
        assert document.status in ("processed", "partial", "failed")
        assert document.status == "processed" or document.error_msg


def test_a_document_without_entities_warns(documents: list[Document], stack: Stack) -> None:
    without = [document for document in documents if not entities(stack, document.id)]
    print(f"without entities: {[document.file_path for document in without]}")
    for document in without:
        assert document.warnings or document.error_msg, document


def entities(stack: Stack, document: str) -> int:
    """Return how many entities the log has of a document."""
    events = [event["data"] for event in history(stack, document)]
    return sum(len(data.entities) for data in events if data.type_name() == "EntitiesExtracted")


def test_nothing_is_asked_again_and_again(documents: list[Document], model: LlamaServer) -> None:
    chunks = sum(document.chunks_count or 0 for document in documents)
    assert chunks > len(TEXTS)
    before = len(model.answers())
    assert before <= CALLS_PER_CHUNK * chunks
    time.sleep(QUIET)
    assert len(model.answers()) == before


def test_every_text_is_found(documents: list[Document], stack: Stack) -> None:
    with stack.client() as client:
        answer: dict[str, Any] = client.post(
            "/query/data", json={"query": QUESTION, "mode": "naive"}
        ).json()
    assert {chunk["file_path"] for chunk in answer["data"]["chunks"]} == TEXTS.keys()


@pytest.mark.parametrize("mode", ["naive", "mix", "local"])
def test_questions_are_answered_and_cut_ones_say_so(
    mode: str, documents: list[Document], stack: Stack, model: LlamaServer
) -> None:
    with stack.client() as client:
        answer = client.post("/query", json={"query": QUESTION, "mode": mode})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    print(mode, body["response"])
    assert body["response"].strip()
    is_cut = body["llm_generated"] and model.answers()[-1]["reason"] == "length"
    assert body.get("truncated", False) == is_cut


def test_a_stream_says_that_it_is_cut(
    documents: list[Document], stack: Stack, model: LlamaServer
) -> None:
    body = {"query": "Tell all that is known of Port Elm, at length.", "mode": "naive"}
    with stack.client() as client:
        answer = client.post("/query/stream", json=body)
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert "".join(line.get("response", "") for line in lines).strip()
    is_cut = model.answers()[-1]["reason"] == "length"
    assert any(line.get("truncated") for line in lines) == is_cut


def test_a_rebuild_makes_the_same_of_it_and_asks_nothing(
    documents: list[Document], stack: Stack, model: LlamaServer, tmp_path: Path
) -> None:
    before = len(model.answers())
    digests = stack.json("rebuild", "all")["digests"]
    assert all(comparison["same"] for comparison in digests.values())
    assert len(model.answers()) == before
