"""The identity of a machine in Azure: MSAL reads our servers first, then our wire asks models by
them. No address of the link is ever asked here.
"""

import asyncio
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

import msal
import pytest
import requests

from runtime.errors import Unavailable
from runtime.models.bindings import Connection, ManagedIdentity
from runtime.models.chat import EndpointChat
from runtime.models.endpoint import Endpoint
from runtime.models.limits import Limits
from runtime.models.rate_limiter import RateLimiter
from runtime.models.wires.open import open_wire
from tests.support import model_servers as servers
from tests.support.model_servers import azure, machine
from tests.support.model_servers.kinds import question

Environment = Callable[[str], dict[str, str]]


def set_environment(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name in ("IDENTITY_ENDPOINT", "IDENTITY_HEADER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def chat_as(url: str, client: str = "") -> EndpointChat:
    wire = open_wire("azure_openai", Connection(url, entra=ManagedIdentity(client)))
    endpoint = Endpoint(wire, RateLimiter("m", Limits(calls=4)), 10.0, "LLM")
    return EndpointChat(endpoint, azure.DEPLOYMENT)


def judged_token(client: str) -> dict[str, Any]:
    identity: Any = (
        msal.UserAssignedManagedIdentity(client_id=client)
        if client
        else msal.SystemAssignedManagedIdentity()
    )
    client_of_msal: Any = msal.ManagedIdentityClient(identity, http_client=requests.Session())
    return client_of_msal.acquire_token_for_client(resource=machine.RESOURCE)


@pytest.mark.parametrize("client", ["", machine.CLIENT])
@pytest.mark.parametrize("environment", [machine.machine, machine.app_service])
async def test_a_machine_asks_with_its_token_which_msal_gets_from_the_same_server(
    environment: Environment, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with servers.serving(machine.answer) as server:
        set_environment(monkeypatch, environment(server.url))
        judged = await asyncio.to_thread(judged_token, client)
        assert judged["access_token"] == machine.TOKEN, judged
        chat = chat_as(server.url, client)
        assert [(await chat.complete(question())).text for _ in range(3)] == [servers.ANSWER] * 3
        await chat.close()
    theirs, ours = ((seen.path, parse_qs(seen.query)) for seen in server.token_requests)
    assert ours == theirs
    assert len(server.requests) == 3


async def test_a_machine_without_an_identity_waits_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with servers.serving(machine.answer) as server:
        set_environment(monkeypatch, machine.machine(server.url))
        chat = chat_as(server.url, "another")
        with pytest.raises(Unavailable, match=r"400: .*Identity not found.*AZURE_CLIENT_ID"):
            await chat.complete(question())
        variables = {**machine.app_service(server.url), "IDENTITY_HEADER": "wrong"}
        set_environment(monkeypatch, variables)
        with pytest.raises(Unavailable, match="401"):
            await chat.complete(question())
        await chat.close()
        assert not server.requests


async def test_where_no_machine_gives_tokens_the_setting_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_environment(monkeypatch, machine.machine("http://127.0.0.1:1"))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:2")
    chat = chat_as("http://127.0.0.1:3")
    with pytest.raises(Unavailable, match=r"cannot be reached.*AZURE_TOKEN_CREDENTIALS"):
        await chat.complete(question())
    await chat.close()
