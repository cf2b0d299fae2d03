"""What is counted of deliveries, of calls of models and of caches, and what is read when Prometheus
asks.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from contracts.events import Event
from contracts.graph import Generations
from contracts.values import TokenUsage
from runtime.bus.port import Delivery
from runtime.bus.processor import each
from runtime.errors import Poison, Unavailable
from runtime.metrics import exposition, instruments
from runtime.metrics.model_calls import CallKind, recorded_call
from runtime.metrics.providers import watch_provider
from runtime.metrics.readings import Readings
from runtime.models.limits import Call, Limits
from runtime.models.rate_limiters import RateLimiters
from runtime.processes.worker import CONTROL_SOCKET_VARIABLE
from tests.support.events import added, sealed
from tests.support.metrics import counted, families, kept_spans, total
from tests.support.processors import bench

HANDLED = "lightstream_events_handled_total"
DURABLE = {"durable": "chunker"}


def outcome(error: Exception | None) -> Any:
    async def handle(delivery: Delivery[Any], _: Generations) -> Sequence[Event]:
        if error:
            raise error
        return []

    return each(handle)


@pytest.mark.parametrize(
    ("error", "name"), [(None, "done"), (Unavailable("away"), "again"), (Poison("never"), "dead")]
)
async def test_a_delivery_is_counted_by_its_outcome_and_its_handler_is_timed(
    error: Exception | None, name: str
) -> None:
    counts = (
        await counted(HANDLED, outcome=name, **DURABLE),
        await counted("lightstream_handle_seconds_count"),
    )
    table = bench(outcome(error))
    table.append(sealed(added()))
    await table.deliver()
    after = (
        await counted(HANDLED, outcome=name, **DURABLE),
        await counted("lightstream_handle_seconds_count"),
    )
    assert after == (counts[0] + 1, counts[1] + 1)


async def test_a_call_of_a_model_is_timed_its_tokens_counted_and_its_span_named_by_convention(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spans = kept_spans(monkeypatch)
    labels = {"role": "EXTRACT_LLM", "model": "small"}
    before = await counted("lightstream_model_tokens_total", kind="input", **labels)
    kind = CallKind("chat", "small", "EXTRACT_LLM")
    call = Call(10, 0)
    with recorded_call(kind, "provider.example", call):
        call.usage = TokenUsage(prompt=7, completion=2, calls=1)
    with pytest.raises(Unavailable), recorded_call(kind, "provider.example", Call(10, 0)):
        raise Unavailable("away")
    assert await counted("lightstream_model_tokens_total", kind="input", **labels) == before + 7
    assert await counted("lightstream_model_call_seconds_count", outcome="failed", **labels) == 1
    success, failure = spans.get_finished_spans()
    assert (success.name, failure.name) == ("chat small", "chat small")
    assert dict(success.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "provider.example",
        "gen_ai.request.model": "small",
        "gen_ai.usage.input_tokens": 7,
        "gen_ai.usage.output_tokens": 2,
    }
    assert (failure.attributes or {})["error.type"] == "Unavailable"


async def test_a_paused_provider_is_told_and_its_pauses_are_counted() -> None:
    readings = Readings()
    limiter = RateLimiters(watch=partial(watch_provider, readings)).limiter(
        "trial model", "trial", "key", Limits(calls=1)
    )
    paused_metric = "lightstream_provider_paused"
    pauses = "lightstream_provider_pauses_total"
    exposition.configure("tests")
    text = (await exposition.exposed(readings)).decode()
    assert total(text, paused_metric, provider="trial model") == 0
    before = total(text, pauses, provider="trial model")
    with pytest.raises(Unavailable):
        async with limiter.call():
            raise Unavailable("overloaded", retry_after=600)
    for source in readings.sources.values():
        source.due = 0.0
    text = (await exposition.exposed(readings)).decode()
    assert (
        total(text, paused_metric, provider="trial model"),
        total(text, pauses, provider="trial model"),
    ) == (1, before + 1)
    await limiter.close()


async def test_a_source_is_read_once_for_many_who_ask_and_its_failure_stops_no_other() -> None:
    read: list[str] = []

    async def broken() -> None:
        read.append("broken")
        raise Unavailable("away")

    async def well() -> None:
        read.append("well")
        instruments.log_sequence.set(4711)

    readings = Readings()
    readings.add("broken", broken)
    readings.add("well", well)
    exposition.configure("tests")
    for _ in range(3):
        text = (await exposition.exposed(readings)).decode()
    assert (read, total(text, "lightstream_log_sequence")) == (["broken", "well"], 4711)


SCRAPED = """
import asyncio
from runtime.metrics import exposition, instruments
from runtime.metrics.readings import Readings
exposition.configure("query")
instruments.log_writable.set(1)
print(asyncio.run(exposition.exposed(Readings())).decode())
"""


def test_workers_behind_one_port_are_told_apart() -> None:
    env = {**os.environ, CONTROL_SOCKET_VARIABLE: "0 7"}
    process = subprocess.run(
        [sys.executable, "-c", SCRAPED], env=env, capture_output=True, text=True, check=True
    )
    labels = [sample.labels for family in families(process.stdout) for sample in family.samples]
    assert [
        label_set for label_set in labels if not label_set["service_instance_id"].isdigit()
    ] == []
    assert len(labels) == 2
