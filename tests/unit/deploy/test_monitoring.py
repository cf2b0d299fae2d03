"""Dashboards, rules and alerts: Prometheus' own tool checks them, and what they name exists."""

import importlib.util
import json
import re
import subprocess
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from contracts.events import Stage
from runtime import semantic_conventions
from tests.support.prometheus import prometheus
from tests.unit.docs.test_docs import HEADING, anchor

ROOT = Path(__file__).resolve().parents[3]
PROMETHEUS = ROOT / "deploy/prometheus"
GRAFANA = ROOT / "deploy/grafana"
DASHBOARD = json.loads((GRAFANA / "dashboards/lightstream.json").read_text("utf-8"))
ALERTS = yaml.safe_load((PROMETHEUS / "alerts.yml").read_text("utf-8"))["groups"][0]["rules"]
RULES = yaml.safe_load((PROMETHEUS / "rules.yml").read_text("utf-8"))["groups"][0]["rules"]
QUERIES = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]

METRIC = re.compile(r"\b(?:lightstream[_:]|http_server_)[a-z0-9_:]+")
SUFFIXES = ("_total", "_seconds", "_bytes", "_count", "_bucket", "_sum")


def promtool(*arguments: str) -> None:
    process = subprocess.run(
        [prometheus().promtool, *arguments],
        cwd=PROMETHEUS,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, f"{process.stdout}\n{process.stderr}"


def stem(metric: str) -> str:
    """The name of a metric without what Prometheus' format appends to it."""
    for suffix in SUFFIXES[3:] + SUFFIXES[:3]:
        metric = metric.removesuffix(suffix)
    return metric


def known() -> set[str]:
    """The metrics of the module that names them, and those that rules record."""
    of_module = {
        value.replace(".", "_")
        for name, value in vars(semantic_conventions).items()
        if name.isupper() and value.startswith(("lightstream.", "http.server."))
    }
    return of_module | {rule["record"] for rule in RULES}


def test_promtool_takes_the_configuration_and_the_rules() -> None:
    promtool("check", "config", "--syntax-only", "prometheus.yml")
    promtool("check", "rules", "rules.yml", "alerts.yml")


def test_each_alert_fires_when_it_should_and_a_bulk_load_raises_none() -> None:
    promtool("test", "rules", "tests.yml")
    tests = yaml.safe_load((PROMETHEUS / "tests.yml").read_text("utf-8"))["tests"]
    firing = {
        alert_test["alertname"]
        for test in tests
        for alert_test in test["alert_rule_test"]
        if alert_test.get("exp_alerts")
    }
    quiet = {
        alert_test["alertname"]
        for test in tests
        for alert_test in test["alert_rule_test"]
        if not alert_test.get("exp_alerts")
    }
    assert firing == quiet == {alert["alert"] for alert in ALERTS}


def test_each_alert_leads_to_a_section_that_says_what_to_do() -> None:
    for alert in ALERTS:
        page, _, fragment = alert["annotations"]["runbook_url"].partition("#")
        assert fragment == alert["alert"].lower()
        assert fragment in {
            anchor(result) for result in HEADING.findall((ROOT / page).read_text("utf-8"))
        }


@pytest.mark.parametrize("query", [*QUERIES, *(rule["expr"] for rule in (*RULES, *ALERTS))])
def test_every_query_names_metrics_that_exist(query: str) -> None:
    metrics = METRIC.findall(query)
    assert metrics or "up{" in query or "process_" in query or query.startswith("vector")
    assert {
        metric for metric in metrics if stem(metric) not in known() and metric not in known()
    } == set()


def test_the_dashboard_is_what_its_tables_say() -> None:
    spec = importlib.util.spec_from_file_location("dashboard", GRAFANA / "dashboard.py")
    assert spec
    assert spec.loader
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.dashboard() == DASHBOARD


def test_every_metric_is_documented() -> None:
    page = (ROOT / "docs/observability.md").read_text("utf-8")
    of_module = known() - {rule["record"] for rule in RULES}
    # Attributes of spans have dots; the page shows metrics as Prometheus does.
    spans = {"lightstream_workspace", "lightstream_document", "lightstream_query_mode"}
    full_page = page.replace("`_ack_pending`", "`lightstream_durable_ack_pending`").replace(
        "`_redelivered`", "`lightstream_durable_redelivered`"
    )
    assert {name for name in of_module - spans if name not in full_page} == set()


def test_what_is_mounted_into_the_containers_is_there() -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
    watching = [
        service
        for service in compose["services"].values()
        if service.get("profiles") == ["monitoring"]
    ]
    assert len(watching) == 2
    mounts = [mount.split(":") for service in watching for mount in service["volumes"]]
    places = {inside: ROOT / outside for outside, inside, *_ in mounts if outside.startswith("./")}
    assert [folder for folder in places.values() if not folder.is_dir()] == []
    assert (places["/etc/prometheus"] / "prometheus.yml").is_file()
    provider = yaml.safe_load(
        (GRAFANA / "provisioning/dashboards/lightstream.yml").read_text("utf-8")
    )
    assert (places[provider["providers"][0]["options"]["path"]] / "lightstream.json").is_file()


def test_prometheus_scrapes_each_service_of_docker_compose() -> None:
    config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text("utf-8"))
    jobs = {job["job_name"]: job for job in config["scrape_configs"]}
    # A name that has an address with the profile `apart` alone is no target that is down without.
    apart = jobs.pop("lightstream-questions")["dns_sd_configs"]
    targets = [target for job in jobs.values() for target in job["static_configs"][0]["targets"]]
    port = re.search(r"\bPORT=(\d+)", (ROOT / "deploy/Dockerfile").read_text("utf-8"))
    assert port
    assert {target.partition(":")[0] for target in targets} == set(get_args(Stage))
    assert {target.partition(":")[2] for target in targets} == {port[1]}
    assert apart == [{"names": ["questions"], "type": "A", "port": int(port[1])}]


def test_the_page_names_each_job_and_the_dashboard_tells_processes_of_jobs_apart() -> None:
    config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text("utf-8"))
    page = (ROOT / "docs/observability.md").read_text("utf-8")
    jobs = [job["job_name"] for job in config["scrape_configs"]]
    assert "lightstream-questions" in jobs
    assert [job for job in jobs if f"`{job}`" not in page] == []
    targets = [target for panel in DASHBOARD["panels"] for target in panel.get("targets", ())]
    of_processes = [target for target in targets if "process_" in target["expr"]]
    assert len(of_processes) == 2
    assert all("{{job}}" in target["legendFormat"] for target in of_processes)
