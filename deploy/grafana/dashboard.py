"""Writes dashboards/lightstream.json from the tables below: `python deploy/grafana/dashboard.py`.

Grafana's own form of a dashboard is a thousand lines that nobody reviews; a panel here is a title,
a unit and its queries. A test compares the file with what this writes, and asks a real Prometheus
every query.
"""

import json
from pathlib import Path

FILE = Path(__file__).parent / "dashboards" / "lightstream.json"
SOURCE = {"type": "prometheus", "uid": "${DS_PROMETHEUS}"}
WIDTH, HEIGHT, PER_ROW = 8, 8, 3

Panel = tuple[str, str, dict[str, str]]
"""Title, unit of Grafana, and queries by legend."""


def _rate(metric: str, by: str, where: str = "") -> str:
    return f"sum by ({by}) (rate({metric}{{{where}}}[$__rate_interval]))"


def _quantile(quantile: float, metric: str, by: str, where: str = "") -> str:
    return f"histogram_quantile({quantile}, {_rate(f'{metric}_bucket', f'{by}, le', where)})"


# A deployment without a language model has no calls of one: its panels show 0 and not "No data".
def _or_none(query: str) -> str:
    return f"{query} or on() vector(0)"


LOOKUPS = _rate("lightstream_cache_lookups_total", "cache")
HITS = _rate("lightstream_cache_lookups_total", "cache", 'outcome="hit"')
HANDLED, REQUESTS = "lightstream_events_handled_total", "http_server_request_duration_seconds"
STAGES = "lightstream_query_seconds"
OURS = 'job=~"lightstream.*"'
PROCESS = "{{job}} {{instance}}"
"""The instances of `lightstream-questions` are addresses, which say nothing by themselves."""

ROWS: dict[str, list[Panel]] = {
    "Now": [
        ("Services ready", "none", {"{{service}}": "min by (service) (lightstream_ready)"}),
        ("Documents by status", "none", {"{{status}}": "max by (status) (lightstream_documents)"}),
        (
            "Events behind",
            "none",
            {"{{projection}}": "max by (projection) (lightstream_projection_lag_events)"},
        ),
        ("Dead letters", "none", {"{{durable}}": "max by (durable) (lightstream_dead_letters)"}),
        (
            "Providers paused",
            "none",
            {"{{provider}}": _or_none("max by (provider) (lightstream_provider_paused)")},
        ),
        ("Log writable", "none", {"writable": "min(lightstream_log_writable)"}),
    ],
    "Pipeline": [
        (
            "Messages that wait",
            "none",
            {"{{durable}}": "max by (durable) (lightstream_durable_pending)"},
        ),
        (
            "Delivered, not acknowledged",
            "none",
            {
                "{{durable}}": "max by (durable) (lightstream_durable_ack_pending)",
                "{{durable}} again": "max by (durable) (lightstream_durable_redelivered)",
            },
        ),
        ("Deliveries done", "ops", {"{{durable}}": _rate(HANDLED, "durable", 'outcome="done"')}),
        (
            "Deliveries that failed",
            "ops",
            {
                "{{durable}} {{outcome}}": _or_none(
                    _rate(HANDLED, "durable, outcome", 'outcome!="done"')
                ),
            },
        ),
        (
            "Handler, one call: median",
            "s",
            {"{{durable}}": _quantile(0.5, "lightstream_handle_seconds", "durable")},
        ),
        (
            "Handler, one call: 95 %",
            "s",
            {"{{durable}}": _quantile(0.95, "lightstream_handle_seconds", "durable")},
        ),
    ],
    "Models": [
        (
            "Calls",
            "ops",
            {
                "{{role}} {{outcome}}": _or_none(
                    _rate("lightstream_model_call_seconds_count", "role, outcome")
                ),
            },
        ),
        (
            "One call: 95 %",
            "s",
            {
                "{{role}} {{model}}": _or_none(
                    _quantile(0.95, "lightstream_model_call_seconds", "role, model")
                ),
            },
        ),
        (
            "Tokens",
            "none",
            {"{{role}} {{kind}}": _or_none(_rate("lightstream_model_tokens_total", "role, kind"))},
        ),
        (
            "Pauses of providers",
            "none",
            {
                "{{provider}}": _or_none(
                    "sum by (provider) (increase(lightstream_provider_pauses_total[1h]))"
                ),
            },
        ),
        ("Cache hits", "percentunit", {"{{cache}}": f"({HITS} or 0 * {LOOKUPS}) / {LOOKUPS}"}),
    ],
    "Questions": [
        (
            "Questions",
            "ops",
            {"{{mode}}": _rate("lightstream_query_seconds_count", "mode", 'stage="total"')},
        ),
        (
            "Until the answer: 95 %",
            "s",
            {"{{mode}}": _quantile(0.95, STAGES, "mode", 'stage="total"')},
        ),
        (
            "Mean time of stages",
            "s",
            {
                "{{stage}}": (
                    f"{_rate(f'{STAGES}_sum', 'stage')} / {_rate(f'{STAGES}_count', 'stage')}"
                ),
            },
        ),
        (
            "Requests by status",
            "ops",
            {
                "{{http_response_status_code}}": _rate(
                    f"{REQUESTS}_count", "http_response_status_code"
                ),
            },
        ),
        (
            "Requests: 95 % by route",
            "s",
            {
                "{{http_route}}": _quantile(0.95, REQUESTS, "http_route"),
            },
        ),
        (
            "Requests that end with a 5xx",
            "percentunit",
            {"5xx": "lightstream:query_errors:ratio5m or on() vector(0)"},
        ),
    ],
    "Bus and processes": [
        (
            "Size of streams",
            "bytes",
            {"{{stream}}": "max by (stream) (lightstream_stream_size_bytes)"},
        ),
        (
            "Messages of streams",
            "none",
            {"{{stream}}": "max by (stream) (lightstream_stream_messages)"},
        ),
        (
            "Events behind, by partition of the log",
            "none",
            {
                "{{stream}} {{projection}}": (
                    "max by (stream, projection) (lightstream_partition_lag_events)"
                )
            },
        ),
        (
            "Events written",
            "ops",
            {"events": "max(rate(lightstream_log_sequence[$__rate_interval]))"},
        ),
        ("Generations", "none", {"{{projection}}": "max by (projection) (lightstream_generation)"}),
        (
            "CPU",
            "percentunit",
            {PROCESS: "rate(process_cpu_seconds_total{" + OURS + "}[$__rate_interval])"},
        ),
        ("Memory", "bytes", {PROCESS: "process_resident_memory_bytes{" + OURS + "}"}),
    ],
}


def dashboard() -> dict[str, object]:
    """Return the dashboard as Grafana reads it."""
    panels: list[dict[str, object]] = []
    y = 0
    for row, of_row in ROWS.items():
        panels.append(
            {
                "type": "row",
                "title": row,
                "collapsed": False,
                "panels": [],
                "gridPos": _place(0, y, 24, 1),
            }
        )
        y += 1
        for number, panel in enumerate(of_row):
            down, right = divmod(number, PER_ROW)
            panels.append(_panel(*panel, _place(right * WIDTH, y + down * HEIGHT, WIDTH, HEIGHT)))
        y += -(-len(of_row) // PER_ROW) * HEIGHT
    for number, panel in enumerate(panels, 1):
        panel["id"] = number
    source = {
        "name": "DS_PROMETHEUS",
        "label": "Prometheus",
        "type": "datasource",
        "query": "prometheus",
    }
    return {
        "uid": "lightstream",
        "title": "Lightstream",
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "tags": ["lightstream"],
        "templating": {"list": [source]},
        "panels": panels,
    }


def _panel(
    title: str, unit: str, queries: dict[str, str], place: dict[str, int]
) -> dict[str, object]:
    targets = [
        {"refId": chr(65 + number), "expr": query, "legendFormat": legend, "datasource": SOURCE}
        for number, (legend, query) in enumerate(queries.items())
    ]
    defaults = {"unit": unit, "min": 0, "custom": {"drawStyle": "line", "fillOpacity": 10}}
    return {
        "type": "timeseries",
        "title": title,
        "datasource": SOURCE,
        "targets": targets,
        "gridPos": place,
        "fieldConfig": {"defaults": defaults, "overrides": []},
    }


def _place(x: int, y: int, width: int, height: int) -> dict[str, int]:
    return {"x": x, "y": y, "w": width, "h": height}


if __name__ == "__main__":
    FILE.write_text(json.dumps(dashboard(), indent=1) + "\n", "utf-8")
