"""Two workspaces of one stack: one is embedded by the multilingual model, the other never notices.

A German document is found by an English question in the one and not in the other.
"""

from collections.abc import Generator

import pytest

from tests.support.stack import Stack, running, until

pytestmark = pytest.mark.nightly  # without a stack: tests/unit/operations/test_own_vectors.py

GERMAN = {
    "handbuch.txt": "Die Waschmaschine steht im Keller neben der Heizung. "
    "Der Schlüssel zum Keller hängt am Brett neben der Haustür.",
    "garten.txt": "Der Garten wird von Frau Brandt gepflegt. "
    "Im Herbst werden die Rosen mit Laub bedeckt.",
}
MULTILINGUAL = "universal-sentence-encoder-multilingual-3@"
LEXICAL = "lexical-hash-v1"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """The same two German documents in the workspaces `handbuch` and `other`."""
    with running(tmp_path_factory.mktemp("workspace-model") / "data") as stack:
        for workspace in ("handbuch", "other"):
            stack.add(GERMAN, workspace)
            stack.settled(2, workspace)
        yield stack


def found(stack: Stack, workspace: str, question: str) -> set[str]:
    with stack.client(workspace) as client:
        body = {"query": question, "mode": "naive", "chunk_top_k": 1}
        answer = client.post("/query/data", json=body).json()
    return {chunk["file_path"] for chunk in answer["data"].get("chunks", [])}


def model_of(stack: Stack, workspace: str) -> str:
    with stack.client(workspace) as client:
        return client.get("/health").json()["configuration"]["embedding_model"]


def test_a_workspace_is_embedded_by_a_model_of_its_own(stack: Stack) -> None:
    estimate = stack.json("embedding", "set", "multilingual", "--workspace", "handbuch")
    assert estimate["texts"] > 0
    assert (estimate["cached_texts"], estimate["models"]) == (0, [])
    assert model_of(stack, "handbuch") == LEXICAL
    outcome = stack.json("embedding", "set", "multilingual", "--workspace", "handbuch", "--yes")
    assert outcome["digests"]["vectors"]["same"]
    assert model_of(stack, "handbuch").startswith(MULTILINGUAL)
    assert model_of(stack, "other") == LEXICAL
    question = "Where is the washing machine?"
    assert found(stack, "handbuch", question) == {"handbuch.txt"}
    assert found(stack, "other", question) == set()


def test_documents_that_come_later_are_embedded_by_it(stack: Stack) -> None:
    later = {"hausmeister.txt": "Der Hausmeister heißt Klaus Weber und wohnt im zweiten Stock."}
    for workspace in ("handbuch", "other"):
        stack.add(later, workspace)
        stack.settled(3, workspace)
    question = "What is the name of the caretaker?"
    assert found(stack, "handbuch", question) == {"hausmeister.txt"}
    assert found(stack, "other", question) == set()


def test_a_rebuild_of_the_stack_respects_it(stack: Stack) -> None:
    outcome = stack.json("rebuild", "all", "--workspace", "handbuch")
    assert {name: of_one["same"] for name, of_one in outcome["digests"].items()} == dict.fromkeys(
        outcome["targets"], True
    )
    assert model_of(stack, "handbuch").startswith(MULTILINGUAL)
    assert found(stack, "handbuch", "Who looks after the garden?") == {"garten.txt"}
    assert stack.json("stores", "check") == {"problems": []}


def test_the_operator_process_takes_the_order_to_go_back(
    stack: Stack,
) -> None:
    with stack.client("handbuch") as client:
        assert client.get("/operations/embedding").json()["chosen_model"] == "multilingual"
        answer = client.post("/operations/embedding/estimate", json={"model": ""})
        assert answer.status_code == 202

        def ended() -> dict[str, object] | None:
            outcome = client.get("/operations/embedding").json()["last"]
            return outcome if outcome and outcome["state"] != "running" else None

        estimate = until(ended, stack.logs)
        assert (estimate["state"], estimate["error"]) == ("done", "")
        # What has come since is new to the former model, and nothing else.
        assert 0 < estimate["result"]["texts"] < estimate["result"]["cached_texts"]
        answer = client.post("/operations/embedding/set", json={"model": "", "reason": "back"})
        id = answer.json()["id"]
        outcome = until(lambda: (order := ended()) and order["id"] == id and order, stack.logs)
        assert (outcome["state"], outcome["error"]) == ("done", "")
        assert client.get("/operations/embedding").json()["chosen_model"] == ""
    assert model_of(stack, "handbuch") == LEXICAL
    log_lines = stack.run("log", "--workspace", "handbuch").stdout
    assert "embedded by the model of the whole stack from here on: back" in log_lines
