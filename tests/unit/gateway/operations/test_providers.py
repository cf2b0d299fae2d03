"""What is shown of the providers of models: what is asked of them, and until when one is paused."""

import time
from dataclasses import replace
from functools import partial

from runtime.bus.memory import MemorySharedValues
from runtime.models.limits import Lease, ProviderState
from runtime.models.rate_limiters import provider_states
from tests.support.access import client
from tests.support.querying import QueryHarness


async def test_a_paused_provider_is_shown_with_its_reason_and_the_time_of_the_next_call() -> None:
    harness = QueryHarness()
    values = MemorySharedValues()
    now = time.time()
    waits = ProviderState(
        name="chat", until=now + 600, since=now - 60, reason="429: slow down", failures=2
    )
    works = ProviderState(
        name="embeddings",
        booked={1: (3, 70), 2: (4, 30)},
        shares={"a": Lease(want=2, until=now + 600), "gone": Lease(want=9, until=now - 1)},
    )
    for key, state in (("one", waits), ("two", works)):
        await values.write(key, state.model_dump_json().encode(), 0)
    harness.operations = replace(
        harness.operations, read_providers=partial(provider_states, values)
    )
    async with client(harness.app()) as api:
        chat, embeddings = (await api.get("/operations/providers")).json()["providers"]
    assert (chat["name"], chat["paused"], chat["reason"], chat["failures"]) == (
        "chat",
        True,
        "429: slow down",
        2,
    )
    assert chat["paused_until"] > chat["paused_since"]
    assert (embeddings["calls"], embeddings["requests"], embeddings["tokens"]) == (2, 7, 100)
    assert (embeddings["paused"], embeddings["paused_until"]) == (False, None)
