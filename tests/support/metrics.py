"""Metrics of this process as Prometheus reads them, and spans kept in memory."""

from collections.abc import Iterable
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from runtime import telemetry
from runtime.metrics import exposition
from runtime.metrics.readings import Readings

# What is counted before is lost.
exposition.configure("tests")


async def counted(name: str, **labels: str) -> float:
    """The sum of this metric's series with these labels, as they are now."""
    return total((await exposition.exposed(Readings())).decode(), name, **labels)


def families(text: str) -> Iterable[Metric]:
    """What a scrape holds; the parser's own check of its form."""
    return text_string_to_metric_families(text)


def total(text: str, name: str, **labels: str) -> float:
    """The sum of the series of that name in a scrape."""
    # Only these lines: other tests of this process leave tens of thousands, which the parser takes
    # seconds for.
    lines = "\n".join(line for line in text.split("\n") if line.startswith(name))
    samples = (sample for family in families(lines) for sample in family.samples)
    return sum(s.value for s in samples if s.name == name and labels.items() <= s.labels.items())


def kept_spans(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Every span that ends from now on, until the test does."""
    spans = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))

    def tracer(*_: Any, **__: Any) -> trace.Tracer:
        return provider.get_tracer("tests")

    monkeypatch.setattr(trace, "get_tracer", tracer)
    monkeypatch.setattr(telemetry, "_tracer", tracer)
    return spans
