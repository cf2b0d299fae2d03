"""Every example of the page about the Python client runs as it stands there, and prints what stands
below it.
"""

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest
from nats.js import JetStreamContext

from services.gateway.settings import GatewaySettings
from tests.support.nats_server import BusServer
from tests.support.pipeline import working
from tests.support.querying import QueryHarness
from tests.support.served import served

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/python-client.md").read_text("utf-8")
EXAMPLES = re.findall(
    r"^## ([^\n]+)$|```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE
)
API = "http://127.0.0.1:9621"
BUS = "NATS_URL"


def examples() -> list[tuple[str, str, str]]:
    """Heading, program and output of each."""
    result: list[tuple[str, str, str]] = []
    heading = ""
    for title, program, output in EXAMPLES:
        heading = title or heading
        if program:
            result.append((heading, program, output))
    return result


OVER_HTTP = [
    pytest.param(program, output, id=heading)
    for heading, program, output in examples()
    if BUS not in program
]
ON_THE_BUS = [
    pytest.param(program, output, id=heading)
    for heading, program, output in examples()
    if BUS in program
]


async def printed(program: str, folder: Path, **env: str) -> str:
    """What the program says, run as a user runs it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-W",
        "error",
        "-c",
        program,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, output.decode()
    return output.decode()


@pytest.mark.parametrize(("program", "output"), OVER_HTTP)
async def test_an_example_prints_what_the_page_says(
    program: str, output: str, tmp_path: Path
) -> None:
    harness = QueryHarness()
    app = harness.app(settings=GatewaySettings(workspace="default"))
    async with working(harness), served(app) as url:
        printed_text = await printed(program.replace(API, url), tmp_path, LIGHTSTREAM_API_URL=url)
    assert printed_text.strip() == output.strip()


@pytest.mark.parametrize(("program", "output"), ON_THE_BUS)
async def test_the_example_for_the_bus_prints_what_the_page_says(
    program: str, output: str, server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    printed_text = await printed(program, tmp_path, NATS_URL=server.url)
    assert (await jetstream.stream_info("KB_EVENTS")).state.messages == 1
    assert printed_text.strip() == output.strip()


def test_every_program_of_the_page_has_its_output() -> None:
    assert len(OVER_HTTP) + len(ON_THE_BUS) == PAGE.count("```python") >= 8
