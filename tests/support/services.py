"""The real services as child processes, with what they wrote to standard error."""

import json
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from embedded.local_http import local_client
from embedded.processes import Child, Process, free_port, start_program
from embedded.programs import service_module

ROOT = Path(__file__).resolve().parents[2]

launch: Callable[[Process], Awaitable[Child]] = start_program
"""Starts services; end-to-end and integration tests set `hosted.launcher` for all but those of the
program itself.
"""


@asynccontextmanager
async def service(
    name: str, folder: Path, *, wait: bool = True, module: str = "", **env: str
) -> AsyncGenerator[Process]:
    """One service, ready unless told not to `wait`. `env` adds to what it needs to run without any
    other server.

    `module`: what is run with the service's name in place of its own main module.
    """
    given = {
        "PORT": str(free_port()),
        "PYTHONPATH": str(ROOT),
        "DOCUMENTS_URL": f"sqlite://{folder}/rows.sqlite",
        "OTEL_TRACES_EXPORTER": "none",
        **env,
    }

    async def probe() -> None:
        status, body = await page(process, "ready")
        assert status == 200, body

    program = [module, name] if module else [service_module(name)]
    process = Process(
        name, [sys.executable, "-m", *program], folder, probe, env=given, launch=launch
    )
    await process.spawn()
    try:
        if wait:
            await process.ready()
        yield process
    finally:
        await process.stop()


async def page(process: Process, name: str) -> tuple[int, Any]:
    """Status and body of `/health/<name>`; (0, None) when nobody answers."""
    async with local_client(5.0) as client:
        try:
            answer = await client.get(f"http://127.0.0.1:{process.env['PORT']}/health/{name}")
        except httpx.HTTPError:
            return 0, None
        return answer.status_code, answer.json()


def written(process: Process) -> list[dict[str, Any]]:
    """Every JSON object in the process's output: one line each for logs, several lines each for
    spans.
    """
    text = process.log.read_text("utf-8", "replace") if process.log.exists() else ""
    decoder = json.JSONDecoder()
    result = []
    place = text.find("{")
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except json.JSONDecodeError:
            end = place + 1
        else:
            result.append(value)
        place = text.find("{", end)
    return result


def spans(process: Process) -> list[dict[str, Any]]:
    """The spans it exported to the console."""
    return [entry for entry in written(process) if "parent_id" in entry]


def durable(span: Any) -> str:
    """The durable whose handler a span is about; empty for other spans."""
    return span["attributes"].get("messaging.consumer.group.name", "")


def logs(process: Process) -> list[dict[str, Any]]:
    """The lines it logged."""
    return [entry for entry in written(process) if "event" in entry and "level" in entry]
