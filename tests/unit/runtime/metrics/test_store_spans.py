"""Spans of stores by convention: what was asked of which kind of server, and nothing of what is in
it.
"""

import asyncio
from typing import cast

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import SpanKind, StatusCode

from contracts.graph import Partition
from runtime.errors import Unavailable
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Rows, Table
from runtime.stores.traced import traced
from tests.support.metrics import kept_spans

TABLE = Table("documents", Partition("tenant", 1))


@pytest.fixture(autouse=True)
def tracing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "get_tracer_provider", TracerProvider)


def test_without_traces_a_store_is_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "get_tracer_provider", trace.NoOpTracerProvider)
    rows = MemoryRows()
    assert traced(rows, "sqlite") is rows


async def test_a_call_is_a_client_s_span_that_names_the_table_and_no_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spans = kept_spans(monkeypatch)
    rows = traced(MemoryRows(), "mongodb", "lightstream")
    with trace.get_tracer("tests").start_as_current_span("answer") as answer:
        await rows.put(TABLE, {"secret-document": {"status": "processed"}})
        assert await rows.get(TABLE, ["secret-document"]) == {
            "secret-document": {"status": "processed"}
        }
        await rows.ping()
    put, get, ping, _ = spans.get_finished_spans()
    assert {span.parent and span.parent.span_id for span in (put, get, ping)} == {
        answer.get_span_context().span_id
    }
    assert [(span.name, span.kind) for span in (put, get, ping)] == [
        ("put documents", SpanKind.CLIENT),
        ("get documents", SpanKind.CLIENT),
        ("ping mongodb", SpanKind.CLIENT),
    ]
    assert dict(put.attributes or {}) == {
        "db.system.name": "mongodb",
        "db.namespace": "lightstream",
        "db.operation.name": "put",
        "db.collection.name": "documents",
    }


async def test_what_is_asked_in_no_trace_begins_none(monkeypatch: pytest.MonkeyPatch) -> None:
    spans = kept_spans(monkeypatch)
    await traced(MemoryRows(), "mongodb").ping()
    assert not spans.get_finished_spans()


class Away:
    """A store that does not answer."""

    async def get(self, *_: object) -> None:
        await asyncio.sleep(0)
        raise Unavailable("mongo-1.internal:27017 does not answer")


async def test_a_failure_shows_its_kind_and_reaches_the_caller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spans = kept_spans(monkeypatch)
    with trace.get_tracer("tests").start_as_current_span("answer"), pytest.raises(Unavailable):
        await cast("Rows", traced(Away(), "mongodb")).get(TABLE, ["a"])
    span, _ = spans.get_finished_spans()
    assert (span.attributes or {})["error.type"] == "Unavailable"
    assert span.status.status_code == StatusCode.ERROR
    assert not span.events
