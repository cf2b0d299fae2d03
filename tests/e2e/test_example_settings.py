"""The example settings of each wire start a stack, index a text and answer a question; without the
package that a wire needs the start ends with the name of the extra.
"""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support import commands, model_servers
from tests.support.model_servers import ANSWER, KEY, Answer, ModelServer, anthropic, bedrock
from tests.support.model_servers import gemini as gemini_server
from tests.support.model_servers import ollama as ollama_server
from tests.support.stack import MODEL_VARIABLES, Stack, environment

pytestmark = pytest.mark.nightly  # each wire for itself: tests/integration/test_wires.py

VECTORS = "EMBEDDING_DIM=3\n"
"""Of the servers of tests."""


@dataclass(frozen=True)
class Example:
    """The lines of a settings file, and the server that they name as `{url}`."""

    answer: Answer
    lines: str
    paths: tuple[str, ...]
    """What the server is asked, of chat and of vectors."""


EXAMPLES = {
    "ollama": Example(
        ollama_server.answer,
        f"""
LLM_BINDING=ollama
LLM_MODEL={ollama_server.MODEL}
LLM_BINDING_HOST={{url}}
OLLAMA_LLM_NUM_CTX=32768
EMBEDDING_BINDING=ollama
EMBEDDING_BINDING_HOST={{url}}
EMBEDDING_MODEL={ollama_server.MODEL}
OLLAMA_EMBEDDING_NUM_CTX=8192
""",
        ("/api/chat", "/api/embed"),
    ),
    "anthropic": Example(
        anthropic.answer,
        f"""
LLM_BINDING=anthropic
LLM_MODEL={anthropic.MODEL}
LLM_BINDING_HOST={{url}}
LLM_API_KEY={KEY}
""",
        ("/v1/messages",),
    ),
    "gemini": Example(
        gemini_server.answer,
        f"""
LLM_BINDING=gemini
LLM_MODEL={gemini_server.MODEL}
LLM_BINDING_HOST={{url}}
LLM_BINDING_API_KEY={KEY}
EMBEDDING_BINDING=gemini
EMBEDDING_MODEL={gemini_server.MODEL}
EMBEDDING_BINDING_HOST={{url}}
EMBEDDING_BINDING_API_KEY={KEY}
""",
        (":generateContent", ":batchEmbedContents"),
    ),
    "bedrock": Example(
        bedrock.answer,
        f"""
LLM_BINDING=aws_bedrock
LLM_MODEL={bedrock.MODEL}
LLM_BINDING_HOST={{url}}
AWS_REGION=us-east-1
AWS_BEARER_TOKEN_BEDROCK={KEY}
""",
        ("/converse",),
    ),
}


class OfFile(Stack):
    """A stack whose models are named by the file `.env` alone."""

    def run(self, *arguments: str, stdin: str | None = None) -> commands.Done:
        """A command of the command line, in the folder of the file."""
        variables = environment(self.env)
        for name in [name for name in variables if name.startswith(MODEL_VARIABLES)]:
            del variables[name]
        command = [*arguments, "--data", str(self.folder)]
        return commands.as_program(command, variables, self.folder.parent, stdin)


@contextmanager
def serving(answer: Answer) -> Generator[ModelServer]:
    """The provider's server in a thread of its own."""
    started, ended = threading.Event(), threading.Event()
    servers: list[ModelServer] = []

    async def serve() -> None:
        async with model_servers.serving(answer) as server:
            servers.append(server)
            started.set()
            await asyncio.to_thread(ended.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert started.wait(60)
        yield servers[0]
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_example_settings_start_index_and_answer(name: str, tmp_path: Path) -> None:
    example = EXAMPLES[name]
    with serving(example.answer) as server:
        lines = example.lines.format(url=server.url) + VECTORS * ("EMBEDDING" in example.lines)
        (tmp_path / ".env").write_text(lines, "utf-8")
        stack = OfFile(tmp_path / "data")
        stack.up()
        try:
            assert "unknown" not in stack.run("config").stderr
            text = "Ada Marlow leads the Harbour Office."
            added = stack.run("add", "-", "--name", "office.txt", "--wait", stdin=text)
            assert added.returncode == 0, added.stderr
            answer = stack.run("ask", "Who leads the Harbour Office?", "--mode", "naive")
            assert ANSWER in answer.stdout, answer.stderr
            doctor = stack.run("doctor")
            assert doctor.returncode == 0, doctor.stdout
        finally:
            stack.down()
    for path in example.paths:
        assert any(path in request.path for request in server.requests), path
    read = {line.partition("=")[0] for line in lines.split()}
    assert not [name for name in read if f"read by nobody: {name}" in stack.run("config").stdout]


@pytest.mark.parametrize(
    ("lines", "module", "extra"),
    [
        (
            "LLM_BINDING=aws_bedrock\nLLM_MODEL=m\nAWS_REGION=us-east-1\n"
            "AWS_ACCESS_KEY_ID=a\nAWS_SECRET_ACCESS_KEY=b\n",
            "botocore",
            "pip install 'lightstream-rag[bedrock]'",
        ),
        (
            "LLM_BINDING=gemini\nLLM_MODEL=m\n"
            "GOOGLE_GENAI_USE_VERTEXAI=true\nGOOGLE_CLOUD_PROJECT=p\n",
            "google.auth",
            "pip install 'lightstream-rag[vertex]'",
        ),
    ],
    ids=["bedrock", "vertex"],
)
def test_without_its_package_the_start_ends_with_the_name_of_the_extra(
    tmp_path: Path, lines: str, module: str, extra: str
) -> None:
    (tmp_path / ".env").write_text(lines, "utf-8")
    blocking = tmp_path / "blocking"
    blocking.mkdir()
    code = f"import sys\nsys.modules[{module!r}] = None\n"
    (blocking / "sitecustomize.py").write_text(code, "utf-8")
    stack = OfFile(tmp_path / "data", {"PYTHONPATH": str(blocking)})
    started = stack.run("up", "--detach")
    assert started.returncode == 1
    assert extra in started.stderr + started.stdout
    assert "no stack was running" in stack.run("down").stdout
