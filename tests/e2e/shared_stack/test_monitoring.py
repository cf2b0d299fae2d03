"""A real Prometheus scrapes the running stack: every panel of the dashboard shows something, and no
tenant is named.
"""

import json
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from embedded.processes import free_port
from tests.support.prometheus import prometheus
from tests.support.stack import Stack, until

DEPLOY = Path(__file__).resolve().parents[3] / "deploy"
DASHBOARD = json.loads((DEPLOY / "grafana/dashboards/lightstream.json").read_text("utf-8"))
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]
TENANT = "tenant-9f31"


@contextmanager
def scraping(stack: Stack, folder: Path) -> Generator[httpx.Client]:
    """Our configuration of Prometheus, with the stack's ports as targets, every second."""
    config = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text("utf-8"))
    config["global"] = {
        "scrape_interval": "1s",
        "scrape_timeout": "1s",
        "evaluation_interval": "1s",
    }
    config["rule_files"] = [str(DEPLOY / "prometheus" / name) for name in config["rule_files"]]
    # The third asks the name server for a query service apart, of which there is none here.
    workers, query, _ = config["scrape_configs"]
    del query["authorization"]  # the stack is open
    for job, names in ((workers, ("chunker", "extractor", "merger", "indexer")), (query, ("api",))):
        job["static_configs"] = [
            {"targets": [f"127.0.0.1:{stack.state.ports[name]}" for name in names]}
        ]
    (folder / "prometheus.yml").write_text(json.dumps(config), "utf-8")
    port = free_port()
    with (folder / "prometheus.log").open("w") as log:
        process = subprocess.Popen(
            [
                prometheus().server,
                f"--config.file={folder}/prometheus.yml",
                f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", trust_env=False) as api:
            yield api
    finally:
        process.terminate()
        process.wait()


def asked(api: httpx.Client, path: str, **parameters: str) -> Any:
    """What Prometheus answers; nothing while it starts, when it refuses connections or answers
    503.
    """
    try:
        answer = api.get(path, params=parameters)
    except httpx.TransportError:
        return {}
    return (
        {}
        if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE
        else answer.json().get("data", {})
    )


@pytest.mark.nightly  # its files: tests/unit/deploy/test_monitoring.py
def test_a_real_prometheus_has_an_answer_to_every_query_of_the_dashboard(
    stack: Stack, tmp_path: Path
) -> None:
    stack.add({"watched.txt": "Ada Marlow keeps the log of Port Elm."}, TENANT)
    assert stack.settled(1, TENANT)["processed"] == 1
    with stack.client(TENANT) as client:
        assert (
            client.post("/query", json={"query": "Who keeps the log?", "mode": "mix"}).status_code
            == 200
        )
    with scraping(stack, tmp_path) as api:
        queries = [query.replace("$__rate_interval", "5m") for query in QUERIES]

        def empty() -> list[str]:
            return [
                query for query in queries if not asked(api, "/query", query=query).get("result")
            ]

        until(
            lambda: not empty(),
            lambda: f"{empty()}\n{(tmp_path / 'prometheus.log').read_text('utf-8')}",
        )
        targets = asked(api, "/targets")["activeTargets"]
        assert [target["health"] for target in targets] == ["up"] * 5, targets
        groups = asked(api, "/rules")["groups"]
        assert {rule.get("lastError", "") for group in groups for rule in group["rules"]} == {""}
        (documents,) = asked(api, "/query", query='max(lightstream_documents{status="processed"})')[
            "result"
        ]
        assert int(documents["value"][1]) >= 1
        for target in targets:
            assert TENANT not in httpx.get(target["scrapeUrl"], trust_env=False).text
            assert "watched" not in httpx.get(target["scrapeUrl"], trust_env=False).text
