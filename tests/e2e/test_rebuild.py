"""Every store can be lost, and comes back from the log: same digest, no language model, live
serving meanwhile.
"""

import asyncio
import json
import random
import shutil
import subprocess
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from contracts.graph import PROJECTIONS
from contracts.topology import CHECKPOINTS_BUCKET
from embedded.data_folder import DataFolder
from embedded.processes import free_port
from embedded.servers import arcadedb
from runtime.bus.nats.connection import connected
from runtime.bus.nats.key_values import NatsSharedValues
from tests.support import commands
from tests.support.corpus import documents
from tests.support.postgres_server import fresh_schema, shared_postgres
from tests.support.qdrant_server import STAND_IN, qdrant_server
from tests.support.shared_servers import SharedServers
from tests.support.stack import Stack, environment, running, until
from tests.support.waiting import PATIENCE

COUNT = 50
LOST = {"documents": "all", "graph": "graph", "vectors": "vectors"}
"""Folder of the data folder that is removed, and what is rebuilt then. Documents hold contributions
too: `all`.
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    with running(tmp_path_factory.mktemp("rebuild") / "data") as stack:
        yield stack


@pytest.fixture(scope="module")
def before(stack: Stack) -> dict[str, Any]:
    started = time.monotonic()
    stack.add(documents(COUNT))
    assert stack.settled(COUNT)["processed"] == COUNT
    live = events(stack) / (time.monotonic() - started)
    print(f"\nlive indexing: {live:.0f} events/s")
    until(lambda: asyncio.run(noted(stack)), stack.logs)
    return stack.digest()


@pytest.fixture
def stack_to_move(tmp_path: Path) -> Generator[Stack]:
    """A stack of its own for a test that ends it on other stores."""
    with running(tmp_path / "data") as stack:
        texts = documents(10)
        stack.add(texts)
        assert stack.settled(len(texts))["processed"] == len(texts)
        yield stack


async def noted(stack: Stack) -> bool:
    """Whether the bus knows of each projection that it has got something: services note that every
    few seconds.
    """
    async with connected(stack.settings.nats_url, name="test") as client:
        values = await NatsSharedValues.bind(client.jetstream(), CHECKPOINTS_BUCKET)
        return {key.split(".")[1] for key in await values.keys() if key.startswith("note.")} >= set(
            PROJECTIONS
        )


def events(stack: Stack) -> int:
    """How many events the log holds."""
    lines = [json.loads(line) for line in stack.run("log", "--json").stdout.splitlines()]
    return len(lines)


@pytest.mark.parametrize(
    "lost",
    [
        "documents",
        pytest.param("graph", marks=pytest.mark.nightly),
        pytest.param("vectors", marks=pytest.mark.nightly),
    ],
)
def test_a_lost_store_comes_back(stack: Stack, before: dict[str, Any], lost: str) -> None:
    logged = events(stack)
    stack.down()
    shutil.rmtree(stack.folder / lost)
    stack.up()
    assert stack.digest() != before
    way_out = f"lightstream rebuild {LOST[lost]}"
    refusal, examined = stack.run("ask", "Who leads the Harbour Office?"), stack.run("doctor")
    assert refusal.returncode == 3 and way_out in refusal.stderr, "an empty answer would be a lie"
    assert examined.returncode == 1 and way_out in examined.stdout

    outcome = stack.json("rebuild", LOST[lost])

    print(f"\nrebuild {LOST[lost]}: {outcome['events_per_second']:.0f} events/s")
    assert outcome["language_model_calls"] == 0
    assert stack.digest() == before
    assert events(stack) == logged, "a rebuild publishes nothing"
    end = time.monotonic() + PATIENCE
    while stack.run("ask", "Who leads the Harbour Office?").returncode:
        assert time.monotonic() < end, "questions are answered again"
        time.sleep(0.5)


@pytest.mark.nightly
def test_a_rebuild_compares_itself_with_what_is_live(stack: Stack, before: dict[str, Any]) -> None:
    outcome = stack.json("rebuild", "all")
    assert {
        name: compared["same"] for name, compared in outcome["digests"].items()
    } == dict.fromkeys(PROJECTIONS, True)


def test_a_rebuild_that_is_killed_is_simply_started_again(
    stack: Stack, before: dict[str, Any]
) -> None:
    for lines in sorted(random.Random(59).sample(range(8), 3)):
        kill_after(stack, lines, "rebuild", "all", "--events-per-second", "80")
        assert stack.digest() == before
    outcome = stack.json("rebuild", "all")
    assert {
        name: compared["same"] for name, compared in outcome["digests"].items()
    } == dict.fromkeys(PROJECTIONS, True)
    assert stack.digest() == before


def test_what_is_filled_waits_for_promotion_also_after_a_kill(
    stack: Stack, before: dict[str, Any]
) -> None:
    live = generations(stack)
    kill_after(stack, 3, "rebuild", "start", "all", "--events-per-second", "80")
    assert stack.run("rebuild", "promote").returncode == 2, "what is half built is never promoted"
    started = stack.json("rebuild", "start", "all")
    assert generations(stack) == live
    assert stack.digest() == before
    kill_after(stack, 0, "rebuild", "promote")
    stack.run("rebuild", "promote")  # unless the one that was killed had switched already
    assert generations(stack) == started["generations"]
    assert stack.digest() == before


def kill_after(stack: Stack, lines: int, *arguments: str) -> None:
    """Kill a command when it has printed so many lines of progress, or has ended."""
    half = subprocess.Popen(
        [*commands.beginning(), *arguments, "--data", str(stack.folder)],
        env=environment(stack.env),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with half:
        assert half.stderr
        for _ in range(lines):
            half.stderr.readline()
        half.kill()
        half.stderr.read()  # to its end: what was forked for it dies a little later


def generations(stack: Stack) -> dict[str, int]:
    return {
        one["projection"]: one["generation"]
        for one in stack.json("projections", "list")["projections"]
    }


def test_documents_that_arrive_meanwhile_are_in_both_generations(
    stack: Stack, before: dict[str, Any]
) -> None:
    more = documents(40, seed=11)
    rebuild = subprocess.Popen(
        [*commands.beginning(), "rebuild", "all", "--json", "--data", str(stack.folder)],
        env=environment(stack.env),
        stdout=subprocess.PIPE,
        text=True,
    )
    asked = 0
    with stack.client() as client:
        for name, text in more.items():
            stack.add({f"more-{name}": text})
            answer = client.post(
                "/query", json={"query": "Who met whom at the Customs House?", "mode": "naive"}
            )
            assert answer.status_code == 200, answer.text
            asked += 1
    rebuild.communicate(timeout=PATIENCE)
    assert rebuild.returncode == 0
    assert asked == len(more)
    assert stack.settled(COUNT + len(more))["processed"] == COUNT + len(more)

    # What the live services and the rebuild wrote together is what the log says: a quiet rebuild
    # finds the same.
    outcome = stack.json("rebuild", "all")
    assert all(compared["same"] for compared in outcome["digests"].values()), outcome["digests"]


def test_a_rollback_brings_the_old_generation_with_all_that_happened_since(
    stack: Stack, before: dict[str, Any]
) -> None:
    stack.json("rebuild", "all")
    count = stack.counts()["all"]
    stack.add({"late.txt": "Ada Marlow left Graywick on the Kestrel. She carried tea."})
    assert stack.settled(count + 1)["processed"] == count + 1
    now = stack.digest()

    stack.json("rebuild", "all", "--rollback")

    assert stack.digest() == now
    stack.add({"later.txt": "Hector Vane bought the Marigold in Quinnsbridge."})
    assert stack.settled(count + 2)["processed"] == count + 2


def test_two_rebuilds_at_once_are_refused(stack: Stack, before: dict[str, Any]) -> None:
    with DataFolder(stack.folder).rebuild_lock():
        refusal = stack.run("rebuild", "status")
    assert refusal.returncode == 1
    assert "under way" in refusal.stderr + refusal.stdout


async def test_the_stack_goes_on_with_one_postgresql_that_was_filled_from_its_log(
    stack_to_move: Stack, tmp_path: Path, shared_servers: SharedServers
) -> None:
    file = tmp_path / "pg.env"
    async with fresh_schema(shared_postgres(shared_servers)) as url:
        file.write_text(f"STORES_URL={url}\nSTORES_POOL_SIZE=4\n")
        await asyncio.to_thread(move, stack_to_move, str(file))


@pytest.mark.nightly
async def test_the_stack_goes_on_with_other_stores_that_were_filled_from_its_log(
    stack_to_move: Stack, tmp_path: Path
) -> None:
    http = free_port()
    bolt = free_port()
    graph = arcadedb.arcadedb(
        tmp_path / "graph", http_port=http, bolt_port=bolt, password="key-of-the-graph"
    )
    vectors, vectors_url = qdrant_server(STAND_IN, tmp_path / "vectors")
    file = tmp_path / "other.env"
    file.write_text(
        f"DOCUMENTS_URL=sqlite://{tmp_path}/documents.db\nNEO4J_URI={arcadedb.bolt_uri(bolt)}\n"
        f"NEO4J_USERNAME={arcadedb.USER}\nNEO4J_PASSWORD=key-of-the-graph\nNEO4J_DATABASE={arcadedb.DATABASE}\n"
        f"VECTORS_URL={vectors_url}\nVECTORS_TOKEN=key-of-the-vectors\n"
    )
    await asyncio.gather(graph.start(), vectors.start())
    try:
        await asyncio.to_thread(move, stack_to_move, str(file))
    finally:
        await asyncio.gather(graph.stop(), vectors.stop())


def move(stack: Stack, file: str) -> None:
    """Move the stack to the stores of the file, look at it there, and stop it."""
    digest = stack.digest()
    first_move = stack.json("rebuild", "all", "--to", file)
    assert (first_move["differing"], first_move["resumed_at"]) == ({}, 0)
    repeated_move = stack.json("rebuild", "all", "--to", file)
    assert (repeated_move["events"], repeated_move["resumed_at"]) == (0, first_move["complete_to"])
    stack.down()
    started = stack.json("up", "--detach", "--stores", file)
    assert set(started["processes"]) == {
        "nats-server",
        "chunker",
        "extractor",
        "merger",
        "indexer",
        "query",
    }
    assert len(started["stores"]) == 3
    assert "key" not in "".join(started["stores"])
    assert "@" not in "".join(started["stores"])
    assert stack.digest() == digest
    stack.add({"moved.txt": "Zoe Marlow came to Port Elm after the move."}, "moved")
    assert stack.settled(1, "moved")["processed"] == 1
    stack.down()
