"""Traces and logs: one trace from the publisher through all services, off unless the standard
variables ask for it.

`OTEL_TRACES_EXPORTER=console` or `otlp` switches traces on (`OTEL_EXPORTER_OTLP_ENDPOINT` and the
other standard variables apply). Span names carry the stream or the model, never a subject: subjects
name documents, and have no end.
"""

import os
import sys
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from secrets import randbelow
from typing import Any

import structlog
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from contracts.envelope import Envelope
from contracts.events import Event
from contracts.partitions import LOG
from runtime import logs
from runtime import semantic_conventions as names
from runtime.variables import FILE, file_content

OTLP_HEADERS = "OTEL_EXPORTER_OTLP_HEADERS"

_PROPAGATOR = TraceContextTextMapPropagator()


def configure(service: str, level: str = "INFO") -> None:
    """Structured JSON logs on standard error, and traces where the standard variables ask for
    them.
    """
    logs.configure(service, level)
    configure_traces(service)


def configure_traces(service: str) -> None:
    """Write traces where the standard variables ask for them."""
    exporter = os.environ.get("OTEL_TRACES_EXPORTER", "none").lower()
    if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        return  # configured already
    if (
        exporter in {"console", "otlp"}
        and os.environ.get("OTEL_SDK_DISABLED", "").lower() != "true"
    ):
        _export(service, exporter)


def _export(service: str, exporter: str) -> None:
    # Commands that publish import this module, and few of them are traced.
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import (  # noqa: PLC0415
        BatchSpanProcessor,
        ConsoleSpanExporter,
        SimpleSpanProcessor,
    )

    provider = TracerProvider(resource=Resource.create({"service.name": f"lightstream-{service}"}))
    if exporter == "console":
        provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=sys.stderr)))
    else:
        # The exporter brings requests and protobuf, which nobody pays for who does not trace.
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415

        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(headers=otlp_headers())))
    trace.set_tracer_provider(provider)


def otlp_headers() -> dict[str, str] | None:
    """Return the headers in the file that OTEL_EXPORTER_OTLP_HEADERS_FILE names; None: what the
    standard variables say.

    Raises ConfigurationError for a file that cannot be read.
    """
    text = "" if os.environ.get(OTLP_HEADERS) else file_content(os.environ, f"{OTLP_HEADERS}{FILE}")
    if not text:
        return None
    from opentelemetry.util.re import parse_env_headers  # noqa: PLC0415

    return dict(parse_env_headers(text, liberal=True))


def _tracer() -> trace.Tracer:
    return trace.get_tracer(names.SCOPE)


def _traced() -> bool:
    """Return whether spans go anywhere. Where they do not, none is made for each event."""
    return not isinstance(_tracer(), trace.ProxyTracer)


def _context(traceparent: str | None) -> Context | None:
    return _PROPAGATOR.extract({"traceparent": traceparent}) if traceparent else None


def traceparent_for(cause: str | None = None) -> str | None:
    """The W3C `traceparent` to send along: the current span's, unless it belongs to another trace
    than the cause.

    A batch is handled in one span, yet each of its messages goes on in the trace it came with.
    """
    if not trace.get_current_span().get_span_context().is_valid:
        return cause
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    current_parent = carrier.get("traceparent")
    if cause and (current_parent is None or current_parent[:35] != cause[:35]):
        return cause
    return current_parent


def log_context(envelope: Envelope[Event]) -> AbstractContextManager[None]:
    """Logs written inside carry the trace, the workspace and the document."""
    return structlog.contextvars.bound_contextvars(
        trace=(traceparent_for(envelope.traceparent) or "")[3:35],
        workspace=envelope.workspace,
        document=envelope.subject or "",
    )


@contextmanager
def consumer_span(durable: str, envelopes: Sequence[Envelope[Event]]) -> Generator[None]:
    """A consumer span over one call of a handler: of one event in its trace, of a batch linked to
    those of its events.

    Logs written inside are `about` the first event.
    """
    first = envelopes[0]
    is_single = len(envelopes) == 1
    if not (_traced() or (is_single and first.traceparent)):
        with log_context(first):
            yield
        return
    attributes: dict[str, Any] = {
        **_messaging("process", "process"),
        names.MESSAGING_CONSUMER_GROUP: durable,
        names.WORKSPACE: first.workspace,
        names.DOCUMENT: first.subject or "",
        **(
            {names.MESSAGING_MESSAGE_ID: first.id}
            if is_single
            else {names.MESSAGING_BATCH_COUNT: len(envelopes)}
        ),
    }
    with (
        _tracer().start_as_current_span(
            f"process {LOG}",
            context=_context(first.traceparent) if is_single else Context(),
            kind=trace.SpanKind.CONSUMER,
            links=[] if is_single else _links(envelopes),
            attributes=attributes,
        ),
        log_context(first),
    ):
        yield


def _links(envelopes: Sequence[Envelope[Event]]) -> list[trace.Link]:
    """Return one link for each trace that the events belong to."""
    parents = dict.fromkeys(envelope.traceparent for envelope in envelopes if envelope.traceparent)
    return [
        trace.Link(trace.get_current_span(_context(parent)).get_span_context())
        for parent in parents
    ]


def _messaging(kind: str, operation: str) -> dict[str, Any]:
    return {
        names.MESSAGING_SYSTEM: "nats",
        names.MESSAGING_OPERATION_TYPE: kind,
        names.MESSAGING_OPERATION_NAME: operation,
        names.MESSAGING_DESTINATION: LOG,
        names.MESSAGING_DESTINATION_TEMPLATE: "kb.v1.{workspace}.{document}.{type}",
    }


@contextmanager
def server_span(span_name: str, traceparent: str | None) -> Generator[str]:
    """A server span over a request, a child of the caller's when it sends one; gives the id of the
    trace.

    Where no traces are written there is still an id, so that a request can be followed into the
    events it makes.
    """
    with _tracer().start_as_current_span(
        span_name, context=_context(traceparent), kind=trace.SpanKind.SERVER
    ) as span:
        if (parent := span.get_span_context()).is_valid:
            yield trace.format_trace_id(parent.trace_id)
            return
    sampled_flags = trace.TraceFlags(trace.TraceFlags.SAMPLED)
    # Zero is no id.
    context = trace.SpanContext(
        trace_id=1 + randbelow(2**128 - 1),
        span_id=1 + randbelow(2**64 - 1),
        is_remote=False,
        trace_flags=sampled_flags,
    )
    with trace.use_span(trace.NonRecordingSpan(context)):
        yield trace.format_trace_id(context.trace_id)


@contextmanager
def producer_span(count: int | None) -> Generator[None]:
    """A producer span over the publication of a handler's events; none for none. None: nobody knows
    yet how many.
    """
    if count == 0 or not _traced():
        yield
        return
    attributes = _messaging("send", "publish") | (
        {} if count is None else {names.MESSAGING_BATCH_COUNT: count}
    )
    with _tracer().start_as_current_span(
        f"publish {LOG}", kind=trace.SpanKind.PRODUCER, attributes=attributes
    ):
        yield
