"""The whole pipeline on the servers of production, chosen by variables alone, says what the
embedded stack says.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import httpx
import pytest
import pytest_asyncio
from grpc import RpcError
from neo4j import AsyncGraphDatabase
from pymilvus import MilvusClient
from pymilvus.exceptions import MilvusException

from contracts.events import Stage
from contracts.graph import Partition
from embedded.processes import free_port
from embedded.servers import arcadedb, milvus_lite
from operations.moving.copied_tables import empty
from operations.open_stack import open_as_is
from runtime.stores.documents.port import Table
from runtime.stores.vectors.milvus.accounts import make_account
from services.query.question import Mode
from tests.support import real_texts
from tests.support.corpus import documents
from tests.support.milvus_server import ROOT
from tests.support.nats_server import until
from tests.support.production import SERVICES_OF_MILVUS, Deployment, deployment
from tests.support.production_contents import lose_graph_and_vectors, settings_of, stores_with
from tests.support.stack import running
from tests.support.stored_bytes import files_with

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.server("neo4j, milvus, mongo")]

QUESTIONS = (
    "Who met Ada Marlow at the Customs House in Port Elm?",
    "Which ship came from Saltmarch to Graywick?",
)

REAL = (
    "reference/execmodel.rst",
    "reference/objects.rst",
    "reference/with.rst",
    "modules/heapq.txt",
    "modules/random.txt",
    "modules/sched.txt",
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with thirty documents of the harbour's world and six real texts."""
    folder, deps = tmp_path_factory.mktemp("corpus"), tmp_path_factory.mktemp("deps")
    real_texts.write(deps)
    texts = {name: (deps / name).read_text("utf-8") for name in REAL}
    for name, text in {**documents(30), **texts}.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def production(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Deployment]:
    async with deployment(tmp_path_factory.mktemp("production")) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedded(
    production: Deployment, corpus: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What an embedded stack, which is stopped again, makes of the corpus."""

    def digest() -> dict[str, Any]:
        with running(
            tmp_path_factory.mktemp("embedded") / "data", COSINE_THRESHOLD="0.05"
        ) as stack:
            assert stack.run("add", str(corpus), "--wait").returncode == 0
            return {"digest": stack.digest(), "found": found(stack.state.api)}

    return await asyncio.to_thread(digest)


def found(api: str) -> dict[tuple[str, str], Any]:
    """What each mode finds for some questions: names, and passages by their documents and
    places.
    """
    with httpx.Client(base_url=api, timeout=60, trust_env=False) as client:
        answers = {
            (mode, question): client.post(
                "/query/data", json={"query": question, "mode": mode}
            ).json()["data"]
            for mode in get_args(Mode)
            for question in QUESTIONS
        }
    return {
        asked: {
            "entities": [entity["entity_name"] for entity in data.get("entities", ())],
            "relationships": [(r["src_id"], r["tgt_id"]) for r in data.get("relationships", ())],
            "chunks": [
                (chunk["chunk_id"], chunk["reference_id"]) for chunk in data.get("chunks", ())
            ],
        }
        for asked, data in answers.items()
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def digest(production: Deployment, corpus: Path) -> dict[str, Any]:
    """What the deployment makes of the corpus, its merger and its indexer killed meanwhile."""
    adding = asyncio.create_task(production.json("add", str(corpus), "--wait"))
    at_kills = await asyncio.gather(
        _killed(production, "merger", 20), _killed(production, "indexer", 50)
    )
    added = await adding
    assert max(at_kills) < await production.events() * 2 / 3, (
        "the kills came too late to disturb much"
    )
    assert {document["status"] for document in added["documents"]} == {"processed"}
    return await production.json("digest")


async def _killed(production: Deployment, victim: Stage, least: int) -> int:
    """Kill the victim as soon as the log has so many events, and start it again; gives how many it
    had.
    """
    logged = 0

    async def are_logged() -> bool:
        nonlocal logged
        logged = await production.events()
        return logged >= least

    await until(are_logged, f"{least} events")
    await production.kill(victim)
    return logged


async def test_production_stores_say_what_the_embedded_ones_say(
    embedded: dict[str, Any], digest: dict[str, Any]
) -> None:
    assert digest["counts"]["graph"]["entities"] > 30
    assert digest == embedded["digest"]


async def test_every_mode_finds_the_same_on_both_stacks(
    production: Deployment, embedded: dict[str, Any], digest: dict[str, Any]
) -> None:
    here = await asyncio.to_thread(found, f"http://127.0.0.1:{production.env['API_PORT']}")
    assert here == embedded["found"]
    assert all(here[mode, question]["chunks"] for mode, question in here if mode != "bypass")


async def test_a_question_is_answered_with_its_source(
    production: Deployment, digest: dict[str, Any]
) -> None:
    answer = await production.json(
        "ask", "Which element of a heap is always its smallest element?", "--mode", "naive"
    )
    assert "modules/heapq.txt" in {reference["file_path"] for reference in answer["references"]}
    code, output, _ = await production.run(
        "ask", "Who met whom at the Customs House?", "--mode", "local"
    )
    assert (code, "log-000" in output) == (0, True)


async def test_what_is_lost_is_rebuilt_from_the_log(
    production: Deployment, digest: dict[str, Any]
) -> None:
    await lose_graph_and_vectors(production)
    assert await production.json("digest") != digest
    outcome = await production.json("rebuild", "all")
    assert outcome["digests"]["status"]["same"]
    assert outcome["language_model_calls"] == 0
    assert await production.json("digest") == digest


async def test_what_the_stores_lack_is_named_and_made(
    production: Deployment, digest: dict[str, Any]
) -> None:
    assert (await production.run("stores", "check"))[0] == 0
    async with AsyncGraphDatabase.driver(production.env["NEO4J_URI"]) as driver:
        await driver.execute_query("DROP CONSTRAINT ent_name")
    code, output, _ = await production.run("stores", "check")
    assert (code, output) == (1, "graph: ent_name is not there\n")
    assert (await production.json("stores", "apply"))["done"] == ["graph: ent_name is not there"]
    assert (await production.json("stores", "check"))["problems"] == []


async def test_every_command_finds_the_deployment(
    production: Deployment, digest: dict[str, Any]
) -> None:
    status = await production.json("status")
    assert status["status_counts"]["all"] == digest["counts"]["status"]["documents"]
    _, log, _ = await production.run("log", "--document", "log-00001.txt")
    assert {"DocumentAdded", "VectorsIndexed"} <= set(log.split())
    assert (await production.run("topology", "check"))[0] == 0
    code, output, _ = await production.run("doctor")
    assert code == 0, output
    assert "the deployment at nats://127.0.0.1:" in output


async def test_no_service_asked_the_bus_for_what_it_is_not_granted(
    production: Deployment, digest: dict[str, Any]
) -> None:
    """Each has a user of its own: a call that operations/bus_accounts.py does not grant is answered
    by nobody.
    """
    for name, process in production.services.items():
        said = process.log.read_text("utf-8", "replace").lower()
        for refusal in (
            "permissions violation",
            "noresponders",
            "no responders",
            "serviceunavailable",
            "10039",
        ):
            assert refusal not in said, f"{name}: {process.tail(40)}"


async def test_services_are_no_administrators_of_the_vectors(
    production: Deployment, digest: dict[str, Any]
) -> None:
    """Their account may use and make collections, which the tests before have done as it, and
    nothing else.
    """
    client: Any = MilvusClient(production.env["MILVUS_URI"], token=SERVICES_OF_MILVUS)
    names = client.list_collections()
    assert names
    for forbidden in (
        lambda: client.drop_collection(names[0]),
        lambda: client.list_users(),
        lambda: client.create_user("other", "k0123456789"),
        lambda: client.grant_role("lightstream", "admin"),
        lambda: client.update_password("root", "Milvus", "k0123456789"),
    ):
        with pytest.raises((MilvusException, RpcError), match=r"(?i)permission|privilege"):
            forbidden()
    client.close()
    # Again it changes nothing; with another password it is the same account with that one.
    assert (await production.json("stores", "apply"))["done"] == []
    other = await make_account(production.env["MILVUS_URI"], ROOT, "lightstream:k9876543210")
    assert other == ["account lightstream of the services"]
    assert await make_account(production.env["MILVUS_URI"], ROOT, SERVICES_OF_MILVUS) == other


async def test_a_data_folder_that_is_asked_for_wins(production: Deployment, tmp_path: Path) -> None:
    code, _, errors = await production.run("status", "--data", str(tmp_path / "none"))
    assert (code, "no stack is running in" in errors) == (3, True)


SECRET = (
    "Zephyrine Quillfeather met Ada Marlow in Port Elm. Zephyrine Quillfeather sold the Kestrel "
    "to Celia Finch. "
)
CANARY = "quillfeather"


async def test_what_was_erased_is_in_no_store_and_nothing_else_is_missing(
    production: Deployment, digest: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text(
        SECRET * 10 + "and so on, without any news. " * 7_500, "utf-8"
    )
    await production.json("add", str(tmp_path), "--wait")
    await production.run("ask", "Who sold the Kestrel?")
    assert len(await stores_with(production, CANARY)) == 3
    outcome = await production.json("erase", "secret.txt", "--yes", "--reason", "asked for")
    assert outcome["erased"][0]["counts"]["blobs"] == 1
    assert await stores_with(production, CANARY) == []
    await production.run("erase", "secret.txt", "--yes")
    assert files_with(production.folder / "bus", b"Zephyrine") == []
    assert await production.json("digest") == digest


STORE_VARIABLES = (
    "DOCUMENTS_URL",
    "MONGO_DATABASE",
    "NEO4J_URI",
    "NEO4J_USERNAME",
    "NEO4J_PASSWORD",
    "NEO4J_DATABASE",
    "MILVUS_URI",
    "MILVUS_TOKEN",
    "MILVUS_INDEX_TYPE",
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedded_stores(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[dict[str, str]]:
    """ArcadeDB and Milvus Lite as an embedded stack runs them, and a file for SQLite: the variables
    that name them.
    """
    folder, (http, bolt, vectors) = (
        tmp_path_factory.mktemp("stores"),
        (free_port() for _ in range(3)),
    )
    graph = arcadedb.arcadedb(
        folder / "graph", http_port=http, bolt_port=bolt, password="key-of-the-graph"
    )
    servers = graph, milvus_lite.milvus_lite(folder / "vectors", port=vectors)
    try:
        await asyncio.gather(*(server.start() for server in servers))
        yield {
            "DOCUMENTS_URL": f"sqlite://{folder / 'documents.db'}",
            "NEO4J_URI": arcadedb.bolt_uri(bolt),
            "NEO4J_USERNAME": arcadedb.USER,
            "NEO4J_PASSWORD": "key-of-the-graph",
            "NEO4J_DATABASE": arcadedb.DATABASE,
            "MILVUS_URI": milvus_lite.uri(vectors),
            "MILVUS_TOKEN": "",
            "MILVUS_INDEX_TYPE": "FLAT",
        }
    finally:
        for server in servers:
            await server.stop()


@pytest.mark.nightly
async def test_the_stack_moves_to_the_embedded_stores_and_back_to_the_servers(
    production: Deployment, digest: dict[str, Any], embedded_stores: dict[str, str], tmp_path: Path
) -> None:
    """First as long as services work, then what came in since, then they start with the other
    stores; and back.
    """
    servers = {name: production.env.get(name, "") for name in STORE_VARIABLES}
    there = _file(tmp_path, embedded_stores)
    planned = await production.json("rebuild", "all", "--to", there, "--dry-run")
    assert (planned["resumed_at"], planned["events"]) == (0, await production.events())
    first = await production.json("rebuild", "all", "--to", there)
    assert (first["differing"], first["resumed_at"], first["language_model_calls"]) == ({}, 0, 0)
    assert first["copied"]["embeddings"] > 30
    assert {name: one["rebuilt"]["sha256"] for name, one in first["digests"].items()} == _sums(
        digest
    )
    grown = await _added(production, tmp_path, "later.txt")

    await production.stop_services()
    second = await production.json("rebuild", "all", "--to", there)
    assert (second["differing"], second["resumed_at"]) == ({}, first["complete_to"])
    assert 0 < second["events"] < first["events"] / 5
    await production.start_services(embedded_stores)
    assert await production.json("digest") == grown
    code, output, _ = await production.run(
        "ask", "Who met whom at the Customs House?", "--mode", "naive"
    )
    assert (code, "log-" in output) == (0, True)

    back = _file(tmp_path, servers)
    await production.stop_services()
    destination = replace(production, env={**production.env, **servers})
    async with open_as_is(settings_of(destination)) as opened:
        await empty(opened.stores)
        await opened.stores.rows.put(
            Table("answers", Partition("other", 0)), {"a": {"text": "of somebody else"}}
        )
        code, _, errors = await production.run("rebuild", "all", "--to", back)
        assert (code, "document store already holds data" in errors) == (2, True)
        await empty(opened.stores)
    whole = await production.json("rebuild", "all", "--to", back)
    assert (whole["differing"], whole["resumed_at"]) == ({}, 0)
    await production.start_services(servers)
    assert await production.json("digest") == grown


def _file(tmp_path: Path, variables: dict[str, str]) -> str:
    path = tmp_path / "stores.env"
    path.write_text("".join(f"{name}={value}\n" for name, value in variables.items()), "utf-8")
    return str(path)


def _sums(digest: dict[str, Any]) -> dict[str, str]:
    return {name: digest[name] for name in ("status", "graph", "vectors")}


async def _added(production: Deployment, tmp_path: Path, name: str) -> dict[str, Any]:
    """The digest after one more document."""
    (tmp_path / name).write_text(
        f"Zora Quint met Ada Marlow at the Customs House, as {name} says.", "utf-8"
    )
    await production.json("add", str(tmp_path / name), "--wait")
    return await production.json("digest")
