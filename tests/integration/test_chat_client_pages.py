"""Every line to type on the pages about Ollama's and OpenAI's clients does what the page says."""

import asyncio
import os
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from runtime.models.scripted import ScriptedChat
from services.gateway.settings import GatewaySettings
from services.query.adapters.models import ModelAnswerGenerator
from tests.support.access import KEY, behind
from tests.support.events import entity
from tests.support.querying import QueryHarness
from tests.support.served import served

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = ("ollama", "openai")
ADDRESS = "http://127.0.0.1:9621"
HARBOUR = "Ada Marsh leads the Harbour Office since 1921. The office keeps the register of ships."


def blocks(page: str, language: str) -> list[str]:
    """The blocks of code in that language."""
    return [
        part.split("```", 1)[0]
        for part in (DOCS / f"{page}.md").read_text("utf-8").split(f"```{language}\n")[1:]
    ]


@pytest_asyncio.fixture
async def address() -> AsyncIterator[str]:
    """Of a service with one document, one key, and a language model that says the same to
    everything.
    """
    harness = QueryHarness()
    await harness.index(
        "harbour",
        HARBOUR,
        says=(([entity("Harbour Office", "organization", HARBOUR)], []),),
        workspace="default",
    )
    deps = harness.deps(
        answer_generator=ModelAnswerGenerator(ScriptedChat(lambda _: "Ada Marsh leads it [1]."))
    )
    app = harness.app(behind(lightrag_api_key=KEY), answering=deps, settings=GatewaySettings())
    async with served(app) as base:
        yield base


async def typed(lines: str, address: str, folder: Path) -> str:
    """What a shell prints for these lines; installing is left out, for what is installed is what is
    tested.
    """
    script = "\n".join(line for line in lines.splitlines() if not line.startswith("pip install "))
    assert ADDRESS in script
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    process = await asyncio.create_subprocess_exec(
        "sh",
        "-eu",
        "-c",
        script.replace(ADDRESS, address),
        cwd=folder,
        env={"PATH": path, "LIGHTRAG_API_KEY": KEY, "NO_PROXY": "127.0.0.1"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, output.decode()
    return output.decode()


@pytest.mark.parametrize("page", PAGES)
async def test_the_example_asks_and_asks_on(page: str, address: str, tmp_path: Path) -> None:
    shutil.copy(DOCS / f"examples/chat_with_{page}.py", tmp_path)
    lines = blocks(page, "sh")[0]
    assert f"pip install {page}\n" in lines
    output = await typed(lines, address, tmp_path)
    assert output.count("Ada Marsh leads it [1].\n\n### References\n\n- [1] harbour.txt\n") == 2


@pytest.mark.parametrize(
    ("page", "parts"),
    [
        (
            "ollama",
            [
                '"model":"lightrag:latest"',
                '"content": "Ada"',
                '"done": true',
                '"response":"Ada Marsh leads it [1]."',
            ],
        ),
        (
            "openai",
            [
                '"id":"lightstream:walk"',
                '"content":"Ada Marsh leads it [1].',
                '"total_tokens": ',
                "data: [DONE]",
            ],
        ),
    ],
)
@pytest.mark.skipif(shutil.which("curl") is None, reason="the lines need curl")
async def test_the_lines_for_curl_answer(
    page: str, parts: list[str], address: str, tmp_path: Path
) -> None:
    _, lines = blocks(page, "sh")
    output = await typed(lines, address, tmp_path)
    assert [part for part in parts if part not in output] == [], output
    assert "error" not in output


@pytest.mark.parametrize("page", PAGES)
def test_the_page_shows_the_example_as_it_is(page: str) -> None:
    assert blocks(page, "python") == [(DOCS / f"examples/chat_with_{page}.py").read_text("utf-8")]
