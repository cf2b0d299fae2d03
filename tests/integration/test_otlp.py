"""Metrics and traces by OTLP, switched on by the standard variables alone, as a collector receives
them.
"""

from pathlib import Path

from nats.js import JetStreamContext
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from runtime.bus.nats.log import NatsLog
from tests.support.events import added, sealed
from tests.support.nats_server import BusServer, until
from tests.support.served import served
from tests.support.services import service

WANTED = {"lightstream.handle", "lightstream.durable.pending", "lightstream.ready"}
"""Of what happened, and of what is read."""


class Collector:
    """What was sent, by metric and by span, each with the attributes of the last one."""

    def __init__(self) -> None:
        self.metrics, self.spans = dict[str, dict[str, str]](), dict[str, dict[str, str]]()
        self.services, self.keys = set[str](), set[str]()

    async def take_metrics(self, request: Request) -> Response:
        for of in ExportMetricsServiceRequest.FromString(await request.body()).resource_metrics:
            self.services.add(_attributes(of.resource.attributes)["service.name"])
            for metric in (metric for scope in of.scope_metrics for metric in scope.metrics):
                points = [
                    *metric.sum.data_points,
                    *metric.gauge.data_points,
                    *metric.histogram.data_points,
                ]
                self.metrics[metric.name] = {
                    name: v for at in points for name, v in _attributes(at.attributes).items()
                }
        self.keys.add(request.headers.get("x-key", ""))
        return Response()

    async def take_traces(self, request: Request) -> Response:
        for of in ExportTraceServiceRequest.FromString(await request.body()).resource_spans:
            self.services.add(_attributes(of.resource.attributes)["service.name"])
            self.spans |= {
                s.name: _attributes(s.attributes) for scope in of.scope_spans for s in scope.spans
            }
        return Response()


def _attributes(pairs: list[KeyValue]) -> dict[str, str]:
    return {pair.key: pair.value.string_value for pair in pairs}


async def test_metrics_and_spans_reach_a_collector(
    server: BusServer, jetstream: JetStreamContext, tmp_path: Path
) -> None:
    collector = Collector()
    routes = [
        Route("/v1/metrics", collector.take_metrics, methods=["POST"]),
        Route("/v1/traces", collector.take_traces, methods=["POST"]),
    ]
    (tmp_path / "headers").write_text("x-key=k0\n")
    async with served(Starlette(routes=routes)) as address:
        variables = {
            "NATS_URL": server.url,
            "OTEL_TRACES_EXPORTER": "otlp",
            "OTEL_METRICS_EXPORTER": "otlp",
            "OTEL_EXPORTER_OTLP_ENDPOINT": address,
            "OTEL_EXPORTER_OTLP_HEADERS_FILE": str(tmp_path / "headers"),
            "OTEL_METRIC_EXPORT_INTERVAL": "200",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }
        async with service("chunker", tmp_path, **variables):
            await NatsLog(jetstream).publish(sealed(added("d", "Ada met Bob."), id="begin"))

            async def arrived() -> bool:
                outcome = collector.metrics.get("lightstream.events.handled", {}).get("outcome")
                return (
                    outcome == "done"
                    and collector.metrics.keys() >= WANTED
                    and "process KB_EVENTS" in collector.spans
                )

            await until(arrived, "what was counted and read, and the span of the handler")
    assert collector.services == {"lightstream-chunker"}
    assert collector.keys == {"k0"}
    assert collector.spans["process KB_EVENTS"]["messaging.consumer.group.name"] == "chunker"
    labels = {label for of in collector.metrics.values() for label in of}
    assert not labels & {"lightstream.workspace", "lightstream.document"}
