"""The Helm chart, by its committed renders: valid for Kubernetes, closed, without a secret, fit for
the services.
"""

import json
import os
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

from contracts.registry import service_of
from contracts.topology import CONSUMERS
from operations import bus_accounts
from operations.settings import CommandSettings
from runtime.broker import GRACE
from runtime.bus.nats.addresses import TlsFiles, parse_bus_address
from runtime.settings import secret_files
from services.gateway.auth.settings import AccessSettings
from services.gateway.settings import GatewaySettings
from services.query.settings import QuerySettings
from tests.architecture.sources import REPOSITORY, SERVICES
from tests.support import chart
from tests.unit.deploy.test_compose_settings import read_by
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

OF_OTHERS = {"ScaledObject", "PodMonitor"}
"""Kinds that come with KEDA and with the Prometheus operator."""


def of_kind(case: str, *kinds: str) -> dict[str, dict[str, Any]]:
    return {
        each["metadata"]["name"]: each for each in chart.resources(case) if each["kind"] in kinds
    }


def pods(case: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each pod that a render asks for, by the name of what asks for it."""
    for name, each in of_kind(case, "Deployment", "Job", "Pod").items():
        yield name, each["spec"] if each["kind"] == "Pod" else each["spec"]["template"]["spec"]


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod.get("initContainers", ()), *pod["containers"]]


def container(component: str, case: str = "everything") -> dict[str, Any]:
    result = of_kind(case, "Deployment")[f"kb-{component}"]
    return result["spec"]["template"]["spec"]["containers"][0]


def secrets(pod: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The Secret and its key behind each file of secrets that a pod has."""
    (volume,) = [one["projected"] for one in pod["volumes"] if one["name"] == "secrets"]
    assert volume["defaultMode"] == 0o440
    sources = [one["secret"] for one in volume["sources"]]
    return {item["path"]: (one["name"], item["key"]) for one in sources for item in one["items"]}


def over(defaults: Any, given: Any) -> Any:
    """Values as helm lays them over others."""
    if not isinstance(defaults, dict) or not isinstance(given, dict):
        return given
    names = [*defaults, *(name for name in given if name not in defaults)]
    return {
        name: over(defaults.get(name), given[name]) if name in given else defaults[name]
        for name in names
    }


def accepted(**given: Any) -> bool:
    return jsonschema.Draft7Validator(SCHEMA).is_valid(over(VALUES, given))


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
        for each in chart.resources(case):
            if each["kind"] not in OF_OTHERS:
                kubernetes_validate.validate(each, version, strict=True)


def test_resources_of_others_are_what_their_definitions_ask_for() -> None:
    result = [
        each for case in chart.NAMES for each in chart.resources(case) if each["kind"] in OF_OTHERS
    ]
    assert {each["kind"] for each in result} == OF_OTHERS
    for each in result:
        jsonschema.validate(each, json.loads((SCHEMAS / f"{each['kind']}.json").read_text("utf-8")))


def test_a_field_with_a_slip_is_found() -> None:
    """The ground of both tests above."""
    deployment = of_kind("default", "Deployment")["kb-lightstream-query"]
    deployment["spec"]["template"]["spec"]["containers"][0]["imagePullPolcy"] = "Always"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(deployment, "1.37", strict=True)
    scaled = of_kind("everything", "ScaledObject")["kb-merger"]
    scaled["spec"]["minReplicas"] = 1
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(scaled, json.loads((SCHEMAS / "ScaledObject.json").read_text("utf-8")))


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
    assert not accepted(bus={"url": "nats://user:secret@nats:4222"})
    assert not accepted(models={"existingSecret": "models", "keys": ["LLM_APIKEY"]})
    assert not accepted(access={"existingSecret": "access", "keys": []})
    assert not accepted(service={"chunker": {}})
    assert not accepted(documents={"existingSecret": ""})


def test_settings_are_those_that_docker_compose_passes_on_and_the_documentation_names() -> None:
    offered = set(SCHEMA["properties"]["settings"]["properties"])
    assert offered == set(chart.settings()), "make chart, which needs no helm for this"
    documented = set(
        re.findall(
            r"`([A-Z][A-Z0-9_]+)`", (REPOSITORY / "docs/configuration.md").read_text("utf-8")
        )
    )
    assert {
        name for name in offered if not name.startswith("OTEL_EXPORTER_OTLP_P")
    } - documented <= {"OTEL_RESOURCE_ATTRIBUTES"}


@pytest.mark.parametrize("service", SERVICES)
def test_a_service_is_told_where_everything_is_that_it_opens_and_nothing_else(service: str) -> None:
    env = {each["name"].removesuffix("_FILE") for each in container(service)["env"]}
    env -= {"NATS_URL", "NATS_API_PREFIX", "SSL_CERT", "DRAIN_SECONDS", "WEBHOOK_SENDER"}
    stores = set[str]().union(*(OPENED_WITH[name] for name in opened(service)))
    needed = {
        name for name in stores if name.startswith(("DOCUMENTS_", "MONGO_", "NEO4J_", "MILVUS_"))
    }
    # Of keys those that docker-compose.yml gives it.
    keys = {
        name.removesuffix("_FILE") for name, value in environment(service).items() if value
    } & OFFERED_KEYS
    assert env == (needed - {"MILVUS_INDEX_TYPE"}) | keys


@pytest.mark.parametrize("service", SERVICES)
def test_every_setting_of_a_service_can_be_given(service: str) -> None:
    offered = set(SCHEMA["properties"]["settings"]["properties"])
    own = {each["name"] for each in container(service)["env"]}
    own |= {name.removesuffix("_FILE") for name in own}
    missing = {name for name in read_by(service) if not chart.SECRET.search(name)} - offered - own
    assert missing <= {"HOST", "PORT", "MONGO_URI"}


def test_each_program_is_a_user_of_the_bus_with_its_own_password() -> None:
    users = {user.name for user in bus_accounts.USERS}
    for name, pod in pods("everything"):
        secret, user = secrets(pod)["nats_url"]
        assert (secret, user in users) == ("lightstream-bus", True)
        for each in containers(pod):
            env = {variable["name"]: variable["value"] for variable in each["env"]}
            narrow = each["name"] in (*SERVICES, "webhooks")
            assert user == (each["name"] if narrow else "operator"), name
            wanted = bus_accounts.IMPORTED_API if narrow else bus_accounts.API
            assert env["NATS_API_PREFIX"] == wanted


def test_a_bus_with_tls_is_reached_with_the_files_of_its_secret() -> None:
    for _, pod in pods("everything"):
        assert {"name": "bus", "secret": {"secretName": "bus-tls", "defaultMode": 0o440}} in pod[
            "volumes"
        ]
        for each in containers(pod):
            assert {"name": "bus", "mountPath": "/run/bus", "readOnly": True} in each[
                "volumeMounts"
            ]
    assert not [
        pod for _, pod in pods("default") if "bus" in {volume["name"] for volume in pod["volumes"]}
    ]
    # What values.yaml says of an address is one.
    said = re.search(r"tls://…(\S+)", (chart.CHART / "values.yaml").read_text("utf-8"))
    assert said
    address = parse_bus_address(f"tls://chunker:k1@nats:4222{said[1]}")
    assert address.tls == TlsFiles("/run/bus/ca.crt", "/run/bus/tls.crt", "/run/bus/tls.key")


def test_only_the_query_service_is_shown_the_key_of_prometheus() -> None:
    monitors = of_kind("everything", "PodMonitor")
    (ends,) = monitors["kb-query"]["spec"]["podMetricsEndpoints"]
    assert ends["authorization"] == {"credentials": {"name": "prometheus", "key": "key"}}
    (ends,) = monitors["kb-workers"]["spec"]["podMetricsEndpoints"]
    assert "authorization" not in ends
    operators = {
        name: one["spec"]["selector"]["matchExpressions"][0]["operator"]
        for name, one in monitors.items()
    }
    assert operators == {"kb-query": "In", "kb-workers": "NotIn"}


@pytest.mark.parametrize("case", chart.NAMES)
def test_a_pod_can_write_nothing_but_its_scratch_and_has_no_right_in_the_cluster(case: str) -> None:
    for name, pod in pods(case):
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["runAsUser"] == 10001
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for each in containers(pod):
            rights = each["securityContext"]
            assert (rights["readOnlyRootFilesystem"], rights["allowPrivilegeEscalation"]) == (
                True,
                False,
            )
            assert rights["capabilities"] == {"drop": ["ALL"]}
            assert {"requests", "limits"} <= set(each["resources"])


@pytest.mark.parametrize("case", chart.NAMES)
def test_no_secret_is_made_or_stands_in_an_environment(case: str) -> None:
    assert not of_kind(case, "Secret")
    for name, pod in pods(case):
        assert "secretKeyRef" not in str(pod), name
        assert "secretRef" not in str(pod), name
        for each in containers(pod):
            assert {"name": "secrets", "mountPath": "/run/lightstream", "readOnly": True} in each[
                "volumeMounts"
            ]
            given = {
                one["name"]: one["value"]
                for one in each["env"]
                if one["value"].startswith("/run/lightstream/")
            }
            assert {Path(file).name for file in given.values()} == set(secrets(pod)), name


@pytest.mark.parametrize("service", [*SERVICES, "operator"])
def test_a_program_finds_each_secret_in_its_file(
    service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file, (_, key) in secrets(dict(pods("everything"))[f"kb-{service}"]).items():
        (tmp_path / file).write_text(f"{file} of {key}\n", "utf-8")
    expected: dict[str, str] = {}
    for each in container(service)["env"]:
        if each["value"].startswith("/run/lightstream/"):
            variable, file = each["name"].removesuffix("_FILE"), Path(each["value"]).name
            monkeypatch.setenv(each["name"], str(tmp_path / file))
            expected[variable] = (tmp_path / file).read_text("utf-8").strip()
    found: dict[str, str] = {}
    for kind in (QuerySettings, GatewaySettings, AccessSettings, CommandSettings):
        found |= {
            one.variable.removesuffix("_FILE"): one.content
            for one in secret_files(kind, os.environ).values()
        }
    assert found == expected


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
            float(each["value"])
            for each in container(service)["env"]
            if each["name"] == "DRAIN_SECONDS"
        )
        assert pod["terminationGracePeriodSeconds"] > drain + GRACE
    dockerfile = (REPOSITORY / "deploy/Dockerfile").read_text("utf-8")
    assert f"PORT={container('query')['ports'][0]['containerPort']}" in dockerfile
    assert "HOST=0.0.0.0" in dockerfile


def test_workers_are_scaled_by_the_lag_of_their_own_consumers() -> None:
    scaled = of_kind("everything", "ScaledObject")
    assert set(scaled) == {f"kb-{name}" for name in SERVICES if name != "query"}
    for name, each in scaled.items():
        triggers = [
            result["metadata"]
            for result in each["spec"]["triggers"]
            if result["type"] == "nats-jetstream"
        ]
        own = [durable for durable in CONSUMERS if service_of(durable) == name.removeprefix("kb-")]
        assert [trigger["consumer"] for trigger in triggers] == [durable.name for durable in own]
        assert {trigger["account"] for trigger in triggers} == {bus_accounts.ACCOUNT}
        assert {trigger["stream"] for trigger in triggers} == {durable.stream for durable in own}
        # KEDA reads text only.
        assert all(isinstance(value, str) for trigger in triggers for value in trigger.values())
    for name, deployment in of_kind("everything", "Deployment").items():
        fixed = name in ("kb-operator", "kb-webhooks")
        assert ("replicas" in deployment["spec"]) == fixed, "two would set it"


def test_nothing_goes_in_or_out_but_what_a_program_needs() -> None:
    policies = {
        name.removeprefix("kb-"): each["spec"]
        for name, each in of_kind("everything", "NetworkPolicy").items()
    }
    assert policies["deny"]["policyTypes"] == ["Ingress", "Egress"]
    assert not {"ingress", "egress"} & set(policies["deny"])
    with_models = {
        name
        for name, spec in policies.items()
        if 443 in _ports(spec) and name not in ("deny", "all")
    }
    opens = {name for name in SERVICES if opened(name) & {"open_chat", "open_embedder"}}
    assert with_models == opens | {"operator", "topology", "webhooks"}
    # Receivers are elsewhere than models: the sender alone reaches them.
    assert {name for name, spec in policies.items() if 8443 in _ports(spec)} == {"webhooks"}
    assert "kb-lightstream-webhooks" not in of_kind("default", "NetworkPolicy")
    assert "chunker" not in policies
    assert {name for name, spec in policies.items() if "ingress" in spec} == {"all", "query"}


def test_the_sender_of_webhooks_is_apart_where_it_is_enabled() -> None:
    """Then the query service sends none, and the sender has neither credentials nor stores but
    documents.
    """
    assert "kb-lightstream-webhooks" not in of_kind("default", "Deployment")
    assert {"name": "WEBHOOK_SENDER", "value": "apart"} in container("query")["env"]
    default = of_kind("default", "Deployment")["kb-lightstream-query"]
    assert "WEBHOOK_SENDER" not in yaml.safe_dump(default)
    assert container("webhooks")["command"] == [
        "python",
        "-m",
        "lightstream_rag.services.gateway.webhooks.main",
    ]
    given = secrets(dict(pods("everything"))["kb-webhooks"])
    assert set(given) == {"nats_url", "documents_url"}


def _ports(spec: dict[str, Any]) -> set[int]:
    return {port["port"] for rule in spec.get("egress", ()) for port in rule["ports"]}


def test_streams_and_stores_are_prepared_before_anything_starts() -> None:
    (job,) = of_kind("default", "Job").values()
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    steps = [each["command"] for each in containers(job["spec"]["template"]["spec"])]
    assert steps == [
        ["lightstream", "topology", "apply", "--replicas", "3"],
        ["lightstream", "stores", "apply"],
    ]
    # What is not there before the first release: a job that asks for it would wait for ever.
    asked = yaml.safe_dump(job["spec"])
    assert "configMapRef" not in asked
    assert "serviceAccountName" not in asked


def test_the_chart_has_the_project_s_version() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    described = yaml.safe_load((chart.CHART / "Chart.yaml").read_text("utf-8"))
    assert described["version"] == described["appVersion"] == project["version"]


def test_helm_refuses_what_the_schema_refuses() -> None:
    program = chart.helm()
    if program is None:
        pytest.skip("no helm here: the schema itself is tested above")
    with pytest.raises(subprocess.CalledProcessError, match="non-zero") as refused:
        chart.run(program, "template", "kb", str(chart.CHART), "--set", "settings.LLM_BASEURL=x")
    assert "LLM_BASEURL" in refused.value.stderr
