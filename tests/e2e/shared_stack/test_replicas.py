"""Two of every service on one stack, all restarted in turn under load: nothing fails, nothing is
lost, the same digest.

`make replicas` does it with sixteen processes on servers of production.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from contracts.events import Stage
from embedded.data_folder import DataFolder
from embedded.forking import fork_server
from embedded.processes import Process, free_port
from embedded.programs import service_module
from embedded.stack import SERVICES, check_ready, service_addresses
from tests.replicas.balancer import Balancer, balancer
from tests.support.corpus import documents
from tests.support.nats_server import until
from tests.support.stack import Stack, ended

TEXTS = documents(20, seed=17)
QUESTION = {"query": "Who met Ada Marlow at the Customs House?", "mode": "mix"}
EXTRA: tuple[Stage, ...] = ("chunker", "extractor", "merger", "indexer", "query", "query")
"""The stack's own query service tells no balancer that it ends: two others stand behind one."""


@asynccontextmanager
async def replicas(stack: Stack, folder: Path) -> AsyncGenerator[list[Process]]:
    """Further processes of the stack's services, forked as it forks its own."""
    addresses = service_addresses(DataFolder(stack.folder), stack.state)
    env = {name.upper(): value for name, value in addresses.items()} | {
        "EMBEDDING_MODEL": "lexical"
    }
    modules = [service_module(name) for name in SERVICES]
    async with fork_server(folder, modules, env) as forks, AsyncExitStack() as exit_stack:
        result: list[Process] = []
        for number, name in enumerate(EXTRA):
            own = {
                "PORT": str(port := free_port()),
                "DRAIN_SECONDS": "300" if name == "query" else "",
            }

            async def probe(name: Stage = name, port: int = port) -> None:
                await check_ready(name, port)

            argv = [sys.executable, "-m", service_module(name)]
            process = Process(
                f"{name}-{number}", argv, folder, probe, env | own, launch=forks.launch
            )
            exit_stack.push_async_callback(process.kill)
            await process.spawn()
            result.append(process)
        await asyncio.gather(*(process.ready() for process in result))
        yield result


def url(process: Process) -> str:
    return f"http://127.0.0.1:{process.env['PORT']}"


async def restart(stack: Stack, processes: list[Process], front: Balancer) -> None:
    """One after the other, each once the one before is ready."""
    for process in processes:
        if url(process) in front.urls:
            process.signal(signal.SIGTERM)
            await until(
                lambda process=process: front.drained(url(process)), "nobody is sent there any more"
            )
        await process.stop()
        await process.start()
    for name in SERVICES:
        if name != "query":
            before = stack.pid(name)
            os.kill(before, signal.SIGTERM)
            await until(
                lambda name=name, before=before: _again(stack, name, before),
                f"{name} is started again",
            )


async def _again(stack: Stack, name: Stage, before: int) -> bool:
    state = await asyncio.to_thread(lambda: stack.state)
    if name not in state.children or state.children[name].identity.pid == before:
        return False
    try:
        await check_ready(name, state.ports[name])
    except Exception:
        return False
    return True


@pytest.mark.nightly  # two workers of a service: tests/integration/test_workers.py
async def test_all_are_restarted_under_load_and_say_what_one_of_each_says(
    stack: Stack, tmp_path: Path
) -> None:
    await asyncio.to_thread(stack.add, TEXTS, "one-of-each")
    await asyncio.to_thread(stack.settled, len(TEXTS), "one-of-each")
    async with replicas(stack, tmp_path) as processes:
        urls = [url(process) for process in processes if process.name.startswith("query")]
        async with balancer(urls, "two-of-each") as front:
            restarting, names = asyncio.create_task(restart(stack, processes, front)), list(TEXTS)
            for start in range(0, len(names), 4):
                part = names[start : start + 4]
                await front.send(
                    "POST",
                    "/documents/texts",
                    {"texts": [TEXTS[n] for n in part], "file_sources": part},
                )
                await front.send("POST", "/query", QUESTION)
            while not restarting.done():
                await front.send("POST", "/query", QUESTION)
            await restarting

            async def done() -> bool:
                answer = await front.send("GET", "/documents/status_counts")
                return bool(answer) and ended(answer["status_counts"], len(TEXTS))

            await until(done, f"all documents have come to an end\n{stack.logs()}")
        assert front.faults == []
        assert set(front.statuses) == {200}
    digests = [
        await asyncio.to_thread(stack.digest, workspace)
        for workspace in ("one-of-each", "two-of-each")
    ]
    assert digests[0]["counts"]["status"] == digests[1]["counts"]["status"]
    assert digests[0] == digests[1]
