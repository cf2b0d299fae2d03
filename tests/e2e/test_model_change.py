"""Another embedding model is a decision that somebody says aloud; nothing is mixed, lost or refused
by it.
"""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from contracts.graph import VECTOR_KINDS, Partition, VectorKind, VectorRow
from runtime.bus.nats.connection import connected
from runtime.bus.nats.key_values import NatsLiveGenerations
from runtime.projections.embedding import GenerationEmbedders
from runtime.stores.open import open_vectors
from runtime.stores.vectors import collection_names, model_collections
from runtime.stores.vectors.port import Vectors
from tests.support.corpus import documents
from tests.support.stack import Stack, running, until

pytestmark = pytest.mark.nightly  # without a stack: tests/unit/operations/test_embedding_model.py

QUESTION = {"query": "Who left Graywick on the Kestrel?", "mode": "naive"}
LEXICAL = "lexical-hash-v1 (384 dimensions)"
MINILM = "all-MiniLM-L6-v2-int8-dynamic@"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """Five documents, embedded with the lexical model."""
    with running(tmp_path_factory.mktemp("models") / "data") as stack:
        stack.add({**documents(4), "late.txt": "Ada Marlow left Graywick on the Kestrel."})
        stack.settled(5)
        yield stack


@contextmanager
def other_shell(stack: Stack, **variables: str) -> Generator[None]:
    """Commands inside are given in a shell with other variables than the stack was started with."""
    before = dict(stack.env)
    stack.env.update(variables)
    try:
        yield
    finally:
        stack.env.clear()
        stack.env.update(before)


def live_model(stack: Stack) -> str:
    with stack.client() as client:
        return client.get("/health").json()["configuration"]["embedding_model"]


def test_a_command_in_another_shell_works_with_the_models_of_the_stack(stack: Stack) -> None:
    before = stack.digest()
    with other_shell(stack, EMBEDDING_MODEL="minilm", EMBEDDING_DIM="7", SUMMARY_MAX_TOKENS="1"):
        assert stack.digest() == before
        assert stack.json("stores", "check") == {"problems": []}
        outcome = stack.json("rebuild", "all")
    assert {name: digest["same"] for name, digest in outcome["digests"].items()} == dict.fromkeys(
        outcome["targets"], True
    )
    assert live_model(stack) == "lexical-hash-v1"


def test_no_question_is_refused_while_a_rebuild_goes_over_to_another_model(stack: Stack) -> None:
    answers: list[tuple[int, str]] = []
    stop = threading.Event()

    def ask() -> None:
        with stack.client() as client:
            while not stop.is_set():
                answer = client.post("/query", json=QUESTION)
                answers.append((answer.status_code, answer.text))

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        outcome = stack.json("rebuild", "vectors", "--embedding-model", "minilm")
        stack.add({"later.txt": "Celia Finch came to Graywick on the Gull."})
        stack.settled(6)
    finally:
        stop.set()
        asking.join()

    assert (
        outcome["digests"]["vectors"]["same"],
        outcome["digests"]["vectors"]["live"] is not None,
    ) == (
        True,
        True,
    )
    assert {status for status, _ in answers} == {200}
    assert all("late.txt" in text for _, text in answers)
    assert live_model(stack).startswith(MINILM)
    with stack.client() as client:
        answer = client.post(
            "/query", json={**QUESTION, "query": "Who came to Graywick on the Gull?"}
        )
    assert "later.txt" in {reference["file_path"] for reference in answer.json()["references"]}


def test_a_change_that_nobody_said_aloud_is_refused_with_both_names(stack: Stack) -> None:
    # The stack was started with the lexical model, and its vectors are of the other one by now.
    before = stack.digest()
    for command in (
        ["rebuild", "vectors"],
        ["rebuild", "all"],
        ["rebuild", "vectors", "--rollback"],
    ):
        outcome = stack.run(*command)
        assert outcome.returncode == 1, outcome.stdout
        said = " ".join(outcome.stderr.split())
        assert LEXICAL in said
        assert f"made by {MINILM}" in said
        assert "--embedding-model lexical" in said
    outcome = stack.run("rebuild", "vectors", "--embedding-model", "text-embedding-3-small")
    assert (outcome.returncode, "EMBEDDING_MODEL=text-embedding-3-small" in outcome.stderr) == (
        1,
        True,
    )
    assert stack.digest() == before


def test_the_way_back_is_said_aloud_too(stack: Stack) -> None:
    outcome = stack.json("rebuild", "vectors", "--rollback", "--embedding-model", "lexical")
    assert outcome["generations"] == {"vectors": 2}
    assert live_model(stack) == "lexical-hash-v1"
    with stack.client() as client:
        assert client.post("/query", json=QUESTION).status_code == 200


def test_a_stack_started_with_another_model_goes_on_with_the_one_that_made_its_vectors(
    stack: Stack,
) -> None:
    stack.down()
    stack.env["EMBEDDING_MODEL"] = "minilm"
    stack.up()
    with stack.client() as client:
        assert client.post("/query", json=QUESTION).status_code == 200
    assert live_model(stack) == "lexical-hash-v1"
    stack.add({"last.txt": "Dorian Pell sold salt on the quay."})
    until(lambda: stack.counts().get("processed") == 7, lambda: str(stack.counts()))
    outcome = stack.json("rebuild", "vectors", "--embedding-model", "minilm")
    assert outcome["generations"] == {"vectors": 4}
    assert live_model(stack).startswith(MINILM)


def make_outdated(stack: Stack) -> None:
    """Leave of the live vectors what a version before the ids of format 2 would have left: rows
    under other ids.
    """

    async def change() -> None:
        async with connected(stack.settings.nats_url, name="test") as client:
            generation = (await (await NatsLiveGenerations.bind(client.jetstream())).live()).vectors
        embeddings = GenerationEmbedders(stack.settings)
        async with embeddings.of(generation) as result:
            await rename_rows(result.vectors, generation)
        await embeddings.close()

    async def rename_rows(vectors: Vectors, generation: int) -> None:
        partition, rows = Partition("default", generation), dict[VectorKind, list[VectorRow]]()
        for kind in VECTOR_KINDS:
            ids = [row.id for row in await vectors.scan(partition, kind)]
            rows[kind] = list((await vectors.get(partition, kind, ids, vectors=True)).values())
        checkpoint = await vectors.checkpoint(generation)
        await vectors.drop(generation)
        with pytest.MonkeyPatch.context() as older:
            for module in (model_collections, collection_names):
                older.setattr(module, "VECTOR_FORMAT", 1)
            before = open_vectors(stack.settings, model=vectors.model, dimension=vectors.dimension)
            await before.prepare(generation)
            for kind, some in rows.items():
                await before.put(
                    partition, kind, [replace(row, id=f"old-{row.id[-40:]}") for row in some]
                )
            if checkpoint:
                await before.put_checkpoint(generation, checkpoint)
            await before.close()

    asyncio.run(change())


def test_vectors_with_ids_of_an_older_version_are_searched_and_wait_for_a_rebuild(
    stack: Stack,
) -> None:
    make_outdated(stack)
    stack.down()
    stack.up()
    count = stack.counts()["all"] + 1
    question = {**QUESTION, "mode": "mix"}
    with stack.client() as client:
        answer = until(
            lambda: (a := client.post("/query", json=question)).status_code == 200 and a, stack.logs
        )
        assert "late.txt" in answer.text
        stack.add({"after.txt": "Imogen Sorrel met Jasper Wren in Saltmarch."})
        until(lambda: stack.counts().get("processing") == 1, lambda: str(stack.counts()))

        def told() -> bool:
            findings = stack.run("doctor", "--json").stdout
            return (
                "written by an older version" in findings
                and "`lightstream rebuild vectors`" in findings
            )

        until(told, lambda: stack.run("doctor").stdout)
        assert "lightstream rebuild vectors" in str(stack.run("stores", "check").stdout)
        outcome = stack.json("rebuild", "vectors")
        assert outcome["digests"]["vectors"]["live"] is not None
        until(lambda: stack.counts().get("processed") == count, lambda: str(stack.counts()))
        assert stack.json("stores", "check") == {"problems": []}
        assert "older version" not in stack.run("doctor", "--json").stdout
        assert client.post("/query", json=question).status_code == 200
    assert stack.json("rebuild", "vectors")["digests"]["vectors"]["same"] is True
