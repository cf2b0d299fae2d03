"""What is of one provider alone: windows, addresses, credentials, and what the doctor asks."""

from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from pydantic import SecretStr

from operations.doctor.models import examine_models
from runtime.errors import (
    ConfigurationError,
)
from runtime.models import trial
from runtime.models.bindings import Connection
from runtime.models.chat import EndpointChat
from runtime.models.endpoint import Endpoint
from runtime.models.limits import Limits
from runtime.models.port import Completion
from runtime.models.rate_limiter import RateLimiter
from runtime.models.roles import RoleSettings
from runtime.models.scripted import ScriptedChat
from runtime.models.wires.open import open_wire
from tests.support import model_servers as servers
from tests.support.model_servers import (
    anthropic,
    azure,
    bedrock,
    ollama,
)
from tests.support.model_servers.kinds import KINDS, endpoint, question, stream_answer


async def test_ollama_is_asked_for_its_window_and_a_prompt_that_fills_it_warns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kind = KINDS["ollama"]
    async with servers.serving(kind.answer) as server:
        chat = EndpointChat(endpoint(server, kind), kind.model, {"options": {"num_ctx": 64}})
        assert (await chat.complete(question(ollama.NARROW))).narrow
        assert (await stream_answer(chat, ollama.NARROW)).narrow
        assert not (await chat.complete(question())).narrow
        await chat.close()
    assert server.requests[0].body["options"]["num_ctx"] == 64
    assert "OLLAMA_LLM_NUM_CTX" in capsys.readouterr().out


AZURE_ADDRESSES = [
    ("{url}", azure.CHAT, "api-version=2024-10-21"),
    ("{url}/", azure.CHAT, "api-version=2024-10-21"),
    ("{url}/openai", azure.CHAT, "api-version=2024-10-21"),
]
DEPLOYMENT_ADDRESSES = [
    ("{url}/openai/deployments/my-deployment", azure.CHAT, "api-version=2024-10-21"),
    (
        "{url}/openai/deployments/my-deployment?api-version=2025-01-01-preview",
        azure.CHAT,
        "api-version=2025-01-01-preview",
    ),
    ("{url}/openai/deployments/my-deployment/chat/completions?api-version=1", azure.CHAT, None),
]
"""They say by themselves that they are Azure's, whatever the binding."""


@pytest.mark.parametrize(
    ("binding", "address", "path", "query"),
    [
        *(("azure_openai", *address) for address in AZURE_ADDRESSES + DEPLOYMENT_ADDRESSES),
        *(("openai", *address) for address in DEPLOYMENT_ADDRESSES),
    ],
)
async def test_each_classic_address_of_azure_is_understood(
    binding: str, address: str, path: str, query: str | None
) -> None:
    async with servers.serving(azure.answer) as server:
        connection = Connection(address.format(url=server.url), servers.KEY)
        wire = open_wire(binding, connection)
        limiter = RateLimiter("m", Limits(calls=4))
        chat = EndpointChat(Endpoint(wire, limiter, 10.0, "LLM"), azure.DEPLOYMENT)
        assert (await chat.complete(question())).text == servers.ANSWER
        assert (await stream_answer(chat)).text == servers.ANSWER
        await chat.close()
        assert {(request.path, request.query) for request in server.requests} == {
            (path, query or "api-version=1")
        }


async def test_bedrock_without_a_key_is_asked_with_aws_s_own_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", bedrock.ACCOUNT)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", servers.KEY)
    kind = KINDS["bedrock"]
    async with servers.serving(kind.answer) as server:
        chat = EndpointChat(endpoint(server, kind, key=""), kind.model)
        assert (await chat.complete(question())).text == servers.ANSWER
        assert (await stream_answer(chat)).text == servers.ANSWER
        await chat.close()
    assert all(
        request.headers["authorization"].startswith("AWS4-HMAC") for request in server.requests
    )


def test_bedrock_without_key_and_credentials_is_refused_with_a_way_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(ConfigurationError, match="set LLM_API_KEY or EMBEDDING_API_KEY"):
        open_wire("bedrock", Connection())


@pytest.mark.parametrize(("answer", "level"), [("It is red.", "well"), ("A plain one.", "fault")])
async def test_the_doctor_shows_the_model_of_figures_a_picture(
    monkeypatch: pytest.MonkeyPatch, answer: str, level: str
) -> None:
    chat = ScriptedChat(lambda messages: Completion(answer))
    monkeypatch.setattr(trial, "open_chat", lambda *_, **__: chat)
    settings = RoleSettings(vlm_llm_model="eyes", vlm_llm_api_key=SecretStr("k"))
    (finding,) = [finding async for finding in examine_models(settings)]
    (call,) = chat.calls
    (message,) = call.messages
    assert (finding.level, finding.what.split(" (")[0]) == (level, "model of figures eyes")
    with Image.open(BytesIO(message.pictures[0].data)) as picture:
        assert (picture.size, picture.getpixel((32, 32))) == ((64, 64), (255, 0, 0))


async def test_the_doctor_asks_each_model_of_the_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with (
        servers.serving(anthropic.answer) as claude,
        servers.serving(ollama.answer) as local,
    ):
        for name, value in {
            "LLM_BINDING": "anthropic",
            "LLM_BINDING_HOST": claude.url,
            "LLM_BINDING_API_KEY": servers.KEY,
            "LLM_MODEL": anthropic.MODEL,
            "KEYWORD_LLM_BINDING": "ollama",
            "KEYWORD_LLM_BINDING_HOST": local.url,
            "KEYWORD_LLM_MODEL": "nothing-of-that-name",
            "EMBEDDING_BINDING": "ollama",
            "EMBEDDING_BINDING_HOST": local.url,
            "EMBEDDING_MODEL": ollama.MODEL,
            "EMBEDDING_DIM": "3",
        }.items():
            monkeypatch.setenv(name, value)
        findings = [finding async for finding in examine_models(RoleSettings())]
    assert [(finding.level, finding.what.split(" (")[0]) for finding in findings] == [
        ("well", f"language model {anthropic.MODEL}"),
        ("fault", "language model nothing-of-that-name"),
        ("well", f"embedding model {ollama.MODEL}"),
    ]
    assert "KEYWORD_LLM_MODEL" in findings[1].what
    assert servers.KEY not in repr(findings)
