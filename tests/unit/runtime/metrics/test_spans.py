"""Spans of messages by convention: one event goes on in its trace, a batch links to those of its
events.
"""

import pytest
from opentelemetry.trace import SpanKind, get_current_span

from runtime import telemetry
from tests.support.events import added, sealed
from tests.support.metrics import kept_spans


def trace_of(letter: str) -> str:
    return f"00-{letter * 32}-{letter * 16}-01"


def test_one_event_is_handled_in_its_own_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    spans = kept_spans(monkeypatch)
    with telemetry.consumer_span("chunker", [sealed(added(), id="one", traceparent=trace_of("a"))]):
        assert (telemetry.traceparent_for(trace_of("a")) or "")[3:35] == "a" * 32
    (span,) = spans.get_finished_spans()
    assert (span.name, span.kind, span.parent and f"{span.parent.trace_id:x}") == (
        "process KB_EVENTS",
        SpanKind.CONSUMER,
        "a" * 32,
    )
    attributes = dict(span.attributes or {})
    assert (attributes["messaging.system"], attributes["messaging.message.id"]) == ("nats", "one")
    assert (
        attributes["messaging.operation.name"],
        attributes["messaging.consumer.group.name"],
    ) == (
        "process",
        "chunker",
    )


def test_a_batch_links_to_the_trace_of_each_event_and_its_events_go_on_in_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spans = kept_spans(monkeypatch)
    batch = [sealed(added(), traceparent=trace_of(letter)) for letter in "aba"]
    with telemetry.consumer_span("merger", [*batch, sealed(added())]), telemetry.producer_span(3):
        assert telemetry.traceparent_for(trace_of("b")) == trace_of("b")
    publish_span, span = spans.get_finished_spans()
    assert (publish_span.name, span.parent) == ("publish KB_EVENTS", None)
    assert [f"{link.context.trace_id:x}" for link in span.links] == ["a" * 32, "b" * 32]
    assert (span.attributes or {})["messaging.batch.message_count"] == 4


def test_where_no_traces_are_written_events_go_on_in_theirs_all_the_same() -> None:
    batch = [sealed(added(), traceparent=trace_of(letter)) for letter in "ab"]
    with telemetry.consumer_span("merger", batch):
        assert not get_current_span().get_span_context().is_valid
        assert telemetry.traceparent_for(trace_of("b")) == trace_of("b")
    with telemetry.consumer_span("chunker", batch[:1]):
        assert f"{get_current_span().get_span_context().trace_id:x}" == "a" * 32
