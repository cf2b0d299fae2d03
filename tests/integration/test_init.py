"""`lightstream init` as a program, with models that answer, refuse and are not there."""

import asyncio
import json
import os
import pty
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from dotenv import dotenv_values

from embedded.processes import free_port
from tests.support import commands
from tests.support import model_servers as servers
from tests.support.commands import LIGHTSTREAM
from tests.support.model_servers import ollama
from tests.support.openai_provider import DIMENSION, KEY, Provider, serving
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def provider() -> AsyncIterator[Provider]:
    async with serving() as server:
        yield server


async def init(folder: Path, *arguments: str, key: str = "") -> tuple[int, str, str]:
    """Return exit code and both outputs."""
    process = await asyncio.create_subprocess_exec(
        *commands.beginning(),
        "--env-file",
        ".env",
        "init",
        *arguments,
        *(["--key-stdin"] if key else []),
        cwd=folder,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(f"{key}\n".encode()), PATIENCE)
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def test_models_that_answer_are_written(tmp_path: Path, provider: Provider) -> None:
    (tmp_path / ".env").write_text("TOP_K=5\n")
    options = ("--provider", "other", "--base-url", provider.url, "--embedding-model", "good")
    code, out, err = await init(tmp_path, *options, "--json", key=KEY)
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert [trial["result"] for trial in result["trials"]] == [
        "the answer",
        f"{DIMENSION} numbers a text",
    ]
    assert dotenv_values(tmp_path / ".env") == {
        "TOP_K": "5",
        "LLM_BASE_URL": provider.url,
        "LLM_API_KEY": KEY,
        "LLM_MODEL": "good",
        "EMBEDDING_MODEL": "good",
        "EMBEDDING_BASE_URL": provider.url,
        "EMBEDDING_API_KEY": KEY,
        "EMBEDDING_DIM": str(DIMENSION),
    }
    assert KEY not in out


async def test_a_person_is_asked_and_the_key_is_not_shown(
    tmp_path: Path, provider: Provider
) -> None:
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        LIGHTSTREAM,
        "--env-file",
        "models.env",
        "init",
        "--base-url",
        provider.url,
        cwd=tmp_path,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = ""
    for prompt, answer in {
        "number or name": "openai",
        "key (not shown): ": KEY,  # the blank comes once nothing is shown any more
        "language model": "good",
        "embedding model": "minilm",
    }.items():
        while prompt not in shown.rpartition("\n")[2]:
            shown += (await asyncio.to_thread(os.read, ours, 4096)).decode()
        os.write(ours, f"{answer}\n".encode())
    while "start with" not in shown:
        shown += (await asyncio.to_thread(os.read, ours, 4096)).decode()
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 0
    os.close(ours)
    assert KEY not in shown
    assert "good: the answer" in shown
    assert "--env-file models.env" in shown
    assert dotenv_values(tmp_path / "models.env")["EMBEDDING_MODEL"] == "minilm"


async def test_a_provider_with_a_wire_of_its_own_is_asked_on_that(tmp_path: Path) -> None:
    """And with none afterwards no model is used, whatever the file said before."""
    async with servers.serving(ollama.answer) as server:
        address = server.url
        options = (
            "--base-url",
            address,
            "--model",
            ollama.MODEL,
            "--embedding-model",
            ollama.MODEL,
        )
        code, _, err = await init(tmp_path, "--provider", "ollama", *options)
    assert code == 0, err
    written = dotenv_values(tmp_path / ".env")
    assert (written["LLM_BINDING"], written["EMBEDDING_BINDING"]) == ("ollama", "ollama")
    assert (written["LLM_BASE_URL"], written["EMBEDDING_DIM"]) == (address, "3")
    assert "LLM_API_KEY" not in written
    with (tmp_path / ".env").open("a") as file:
        file.write(f"LLM_BINDING_HOST={address}\nOPENAI_API_KEY=sk-old\n")
    assert (await init(tmp_path, "--provider", "none"))[0] == 0
    assert dotenv_values(tmp_path / ".env") == {"EMBEDDING_MODEL": "minilm"}


@pytest.mark.parametrize(
    ("options", "key", "code", "reason"),
    [
        (("--model", "good"), "wrong", 2, "refuses the key (401): enter it again"),
        (("--model", "status:500"), KEY, 3, "nothing is written (--no-test writes it untried)"),
        (("--embedding-model", "garbage"), KEY, 3, "garbage"),
    ],
)
async def test_models_that_fail_are_named_and_nothing_is_written(
    tmp_path: Path,
    provider: Provider,
    options: tuple[str, ...],
    key: str,
    code: int,
    reason: str,
) -> None:
    where = ("--provider", "other", "--base-url", provider.url)
    exit_code, out, err = await init(tmp_path, *where, *options, key=key)
    assert (exit_code, reason in err) == (code, True), err
    assert KEY not in out + err
    assert not (tmp_path / ".env").exists()


async def test_an_address_where_nobody_answers_is_named(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{free_port()}/v1"
    code, _, err = await init(tmp_path, "--provider", "other", "--base-url", address, key=KEY)
    assert (code, f"nobody answers at {address}" in err) == (3, True), err


async def test_what_is_written_is_read_by_the_next_command(
    tmp_path: Path, provider: Provider
) -> None:
    where = ("--provider", "other", "--base-url", provider.url, "--embedding-model", "minilm")
    assert (await init(tmp_path, *where, key=KEY))[0] == 0
    environ = {name: text for name, text in os.environ.items() if name != "LIGHTSTREAM_ENV_FILE"}
    process = await asyncio.create_subprocess_exec(
        *commands.beginning(),
        "config",
        cwd=tmp_path,
        env={**environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await asyncio.wait_for(process.communicate(), PATIENCE)
    assert "LLM_MODEL = good  (LLM_MODEL)" in out.decode()
    assert KEY not in out.decode()
