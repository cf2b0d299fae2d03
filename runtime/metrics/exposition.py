"""Keeps count for Prometheus, which reads `/metrics`, and sends the same by OTLP where the standard
variables ask.
"""

import asyncio
import os
from functools import partial

from opentelemetry import metrics
from opentelemetry.exporter.prometheus import PrometheusMetricReader
from opentelemetry.sdk.metrics import AlwaysOffExemplarFilter, MeterProvider
from opentelemetry.sdk.metrics.export import MetricReader, PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from runtime.metrics import instruments
from runtime.metrics.readings import Readings
from runtime.processes.worker import is_worker
from runtime.semantic_conventions import SERVICE, SERVICE_INSTANCE
from runtime.semantic_conventions import VERSION as VERSION_LABEL
from runtime.telemetry import otlp_headers
from runtime.version import VERSION

PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

EXPORT_SECONDS = 15.0
"""Between two readings for OTLP, which nobody asks for."""

_registry = CollectorRegistry()


def configure(service: str) -> None:
    """Begin to count; repeats do nothing. `OTEL_SDK_DISABLED=true` counts nothing, the process's
    own figures apart.

    `OTEL_METRICS_EXPORTER=otlp` also sends, with the other standard variables.
    """
    if isinstance(metrics.get_meter_provider(), MeterProvider):
        return
    reader = partial(
        PrometheusMetricReader,
        disable_target_info=True,
        scope_info_enabled=False,
        registry=_registry,
    )
    resource = {"service.name": f"lightstream-{service}", "service.version": VERSION}
    if is_worker():
        # Each scrape reaches another one of several processes: without this a counter would seem to
        # go back and forth.
        resource[SERVICE_INSTANCE] = str(os.getpid())
        readers: list[MetricReader] = [reader(resource_attribute_filter=SERVICE_INSTANCE.__eq__)]
    else:
        ProcessCollector(registry=_registry)
        readers = [reader()]
    if sends():
        # The exporter brings requests and protobuf, which nobody pays for who does not send.
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter  # noqa: PLC0415

        readers.append(PeriodicExportingMetricReader(OTLPMetricExporter(headers=otlp_headers())))
    provider = MeterProvider(
        readers, Resource.create(resource), exemplar_filter=AlwaysOffExemplarFilter()
    )
    metrics.set_meter_provider(provider)
    instruments.build_info.set(1, {SERVICE: service, VERSION_LABEL: VERSION})


def sends() -> bool:
    """Return whether metrics are sent by OTLP, too."""
    return os.environ.get("OTEL_METRICS_EXPORTER", "none").lower() == "otlp"


async def exposed(readings: Readings) -> bytes:
    """Return all metrics of this process as text, with new readings."""
    await readings.refresh()
    return generate_latest(_registry)


async def keep_reading(readings: Readings) -> None:
    """Read for ever where metrics are sent; else return."""
    while sends():
        await readings.refresh()
        await asyncio.sleep(EXPORT_SECONDS)


def route(readings: Readings) -> Route:
    """Return the route `/metrics`, for whoever reaches the port."""

    async def scrape(_: Request) -> Response:
        return Response(await exposed(readings), media_type=CONTENT_TYPE)

    return Route(PATH, scrape)
