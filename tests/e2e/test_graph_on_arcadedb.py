"""A stack that was begun with ArcadeDB: Cypher over Bolt asks its graph, an erasure leaves nothing,
and it goes on with ArcadeDB until it is down and moved into a SQLite file.
"""

import os
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from neo4j import GraphDatabase

from embedded import damage
from embedded.stores import GRAPH
from tests.support.corpus import documents
from tests.support.stack import Stack, running, until
from tests.support.stored_bytes import files_with

COUNT = 15
SECRET = "Zephyrine Quillfeather met Ada Marlow in Port Elm and sold the Kestrel to Celia Finch."
CANARY = b"Quillfeather"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    folder = tmp_path_factory.mktemp("arcadedb") / "data"
    with running(folder, "--graph", GRAPH.server.name) as stack:
        yield stack


@pytest.fixture(scope="module")
def before(stack: Stack) -> dict[str, Any]:
    stack.add(documents(COUNT))
    assert stack.settled(COUNT)["processed"] == COUNT
    return stack.digest()


def is_well(stack: Stack) -> None:
    """Wait until nothing is to be done: services look at their stores every few seconds."""
    until(lambda: stack.run("doctor").returncode == 0, lambda: stack.run("doctor").stdout)


def test_cypher_is_answered_over_bolt(stack: Stack, before: dict[str, Any]) -> None:
    settings = stack.settings
    credentials = (settings.neo4j_username, settings.neo4j_password.get_secret_value())
    with GraphDatabase.driver(settings.neo4j_uri, auth=credentials) as driver:
        rows, _, _ = driver.execute_query(
            "MATCH (node) RETURN count(node) AS nodes", database_=settings.neo4j_database
        )
    assert rows[0]["nodes"] >= before["counts"]["graph"]["entities"] > 0


def test_an_erasure_leaves_no_word_in_any_file(stack: Stack, before: dict[str, Any]) -> None:
    stack.add({"secret.txt": SECRET}, "erased")
    stack.settled(1, "erased")
    assert files_with(stack.folder / GRAPH.name, CANARY)
    stack.json("erase", "secret.txt", "--yes", "--workspace", "erased")
    assert files_with(stack.folder, CANARY) == []
    assert stack.digest() == before
    is_well(stack)


def test_it_stays_until_the_stack_is_down_and_is_moved_then(
    stack: Stack, before: dict[str, Any]
) -> None:
    way_out = f"lightstream rebuild graph --fresh --data {stack.folder}"
    stack.json("rebuild", "graph", "--fresh")
    assert stack.digest() == before
    assert GRAPH.server.process in stack.state.children
    refusal = stack.run("up", "--graph", "sqlite", "--detach")
    assert (refusal.returncode, way_out in refusal.stderr) == (2, True)

    stack.down()
    truncate(largest_file(stack.folder / GRAPH.name / damage.DATABASE))
    damaged = stack.run("up", "--detach")
    assert (damaged.returncode, way_out in damaged.stderr) == (1, True), damaged.stderr
    assert way_out in stack.run("doctor").stdout

    outcome = stack.json("rebuild", "graph", "--fresh")
    assert outcome["language_model_calls"] == 0
    assert stack.digest() == before
    assert GRAPH.server.process not in stack.state.children
    assert not set(GRAPH.server.ports) & set(stack.state.ports)
    assert (stack.folder / GRAPH.name / GRAPH.file).exists()
    is_well(stack)
    refusal = stack.run("up", "--graph", GRAPH.server.name, "--detach")
    assert (refusal.returncode, "keeps it there" in refusal.stderr) == (2, True)


def largest_file(database: Path) -> Path:
    """The largest file of entities."""
    return max(database.glob("Ent_*.bucket"), key=lambda file: file.stat().st_size)


def truncate(file: Path) -> None:
    """Cut a file in half."""
    os.truncate(file, file.stat().st_size // 2)
