"""The gateway and the query service as two processes, each with its own user of the bus of
docker-compose.yml: the key of the model is told to one, the keys of callers to the other.
"""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from contracts.events import Stage
from embedded.processes import Process, free_port
from embedded.servers import arcadedb
from tests.support import commands
from tests.support.deployed_bus import DeployedBus, deployed_bus
from tests.support.graph_stores import own_graph_store
from tests.support.nats_server import until
from tests.support.openai_provider import Provider, serving
from tests.support.scans import scan, scanned_pdf
from tests.support.services import service
from tests.support.stack import environment
from tests.support.vector_stores import own_vector_store
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORKERS: tuple[Stage, ...] = ("chunker", "extractor", "merger", "indexer")
QUESTIONS_KEY = "a key between two processes"
API_KEY = "the key of a caller"
MODEL_KEY = "sk-of-the-provider"

TEXT = "Ada Marlow met Bert Fjell at the Customs House in Port Elm. They spoke of the ferry."
QUESTION = "Whom did Ada Marlow meet?"
ANSWER = "Ada Marlow met Bert Fjell [1] at the Customs House [9]."
CITED = "Ada Marlow met Bert Fjell [1] at the Customs House."


@dataclass
class Apart:
    """The running processes, and a client of the gateway."""

    query: Process
    gateway: Process
    provider: Provider
    api: httpx.AsyncClient
    folder: Path

    async def posted(self, path: str, **body: Any) -> httpx.Response:
        answer = await self.api.post(path, json=body)
        assert answer.status_code == 200, f"{answer.text}\n{self.query.tail()}"
        return answer


async def stores_of(folder: Path, exit_stack: AsyncExitStack, bus: DeployedBus) -> dict[str, str]:
    """Variables that say where the stores are."""
    graph = await exit_stack.enter_async_context(own_graph_store("arcadedb", folder / "graph"))
    vectors = await exit_stack.enter_async_context(
        own_vector_store("milvus-lite", folder / "vectors")
    )
    return {
        "NATS_URL": bus.operator,
        "DOCUMENTS_URL": f"sqlite://{folder}/rows.sqlite",
        "NEO4J_URI": graph.uri,
        "NEO4J_USERNAME": graph.user,
        "NEO4J_PASSWORD": graph.password,
        "NEO4J_DATABASE": arcadedb.DATABASE,
        "MILVUS_URI": vectors.uri,
        "MILVUS_INDEX_TYPE": "FLAT",
        "EMBEDDING_MODEL": "lexical",
        "COSINE_THRESHOLD": "0.05",
    }


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def apart(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Apart]:
    folder = tmp_path_factory.mktemp("apart")
    async with AsyncExitStack() as exit_stack:
        bus = await exit_stack.enter_async_context(deployed_bus(folder / "bus"))
        provider = await exit_stack.enter_async_context(serving())
        provider.text = ANSWER
        stores = await stores_of(folder, exit_stack, bus)
        for command in ("topology", "stores"):
            outcome = await asyncio.to_thread(
                commands.give, (command, "apply"), environment(stores), folder
            )
            assert outcome.returncode == 0, f"{outcome.stdout}\n{outcome.stderr}"
        port = str(free_port())
        own: dict[str, dict[str, str]] = {
            "query": {
                "PORT": port,
                "QUESTIONS_KEY": QUESTIONS_KEY,
                "LLM_BASE_URL": provider.url,
                "LLM_MODEL": "good",
                "LLM_API_KEY": MODEL_KEY,
            },
            "gateway": {
                "QUESTIONS_URL": f"http://127.0.0.1:{port}",
                "QUESTIONS_KEY": QUESTIONS_KEY,
                "LIGHTRAG_API_KEY": API_KEY,
                # It opens no vectors: nothing answers there.
                "MILVUS_URI": f"http://127.0.0.1:{free_port()}",
            },
        }
        processes: dict[str, Process] = {}
        for name in (*WORKERS, "query", "gateway"):
            variables = {**stores, **bus.variables(name), **own.get(name, {})}
            module = {
                "query": "services.query.main",
                "gateway": "services.gateway.main",
            }.get(name, "")
            process = service(name, folder / "services", wait=False, module=module, **variables)
            processes[name] = await exit_stack.enter_async_context(process)
        await asyncio.gather(*(process.ready() for process in processes.values()))
        gateway = processes["gateway"]
        api = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{gateway.env['PORT']}",
            headers={"X-API-Key": API_KEY},
            timeout=PATIENCE,
        )
        exit_stack.push_async_callback(api.aclose)
        result = Apart(processes["query"], gateway, provider, api, folder)
        await added(result)
        yield result


async def added(apart: Apart) -> None:
    """Add the document through the gateway, and wait until it is processed."""
    answer = await apart.posted("/documents/text", text=TEXT, file_source="harbour.txt")
    track = answer.json()["track_id"]

    async def processed() -> bool:
        body = (await apart.api.get(f"/documents/track_status/{track}")).json()
        return [document["status"] for document in body["documents"]] == ["processed"]

    await until(processed, "the document")


async def test_a_question_is_answered_with_its_citations(apart: Apart) -> None:
    body = (await apart.posted("/query", query=QUESTION)).json()
    assert (body["response"], body["llm_generated"]) == (CITED, True)
    assert body["references"] == [
        {"reference_id": "1", "file_path": "harbour.txt", "content": None}
    ]
    assert apart.provider.keys == {f"Bearer {MODEL_KEY}"}
    data = (await apart.posted("/query/data", query=QUESTION, mode="local")).json()
    assert data["status"] == "success" and data["data"]["entities"]
    assert data["metadata"]["token_budget"]["total"]["used"] > 0


PICTURE = ["The register of ships is kept by Ada Marlow"]


async def test_uploads_whose_pages_are_recognized_are_known_to_all_gateways(apart: Apart) -> None:
    """A second gateway takes them, the first is asked; then the second is killed."""
    variables = {**apart.gateway.env, "PORT": str(free_port())}
    module = "services.gateway.main"
    async with (
        service("gateway", apart.folder / "second", module=module, **variables) as second,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{second.env['PORT']}") as taker,
    ):
        taker.headers.update(apart.api.headers)
        taker.timeout = apart.api.timeout

        async def sent(api: httpx.AsyncClient, data: bytes) -> str:
            answer = await api.post("/documents/upload", files={"file": ("ships.pdf", data)})
            assert answer.status_code == 202, answer.text
            return answer.json()["track_id"]

        async def known(track: str) -> dict[str, Any]:
            # Asked now and then: a connection that stands idle meanwhile may be closed.
            path = f"/documents/track_status/{track}"
            answer = await apart.api.get(path, headers={"Connection": "close"})
            [document] = answer.json()["documents"]
            return document

        page = scan(PICTURE, size=(900, 260))
        data = scanned_pdf("", *[page] * 20)
        track = await sent(taker, data)
        document = await known(track)
        assert document["status"] == "parsing" and document["metadata"]["pages_to_recognize"] >= 20
        assert await sent(apart.api, data) == track, "it is recognized once at a time"

        async def goes_on() -> bool:
            return (await known(track))["metadata"]["recognized_pages"] > 0

        await until(goes_on, "a page")
        await second.kill()

        async def is_interrupted() -> bool:
            return (await known(track))["status"] == "failed"

        await until(is_interrupted, "that nobody reads it any more")
        assert "send the file again" in (await known(track))["error_msg"]
        [upload] = (await apart.api.get("/documents/uploads")).json()["uploads"]
        assert (upload["track_id"], upload["file_path"]) == (track, "ships.pdf")
        again = await sent(apart.api, scanned_pdf("", page))
        assert again != track and (await known(again))["status"] == "parsing"


async def test_an_answer_comes_in_pieces_with_its_steps_before(apart: Apart) -> None:
    answer = await apart.posted(
        "/query/stream", query=f"{QUESTION} Why?", mode="mix", include_progress=True
    )
    lines = [json.loads(line) for line in answer.text.splitlines()]
    steps = [line["progress"] for line in lines if "progress" in line]
    assert steps[0] == "extracting_keywords" and steps[-1] == "generating_response"
    pieces = [line["response"] for line in lines if "response" in line]
    assert len(pieces) > 1 and "".join(pieces) == CITED
    assert int(answer.headers["x-log-position"]) > 0


async def test_clients_of_openai_and_ollama_are_answered(apart: Apart) -> None:
    messages = [{"role": "user", "content": QUESTION}]
    answer = await apart.posted("/v1/chat/completions", model="lightstream:mix", messages=messages)
    content = answer.json()["choices"][0]["message"]["content"]
    assert content == f"{CITED}\n\n### References\n\n- [1] harbour.txt\n"
    assert answer.json()["usage"]["completion_tokens"] > 5
    streamed = await apart.posted("/api/chat", model="lightrag", messages=messages, stream=True)
    lines = [json.loads(line) for line in streamed.text.splitlines()]
    assert "".join(line["message"]["content"] for line in lines) == content
    assert lines[-1]["done"] and lines[-1]["eval_count"] > 5


async def test_a_question_about_the_past_is_answered_from_it(apart: Apart) -> None:
    body = (await apart.posted("/query", query=QUESTION, as_of="0")).json()
    assert body["response"].endswith("[no-context]")
    body = (await apart.posted("/query", query=QUESTION, as_of="now")).json()
    assert body["response"] == CITED


async def test_what_reads_the_bus_and_the_stores_works_as_the_gateways_own_user(
    apart: Apart,
) -> None:
    for path in (
        "/documents/status_counts",
        "/documents/source_conflicts",
        "/graph/label/list",
        "/graph/aliases/proposals",
        "/graph/provenance?name=Ada Marlow",
        "/graph/entity/history?name=Ada Marlow",
        "/graphs?label=*&as_of=now",
        "/events",
        "/metrics",
        "/operations/doctor",
        "/operations/settings",
        "/operations/consumers",
        "/operations/projections",
        "/operations/projections/digests",
        "/operations/providers",
        "/operations/parked",
        "/operations/dead_letters",
        "/operations/webhooks",
        "/operations/erasures",
        "/operations/cost",
        "/operations/budget",
        "/operations/diff?from=0",
    ):
        answer = await apart.api.get(path)
        assert answer.status_code == 200, f"{path}: {answer.text}\n{apart.gateway.tail()}"
    edit = {"entity_name": "Ada Marlow", "updated_data": {"description": "A pilot."}}
    await apart.posted("/graph/entity/edit", **edit)
    await apart.posted("/documents/clear_cache")
    shown = (await apart.api.get("/health")).json()["configuration"]
    assert (shown["llm_model"], shown["embedding_model"][:7]) == ("good", "lexical")
    assert shown["graph_storage"] == "bolt"


async def test_what_a_question_cost_is_in_the_ledger(apart: Apart) -> None:
    await apart.posted("/query", query=f"{QUESTION} Where?")

    async def charged() -> bool:
        return '"good"' in (await apart.api.get("/operations/cost?by=model")).text

    await until(charged, "what it cost", seconds=60)


async def test_while_the_query_service_is_away_documents_are_served_and_questions_tell(
    apart: Apart,
) -> None:
    await apart.query.kill()
    answer = await apart.api.post("/query", json={"query": QUESTION})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "a part of the system does not answer now" in answer.json()["detail"]
    assert (await apart.api.get("/documents/status_counts")).status_code == 200
    assert (await apart.api.get("/health")).json()["configuration"]["graph_storage"] == "bolt"
    await apart.query.start()
    apart.query.signal(signal.SIGSTOP)
    try:
        shown = (await apart.api.get("/health")).json()["configuration"]
        assert "llm_model" not in shown, "who hangs is not waited for"
    finally:
        apart.query.signal(signal.SIGCONT)
    assert (await apart.posted("/query", query=QUESTION)).json()["response"] == CITED
