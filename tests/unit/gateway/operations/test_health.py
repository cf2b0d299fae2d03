"""What is wrong and how the service is set, over HTTP: for the whole deployment, and without a
secret.
"""

import json

import pytest

from tests.support.access import SEVERAL, WRITER, behind, client, keyed
from tests.support.querying import QueryHarness

CANARY = "canary-9f31c7e2a4"


async def test_the_doctor_tells_what_is_wrong_and_what_to_do() -> None:
    async with client(QueryHarness().app()) as api:
        report = (await api.get("/operations/doctor")).json()
    assert report == {
        "healthy": True,
        "findings": [{"level": "note", "what": "merger: 3 events wait", "todo": ""}],
    }


async def test_settings_are_shown_with_their_source_and_secrets_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LLM_API_KEY", CANARY)
    monkeypatch.setenv("LIGHTSTREAM_API_KEYS", CANARY)
    monkeypatch.setenv("NATS_URL", f"nats://query:{CANARY}@bus:4222")
    monkeypatch.setenv("TOP_K", "17")
    async with client(QueryHarness().app()) as api:
        answer = await api.get("/operations/settings")
    settings = {setting["names"][0]: setting for setting in answer.json()["settings"]}
    assert CANARY not in json.dumps(answer.json())
    assert (settings["LLM_API_KEY"]["value"], settings["LLM_API_KEY"]["source"]) == (
        "(set, not shown)",
        "LLM_API_KEY",
    )
    assert (settings["TOP_K"]["value"], settings["TOP_K"]["source"]) == ("17", "TOP_K")
    assert settings["CHUNK_TOP_K"]["source"] == "default"


async def test_credentials_of_single_workspaces_see_neither() -> None:
    async with keyed(QueryHarness().app(behind(lightstream_api_keys=SEVERAL)), WRITER, "w") as api:
        assert (await api.get("/operations/doctor")).status_code == 403
        assert (await api.get("/operations/settings")).status_code == 403
