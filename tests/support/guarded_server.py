"""The HTTP API over stores in memory in a process of its own, as the query service serves it, for
attacks over sockets.

`python -m tests.support.guarded_server` listens on HOST and PORT, with all settings from the
environment. With PROVIDER_URL answers are streamed by its model `PROVIDER_MODEL`, LLM_MAX_ASYNC at
once.
"""

import asyncio
import logging
import os
import socket
import sys
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import uvloop

from embedded.processes import free_port
from runtime import telemetry
from runtime.health import Health
from runtime.http_server import Server, server_config
from runtime.models.limits import Limits
from runtime.models.rate_limiter import RateLimiter
from services.gateway.auth.config import auth_config
from services.gateway.auth.settings import AccessSettings
from services.query.adapters.models import ModelAnswerGenerator
from services.query.settings import QuerySettings
from tests.support.openai_provider import chat_at
from tests.support.querying import library_of_two
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
MODULE = "tests.support.guarded_server"


@dataclass(frozen=True)
class GuardedServer:
    """The running server. `process` is its own, of which memory and files are known, where it was
    not forked.
    """

    port: int
    process: asyncio.subprocess.Process
    log: Path

    def memory(self) -> int:
        """The most bytes of memory it ever had."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
        raise AssertionError("the process is gone")

    def files(self) -> int:
        """Files and connections that it holds open."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))


@asynccontextmanager
async def guarded_server(
    folder: Path, program: Sequence[str] = (sys.executable, "-m", MODULE), **variables: str
) -> AsyncGenerator[GuardedServer]:
    """The server with these variables, killed in the end. `program`: its command, which may fork
    it.
    """
    port = free_port()
    log = folder / "server.log"
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *program,
            cwd=ROOT,
            stderr=output,
            stdout=output,
            env={**os.environ, "HOST": "127.0.0.1", "PORT": str(port), **variables},
        )
    try:
        end = time.monotonic() + PATIENCE
        while not _listens(port):
            assert process.returncode is None and time.monotonic() < end, log.read_text()
            await asyncio.sleep(0.05)
        yield GuardedServer(port, process, log)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


async def _main() -> None:
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    telemetry.configure("query")
    settings = QuerySettings()
    harness = await library_of_two()
    deps = harness.deps()
    if url := os.environ.get("PROVIDER_URL"):
        limiter = RateLimiter("m", Limits(calls=settings.llm_max_async))
        chat = chat_at(url, os.environ["PROVIDER_MODEL"], "key", limiter)
        deps = harness.deps(answer_generator=ModelAnswerGenerator(chat))
    app = harness.app(auth_config(AccessSettings()), answering=deps)
    app.router.routes[:0] = Health("query", stage=None).routes()
    await Server(server_config(app, settings, host=settings.host, port=settings.port)).serve()


def main() -> None:
    """Entry point of the process."""
    uvloop.run(_main())


if __name__ == "__main__":
    main()
