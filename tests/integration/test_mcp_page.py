"""Every line of the page on MCP does what the page says, and a missing package is named."""

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from embedded.processes import free_port
from tests.integration.test_mcp import told
from tests.support import commands
from tests.support.commands import LIGHTSTREAM, ROOT
from tests.support.mcp_servers import listening, over_http

PAGE = (ROOT / "docs/mcp.md").read_text("utf-8")
EXAMPLE = ROOT / "docs/examples/ask_over_mcp.py"
CONFIGURATIONS: list[dict[str, Any]] = [
    json.loads(block)["mcpServers"]["lightstream"]
    for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def line(beginning: str) -> list[str]:
    """The words of the one line of the page that begins so."""
    (result,) = re.findall(rf"^{re.escape(beginning)}.*$", PAGE, re.MULTILINE)
    return shlex.split(result)


async def test_the_desktop_configuration_starts_a_server_before_there_is_a_stack(
    tmp_path: Path,
) -> None:
    configuration = CONFIGURATIONS[0]
    arguments = [str(tmp_path) if word.startswith("/") else word for word in configuration["args"]]
    assert Path(configuration["command"]).name == Path(LIGHTSTREAM).name
    server = StdioServerParameters(
        command=LIGHTSTREAM, args=arguments, env={**configuration["env"], "PYTHONPATH": str(ROOT)}
    )
    async with Client(server, read_timeout_seconds=60) as client:
        result = await client.call_tool("search", {"question": "Who leads the Harbour Office?"})
        assert result.is_error
        assert f"lightstream up --detach --data {tmp_path}" in str(result.content)


async def test_the_example_prints_an_answer_with_its_files() -> None:
    async with listening() as url:
        words = [
            url if word.startswith("http") else word
            for word in line("python ask_over_mcp.py http")[1:]
        ]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *words[:-1],
            "Who discovered radium?",
            cwd=EXAMPLE.parent,
            env=ENVIRONMENT,
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0
    assert "Marie Curie discovered radium" in output.decode()
    assert "[1] curie.txt" in output.decode()


async def test_the_command_serves_the_configuration_for_http() -> None:
    port = str(free_port())
    words = [*commands.beginning(), *line("lightstream mcp --http")[1:]]
    words[words.index("--port") + 1] = port
    configuration = CONFIGURATIONS[1]
    async with listening() as url:
        process = await asyncio.create_subprocess_exec(
            *words, "--url", url, env=ENVIRONMENT, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout
        try:
            first_line = (await asyncio.wait_for(process.stdout.readline(), 60)).decode()
            address = configuration["url"].replace("9626", port)
            assert first_line == f"MCP over HTTP: {address}\n"
            headers = {**configuration["headers"], "X-Workspace": "w"}
            async with over_http(address, **headers) as client:
                assert (await told(client, "list_documents"))["total"] == 2
        finally:
            process.terminate()
            await asyncio.wait_for(process.wait(), 30)


def test_the_page_shows_the_example_as_it_is_and_names_every_tool() -> None:
    assert f"```python\n{EXAMPLE.read_text('utf-8')}```" in PAGE
    source = (ROOT / "mcp_server/tools.py").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == set(
        re.findall(r"_with_tool_errors\((\w+)\)", source)
    )


@pytest.mark.parametrize("arguments", [["mcp"], ["mcp", "--http"]])
def test_a_missing_package_is_named_with_its_extra(arguments: list[str]) -> None:
    script = "import sys; sys.modules['mcp'] = None\nfrom cli import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        check=False,
        text=True,
        env=ENVIRONMENT,
    )
    assert result.returncode == 1
    assert "install the extra `mcp`" in result.stderr
    assert result.stdout == ""
