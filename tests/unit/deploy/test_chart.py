"""The Helm chart, by its committed renders: valid for Kubernetes, closed, without a secret, fit for
the services.
"""

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml
from kubernetes_validate import utils

from contracts.partitions import MAX_PARTITIONS, stream_name
from contracts.registry import service_of
from contracts.topology import CONSUMERS, DAY, SHORTEST_DUPLICATE_WINDOW
from operations import bus_accounts
from runtime.broker import GRACE
from tests.architecture.sources import REPOSITORY, SERVICES
from tests.support import chart
from tests.support.chart_resources import container, containers, of_kind
from tests.unit.deploy.test_compose_settings import INSTEAD, read_by
from tests.unit.deploy.test_deploy import ALL, OPENED_WITH, environment, opened

SCHEMAS = Path(__file__).parent / "resources"
VALUES: dict[str, Any] = yaml.safe_load((chart.CHART / "values.yaml").read_text("utf-8"))
SCHEMA: dict[str, Any] = json.loads((chart.CHART / "values.schema.json").read_text("utf-8"))
OFFERED_KEYS = {
    name
    for part in ("models", "access")
    for name in SCHEMA["properties"][part]["properties"]["keys"]["items"]["enum"]
}
"""Variables with secrets that the chart can be told of."""

PARTITIONS = 3
"""Those of the log, in the render of everything."""

OF_OTHERS = {"ScaledObject", "PodMonitor"}
"""Kinds that come with KEDA and with the Prometheus operator."""


def over(defaults: Any, overrides: Any) -> Any:
    """Values as helm lays them over others."""
    if not isinstance(defaults, dict) or not isinstance(overrides, dict):
        return overrides
    names = [*defaults, *(name for name in overrides if name not in defaults)]
    return {
        name: over(defaults.get(name), overrides[name]) if name in overrides else defaults[name]
        for name in names
    }


def accepted(**overrides: Any) -> bool:
    return jsonschema.Draft7Validator(SCHEMA).is_valid(over(VALUES, overrides))


@pytest.mark.parametrize("case", chart.NAMES)
def test_a_render_is_of_this_chart(case: str) -> None:
    assert chart.made_from(case) in chart.golden(case), "make chart"


@pytest.mark.parametrize("case", chart.NAMES)
def test_helm_makes_the_same_of_it(case: str) -> None:
    program = chart.helm()
    if program is None:
        pytest.skip("no helm here: the committed render is checked, and that it is of this chart")
    chart.lint(program, case)
    assert chart.rendered(program, case) == chart.golden(case)


@pytest.fixture(autouse=True, scope="module")
def schemas_read_once() -> Iterator[None]:
    """The package reads all definitions anew for each resource: 8 MB, which is a second."""
    read = utils.schema_contents
    utils.schema_contents = lru_cache(read)
    yield
    utils.schema_contents = read


@pytest.mark.parametrize("version", ["1.28", "1.37"])
def test_kubernetes_knows_every_field(version: str) -> None:
    for case in chart.NAMES:
        for resource in chart.resources(case):
            if resource["kind"] not in OF_OTHERS:
                kubernetes_validate.validate(resource, version, strict=True)


def test_resources_of_others_are_what_their_definitions_ask_for() -> None:
    result = [
        resource
        for case in chart.NAMES
        for resource in chart.resources(case)
        if resource["kind"] in OF_OTHERS
    ]
    assert {resource["kind"] for resource in result} == OF_OTHERS
    for resource in result:
        jsonschema.validate(
            resource, json.loads((SCHEMAS / f"{resource['kind']}.json").read_text("utf-8"))
        )


def test_a_field_with_a_slip_is_found() -> None:
    """The ground of both tests above."""
    deployment = of_kind("default", "Deployment")["kb-lightstream-query"]
    deployment["spec"]["template"]["spec"]["containers"][0]["imagePullPolcy"] = "Always"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, "1.37", strict=True)
    scaled_object = of_kind("everything", "ScaledObject")["kb-merger"]
    scaled_object["spec"]["minReplicas"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(
            scaled_object, json.loads((SCHEMAS / "ScaledObject.json").read_text("utf-8"))
        )


def test_the_values_of_every_case_are_accepted_and_slips_are_not() -> None:
    assert accepted()
    for case in chart.NAMES:
        assert accepted(
            **(yaml.safe_load((chart.CASES / f"{case}.values.yaml").read_text("utf-8")) or {})
        )
    assert accepted(settings={"LLM_BASE_URL": "https://models.example/v1"})
    assert not accepted(settings={"LLM_BASEURL": "https://models.example/v1"})
    assert not accepted(settings={"LLM_API_KEY": "secret"})
    assert not accepted(graph={"uri": "bolt://neo4j:secret@neo4j:7687"})
    assert not accepted(vectors={"uri": "http://root:secret@milvus:19530"})
    assert accepted(bus={"partitions": MAX_PARTITIONS})
    assert not accepted(bus={"partitions": 0})
    assert not accepted(bus={"partitions": MAX_PARTITIONS + 1})
    assert accepted(bus={"duplicateWindow": int(DAY)})
    assert not accepted(bus={"duplicateWindow": int(DAY) + 1})
    assert not accepted(bus={"duplicateWindow": int(SHORTEST_DUPLICATE_WINDOW) - 1})
    assert not accepted(bus={"url": "nats://user:secret@nats:4222"})
    assert not accepted(models={"existingSecret": "models", "keys": ["LLM_APIKEY"]})
    assert not accepted(access={"existingSecret": "access", "keys": []})
    assert not accepted(service={"chunker": {}})
    assert not accepted(documents={"existingSecret": ""})


def test_settings_are_those_that_docker_compose_passes_on_and_the_documentation_names() -> None:
    setting_names = set(SCHEMA["properties"]["settings"]["properties"])
    assert setting_names == set(chart.settings()), "make chart, which needs no helm for this"
    documented_names = set(
        re.findall(
            r"`([A-Z][A-Z0-9_]+)`", (REPOSITORY / "docs/configuration.md").read_text("utf-8")
        )
    )
    assert {
        name for name in setting_names if not name.startswith("OTEL_EXPORTER_OTLP_P")
    } - documented_names <= {"OTEL_RESOURCE_ATTRIBUTES"}


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_told_where_everything_is_that_it_opens_and_nothing_else(service: str) -> None:
    env = {variable["name"].removesuffix("_FILE") for variable in container(service)["env"]}
    env -= {"NATS_URL", "NATS_API_PREFIX", "SSL_CERT", "DRAIN_SECONDS"}
    env -= {"WEBHOOK_SENDER", "FIGURE_DESCRIBER"}
    stores = set[str]().union(*(OPENED_WITH[name] for name in opened(service)))
    needed_names = {
        name for name in stores if name.startswith(("DOCUMENTS_", "MONGO_", "NEO4J_", "MILVUS_"))
    }
    # Of keys those that docker-compose.yml gives it.
    keys = {
        name.removesuffix("_FILE") for name, value in environment(service).items() if value
    } & OFFERED_KEYS
    assert env == (needed_names - {"MILVUS_INDEX_TYPE"}) | keys


@pytest.mark.parametrize("service", SERVICES)
def test_every_setting_of_a_service_can_be_given(service: str) -> None:
    offered_names = set(SCHEMA["properties"]["settings"]["properties"])
    own_names = {variable["name"] for variable in container(service)["env"]}
    own_names |= {name.removesuffix("_FILE") for name in own_names}
    missing_names = (
        {name for name in read_by(service) if not chart.SECRET.search(name)}
        - offered_names
        - own_names
    )
    assert missing_names <= {"HOST", "PORT", *INSTEAD}


def test_a_service_is_asked_for_its_health_and_ends_in_good_order() -> None:
    for service in SERVICES:
        result = container(service)
        assert result["command"] == ALL[service]["command"]
        assert result["readinessProbe"]["httpGet"]["path"] == "/health/ready"
        assert {
            result[probe]["httpGet"]["path"] for probe in ("startupProbe", "livenessProbe")
        } == {"/health/live"}
        pod = of_kind("default", "Deployment")[f"kb-lightstream-{service}"]["spec"]["template"][
            "spec"
        ]
        drain = next(
            float(variable["value"])
            for variable in container(service)["env"]
            if variable["name"] == "DRAIN_SECONDS"
        )
        assert pod["terminationGracePeriodSeconds"] > drain + GRACE
    dockerfile = (REPOSITORY / "deploy/Dockerfile").read_text("utf-8")
    assert f"PORT={container('query')['ports'][0]['containerPort']}" in dockerfile
    assert "HOST=0.0.0.0" in dockerfile


def test_workers_are_scaled_by_the_lag_of_their_own_consumers() -> None:
    scaled_objects = of_kind("everything", "ScaledObject")
    assert set(scaled_objects) == {f"kb-{name}" for name in SERVICES if name != "query"}
    for name, scaled_object in scaled_objects.items():
        triggers = [
            result["metadata"]
            for result in scaled_object["spec"]["triggers"]
            if result["type"] == "nats-jetstream"
        ]
        durables = [
            durable
            for durable in CONSUMERS
            if service_of(durable) == name.removeprefix("kb-") and durable.name != "chunker-figures"
        ]
        assert [(trigger["consumer"], trigger["stream"]) for trigger in triggers] == [
            (durable.name, stream_name(partition))
            for durable in durables
            for partition in range(PARTITIONS)
        ]
        assert {trigger["account"] for trigger in triggers} == {bus_accounts.ACCOUNT}
        # KEDA reads text only.
        assert all(isinstance(value, str) for trigger in triggers for value in trigger.values())
    for name, deployment in of_kind("everything", "Deployment").items():
        has_replicas = name in ("kb-operator", "kb-intake", "kb-webhooks", "kb-figures")
        assert ("replicas" in deployment["spec"]) == has_replicas, "two would set it"


def test_streams_and_stores_are_prepared_before_anything_starts() -> None:
    (job,) = of_kind("default", "Job").values()
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    steps = [step["command"] for step in containers(job["spec"]["template"]["spec"])]
    assert steps == [
        ["lightstream", "topology", "apply", "--replicas", "3"],
        ["lightstream", "stores", "apply"],
    ]
    job_of_partitions = of_kind("everything", "Job")["kb-topology"]
    assert containers(job_of_partitions["spec"]["template"]["spec"])[0]["command"] == [
        *("lightstream", "topology", "apply", "--partitions", str(PARTITIONS)),
        *("--duplicate-window", "600"),
    ]
    # What is not there before the first release: a job that asks for it would wait for ever.
    job_text = yaml.safe_dump(job["spec"])
    assert "configMapRef" not in job_text
    assert "serviceAccountName" not in job_text


def test_the_chart_has_the_project_s_version() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    description = yaml.safe_load((chart.CHART / "Chart.yaml").read_text("utf-8"))
    assert description["version"] == description["appVersion"] == project["version"]


def test_helm_refuses_what_the_schema_refuses() -> None:
    program = chart.helm()
    if program is None:
        pytest.skip("no helm here: the schema itself is tested above")
    with pytest.raises(subprocess.CalledProcessError, match="non-zero") as error:
        chart.run(program, "template", "kb", str(chart.CHART), "--set", "settings.LLM_BASEURL=x")
    assert "LLM_BASEURL" in error.value.stderr
