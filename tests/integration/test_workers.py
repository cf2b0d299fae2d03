"""The query service with WORKERS=2 on real servers: two processes answer on one port, and end when
they should.
"""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from embedded.processes import Process, free_port, listening, start_program
from runtime.bus import topology
from tests.support import services
from tests.support.access import KEY
from tests.support.graph_stores import graph_store
from tests.support.nats_accounts import nats_account
from tests.support.nats_server import connected, until
from tests.support.services import logs, page, service
from tests.support.shared_servers import SharedServers
from tests.support.vector_stores import vector_store
from tests.support.worker_processes import PROC, alive, answered, workers

pytestmark = pytest.mark.asyncio(loop_scope="module")

Env = dict[str, str]


@pytest.fixture(scope="module", autouse=True)
def as_programs() -> Generator[None]:
    """Services are started as programs here, as a deployment does it."""
    with pytest.MonkeyPatch.context() as context:
        context.setattr(services, "launch", start_program)
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def env(
    tmp_path_factory: pytest.TempPathFactory, shared_servers: SharedServers
) -> AsyncIterator[Env]:
    """Where the servers are that all tests here share."""
    folder = tmp_path_factory.mktemp("servers")
    async with (
        nats_account(shared_servers) as bus,
        graph_store("arcadedb", shared_servers) as graph,
        vector_store("milvus-lite", shared_servers) as vectors,
    ):
        async with connected(bus) as client:
            await topology.apply(client.jetstream())
        yield {
            "NATS_URL": bus.url,
            "DOCUMENTS_URL": f"sqlite://{folder}/rows.sqlite",
            "NEO4J_URI": graph.uri,
            "NEO4J_USERNAME": graph.user,
            "NEO4J_PASSWORD": graph.password,
            "MILVUS_URI": vectors.uri,
            "MILVUS_INDEX_TYPE": "FLAT",
            "EMBEDDING_MODEL": "lexical",
            "WORKERS": "2",
        }


@asynccontextmanager
async def crew(folder: Path, env: Env) -> AsyncGenerator[Process]:
    """The service once two of its processes have answered."""
    async with service("query", folder, **env) as process:
        await until_answered_by(process, 2)
        yield process


async def until_answered_by(process: Process, count: int) -> set[int]:
    """The pids of the workers, once so many have answered."""
    result: set[int] = set()

    async def all_have() -> bool:
        status, pid = await answered(process, "/health/ready")
        assert status == 200
        result.add(pid)
        result.intersection_update(workers(process))
        return len(result) >= count

    await until(all_have, f"answers of {count} processes")
    return result


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory, env: Env) -> AsyncIterator[Process]:
    """One service for the tests that leave it whole."""
    async with crew(
        tmp_path_factory.mktemp("service"), {**env, "LIGHTRAG_API_KEY": KEY}
    ) as process:
        yield process


async def test_connections_are_dealt_in_turn(running: Process) -> None:
    assert running.pid not in workers(running)
    answers = await asyncio.gather(*(answered(running, "/health/live") for _ in range(10)))
    assert sorted(pid for _, pid in answers) == sorted([*workers(running)] * 5)


async def test_a_guest_s_token_of_one_worker_is_good_for_all_and_its_secret_is_written_nowhere(
    running: Process,
) -> None:
    base = f"http://127.0.0.1:{running.env['PORT']}"
    async with httpx.AsyncClient(base_url=base, trust_env=False) as client:
        token = (await client.get("/auth-status")).json()["access_token"]
    for shown_token, status_code in ((token, 200), (token[:-4] + "AAAA", 401)):
        headers = {"Authorization": f"Bearer {shown_token}", "X-API-Key": KEY}
        answers = [await answered(running, "/documents/status_counts", headers) for _ in range(2)]
        assert {status for status, _ in answers} == {status_code}
        assert {pid for _, pid in answers} == workers(running)
    (worker, *_) = workers(running)
    environ = (PROC / str(worker) / "environ").read_bytes().split(b"\0")
    (secret,) = [
        line.partition(b"=")[2].decode() for line in environ if line.startswith(b"TOKEN_SECRET=")
    ]
    assert len(secret) >= 32
    assert secret not in running.log.read_text("utf-8")


async def test_what_a_request_does_is_written_down_with_the_client_s_address(
    running: Process,
) -> None:
    base = f"http://127.0.0.1:{running.env['PORT']}"
    async with httpx.AsyncClient(
        base_url=base, trust_env=False, headers={"X-API-Key": KEY}
    ) as client:
        answer = await client.post(
            "/documents/text", json={"text": "The Aurora left Port Elm.", "file_source": "a.md"}
        )
    assert answer.status_code == 200

    async def seen() -> bool:
        return any(line["event"] == "audit" for line in logs(running))

    await until(seen, "the audit line")
    (line,) = [line for line in logs(running) if line["event"] == "audit"]
    assert line["address"] == "127.0.0.1"


async def test_a_worker_that_is_killed_is_replaced_and_requests_go_on_meanwhile(
    running: Process,
) -> None:
    victim = min(workers(running))
    os.kill(victim, signal.SIGKILL)

    async def seen() -> bool:
        return any(line["event"] == "a worker ended" for line in logs(running))

    async def replaced() -> bool:
        # Each of these connections is made after the death was seen, so none may fail.
        assert (await answered(running, "/health/live"))[0] == 200
        return len(workers(running)) == 2

    await until(seen, "a line about the end")
    await until(replaced, "a second worker")
    assert victim not in await until_answered_by(running, 2)
    (line,) = [line for line in logs(running) if line["event"] == "a worker ended"]
    assert line["code"] == -signal.SIGKILL


async def test_no_worker_outlives_a_keeper_that_is_killed(tmp_path: Path, env: Env) -> None:
    async with crew(tmp_path, env) as process:
        pids = workers(process)
        assert len(pids) == 2
        await process.kill()
        assert not listening(int(process.env["PORT"]))

        async def gone() -> bool:
            return not any(map(alive, pids))

        await until(gone, "the end of the workers", seconds=25)
        assert "Traceback" not in process.log.read_text("utf-8")


async def test_a_worker_that_must_not_run_ends_the_service_with_the_reason(
    tmp_path: Path, env: Env, shared_servers: SharedServers
) -> None:
    async with nats_account(shared_servers) as account:
        variables = {**env, "NATS_URL": account.url}
        async with service("query", tmp_path, wait=False, **variables) as process:
            assert await asyncio.wait_for(process.wait(), 60) == 1
            reasons = [line["reason"] for line in logs(process) if line["event"] == "cannot start"]
            assert len(reasons) == 1
            assert "lightstream topology apply" in reasons[0]
            assert "Traceback" not in process.log.read_text("utf-8")


async def test_while_the_first_worker_waits_it_says_for_what_and_none_other_is_started(
    tmp_path: Path, env: Env
) -> None:
    variables = {**env, "NATS_URL": f"nats://127.0.0.1:{free_port()}"}
    async with service("query", tmp_path, wait=False, **variables) as process:

        async def waiting() -> bool:
            return await page(process, "ready") == (
                503,
                {"service": "query", "problems": {"service": "waiting for the bus"}},
            )

        await until(waiting, "a page that names the bus")
        assert len(workers(process)) == 1
        process.signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 20) == 0


async def test_a_port_in_use_is_said_before_anything_is_started(tmp_path: Path, env: Env) -> None:
    port = env["NATS_URL"].rpartition(":")[2]
    async with service("query", tmp_path, wait=False, **env, PORT=port) as process:
        assert await asyncio.wait_for(process.wait(), 60) == 1
        (line,) = [line for line in logs(process) if line["event"] == "cannot start"]
        assert f"cannot listen on 127.0.0.1, port {port}: Address already in use" in line["reason"]


async def test_who_is_told_to_end_is_not_ready_and_answers_until_nobody_is_sent_there(
    tmp_path: Path, env: Env
) -> None:
    """A balancer in front looks at the health page; a second SIGTERM ends the wait, which nobody
    here could sit out.
    """
    async with crew(tmp_path, {**env, "DRAIN_SECONDS": "300"}) as process:
        port = process.env["PORT"]
        pids = workers(process)
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60
        ) as client:
            before = await client.get("/health/live")
            process.signal(signal.SIGTERM)

            async def all_are_draining() -> bool:
                pages = [await page(process, "ready") for _ in range(2 * len(pids))]
                return all(
                    status == 503 and body["problems"]["service"] == "draining"
                    for status, body in pages
                )

            await until(all_are_draining, "no worker says that it is ready")
            answers = [await client.get("/documents/status_counts") for _ in range(2 * len(pids))]
        assert "connection" not in before.headers
        assert {(answer.status_code, answer.headers["connection"]) for answer in answers} == {
            (200, "close")
        }
        assert workers(process) == pids
        process.signal(signal.SIGTERM)
        assert await process.wait() == 0
        assert not [pid for pid in pids if alive(pid)]
        assert "Traceback" not in process.log.read_text("utf-8")
        assert not [line for line in logs(process) if line["level"] in ("error", "critical")]
