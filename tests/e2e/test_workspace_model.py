"""Two workspaces of one stack: one is embedded by the multilingual model, the other never notices.

A German document is found by an English question in the one and not in the other, whatever store
has the vectors.
"""

from collections.abc import AsyncGenerator, Generator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.postgres_server import fresh_schema, shared_postgres
from tests.support.qdrant_server import STAND_IN, qdrant_server
from tests.support.shared_servers import SharedServers
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
HERE = ("--workspace", "handbuch")
WASHING = "Where is the washing machine?"
GARDEN = "Who looks after the garden?"
CARETAKER = "What is the name of the caretaker?"


@pytest_asyncio.fixture(
    scope="module", loop_scope="module", params=["sqlite", "milvus", "postgres", "qdrant"]
)
async def stores(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    shared_servers: SharedServers,
) -> AsyncGenerator[tuple[str, ...]]:
    """Options of `up` for a new stack whose vectors stand in this store."""
    folder = tmp_path_factory.mktemp("stores")
    file = folder / "stores.env"
    async with AsyncExitStack() as contexts:
        match request.param:
            case "sqlite":
                yield ()
            case "milvus":
                yield "--vectors", "milvus"
            case "postgres":
                schema = fresh_schema(shared_postgres(shared_servers))
                file.write_text(f"STORES_URL={await contexts.enter_async_context(schema)}\n")
                yield "--stores", str(file)
            case _:
                server, url = qdrant_server(STAND_IN, folder)
                contexts.push_async_callback(server.stop)
                await server.start()
                file.write_text(_beside_sqlite(folder, url))
                yield "--stores", str(file)


def _beside_sqlite(folder: Path, vectors_url: str) -> str:
    return (
        f"DOCUMENTS_URL=sqlite://{folder}/documents.db\nGRAPH_URL=sqlite://{folder}/graph.db\n"
        f"VECTORS_URL={vectors_url}\n"
    )


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, stores: tuple[str, ...]) -> Generator[Stack]:
    """The same two German documents in the workspaces `handbuch` and `other`."""
    with running(tmp_path_factory.mktemp("workspace-model") / "data", *stores) as stack:
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
    estimate = stack.json("embedding", "set", "multilingual", *HERE)
    assert estimate["texts"] > 0
    assert (estimate["cached_texts"], estimate["models"]) == (0, [])
    assert model_of(stack, "handbuch") == LEXICAL
    outcome = stack.json("embedding", "set", "multilingual", *HERE, "--yes")
    assert outcome["digests"]["vectors"]["same"]
    assert model_of(stack, "handbuch").startswith(MULTILINGUAL)
    assert model_of(stack, "other") == LEXICAL
    assert found(stack, "handbuch", WASHING) == {"handbuch.txt"}
    assert found(stack, "other", WASHING) == set()


def test_documents_that_come_later_are_embedded_by_it(stack: Stack) -> None:
    later = {"hausmeister.txt": "Der Hausmeister heißt Klaus Weber und wohnt im zweiten Stock."}
    for workspace in ("handbuch", "other"):
        stack.add(later, workspace)
        stack.settled(3, workspace)
    assert found(stack, "handbuch", CARETAKER) == {"hausmeister.txt"}
    assert found(stack, "other", CARETAKER) == set()


def test_a_rebuild_of_the_stack_respects_it(stack: Stack) -> None:
    outcome = stack.json("rebuild", "all", *HERE)
    assert {name: of_one["same"] for name, of_one in outcome["digests"].items()} == dict.fromkeys(
        outcome["targets"], True
    )
    assert model_of(stack, "handbuch").startswith(MULTILINGUAL)
    assert found(stack, "handbuch", GARDEN) == {"garten.txt"}
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
    log_lines = stack.run("log", *HERE).stdout
    assert "embedded by the model of the whole stack from here on: back" in log_lines
    assert found(stack, "handbuch", WASHING) == set()


def test_the_last_change_is_taken_back_and_a_new_start_knows_it(stack: Stack) -> None:
    stack.json("rebuild", "rollback", "vectors", *HERE)
    stack.down()
    stack.up()
    assert stack.json("embedding", "show", *HERE)["chosen_model"] == "multilingual"
    assert found(stack, "handbuch", WASHING) == {"handbuch.txt"}
    stack.add({"hof.txt": "Die Fahrräder stehen im Hof unter dem Dach."}, "handbuch")
    stack.settled(4, "handbuch")
    assert found(stack, "handbuch", "Where are the bicycles?") == {"hof.txt"}
    assert stack.json("rebuild", "check", *HERE)["digests"]["vectors"]["same"]
    assert stack.run("doctor").returncode == 0


def test_what_is_deleted_or_erased_is_found_no_more_and_no_generation_has_it(stack: Stack) -> None:
    with stack.service("handbuch") as service:
        ids = {document.file_path: document.id for document in service.all_documents()}
        service.delete_documents([ids["hausmeister.txt"]])
    stack.settled(3, "handbuch")
    assert "hausmeister.txt" not in found(stack, "handbuch", CARETAKER)
    erased = stack.run("erase", "garten.txt", "--yes", *HERE)
    assert erased.returncode == 0, erased.stdout + erased.stderr
    assert found(stack, "handbuch", GARDEN) <= {"handbuch.txt"}
    assert found(stack, "handbuch", WASHING) == {"handbuch.txt"}
    assert model_of(stack, "handbuch").startswith(MULTILINGUAL)
    assert stack.json("rebuild", "check", *HERE)["digests"]["vectors"]["same"]
    assert stack.counts("other")["all"] == 3


def test_a_rebuild_is_taken_back_to_vectors_of_the_same_models(stack: Stack) -> None:
    stack.json("rebuild", "vectors", *HERE)
    stack.add({"garten.txt": GERMAN["garten.txt"]}, "handbuch")
    stack.settled(3, "handbuch")
    digest = stack.digest("handbuch")
    stack.json("rebuild", "rollback", "vectors", *HERE)
    assert stack.digest("handbuch") == digest
    assert model_of(stack, "handbuch").startswith(MULTILINGUAL)
    assert found(stack, "handbuch", GARDEN) == {"garten.txt"}
    assert model_of(stack, "other") == LEXICAL
    assert found(stack, "other", "Wo steht die Waschmaschine?") == {"handbuch.txt"}


def test_golden_questions_that_fare_worse_keep_another_model_from_going_live(
    stack: Stack,
) -> None:
    stack.json("golden", "add", WASHING, "--fact", "Waschmaschine", *HERE)
    assert stack.run("golden", "run", *HERE).returncode == 0
    refusal = stack.run("embedding", "clear", "--yes", *HERE)
    assert refusal.returncode == 1, refusal.stdout
    assert "missing fact: Waschmaschine" in refusal.stderr
    assert "embedding clear --workspace handbuch --yes --accept-worse" in refusal.stderr
    assert stack.json("embedding", "show", *HERE)["chosen_model"] == "multilingual"
    assert found(stack, "handbuch", WASHING) == {"handbuch.txt"}
    # What was made for nothing is gone, and so is no reason to wait for anything.
    assert stack.run("rebuild", "promote").returncode == 2
    outcome = stack.json("embedding", "clear", "--yes", "--accept-worse", *HERE)
    assert [(one["passed_before"], one["passed_again"]) for one in outcome["golden"]] == [(1, 0)]
    assert model_of(stack, "handbuch") == LEXICAL
    # Better than in the last run is no reason to ask anybody.
    better = stack.json("embedding", "set", "multilingual", "--yes", *HERE)
    assert [one["passed_again"] for one in better["golden"]] == [1]
    runs = stack.json("golden", "history", *HERE)
    assert [(run["passed"], run["before_promotion"]) for run in runs] == [
        (1, False),
        (0, False),
        (0, True),
        (1, False),
    ]
