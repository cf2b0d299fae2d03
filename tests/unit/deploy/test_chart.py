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
        resource["metadata"]["name"]: resource
        for resource in chart.resources(case)
        if resource["kind"] in kinds
    }


def pods(case: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each pod that a render asks for, by the name of what asks for it."""
    for name, resource in of_kind(case, "Deployment", "Job", "Pod").items():
        yield (
            name,
            resource["spec"] if resource["kind"] == "Pod" else resource["spec"]["template"]["spec"],
        )


def containers(pod: dict[str, Any]) -> list[dict[str, Any]]:
    return [*pod.get("initContainers", ()), *pod["containers"]]


def container(component: str, case: str = "everything") -> dict[str, Any]:
    result = of_kind(case, "Deployment")[f"kb-{component}"]
    return result["spec"]["template"]["spec"]["containers"][0]


def secrets(pod: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The Secret and its key behind each file of secrets that a pod has."""
    (volume,) = [entry["projected"] for entry in pod["volumes"] if entry["name"] == "secrets"]
    assert volume["defaultMode"] == 0o440
    sources = [source["secret"] for source in volume["sources"]]
    return {
        item["path"]: (source["name"], item["key"])
        for source in sources
        for item in source["items"]
    }


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
    env -= {"NATS_URL", "NATS_API_PREFIX", "SSL_CERT", "DRAIN_SECONDS", "WEBHOOK_SENDER"}
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
    assert missing_names <= {"HOST", "PORT", "MONGO_URI"}


def test_each_program_is_a_user_of_the_bus_with_its_own_password() -> None:
    users = {user.name for user in bus_accounts.USERS}
    for name, pod in pods("everything"):
        secret, user = secrets(pod)["nats_url"]
        assert (secret, user in users) == ("lightstream-bus", True)
        for pod_container in containers(pod):
            env = {variable["name"]: variable["value"] for variable in pod_container["env"]}
            narrow = pod_container["name"] in (*SERVICES, "webhooks")
            assert user == (pod_container["name"] if narrow else "operator"), name
            prefix = bus_accounts.IMPORTED_API if narrow else bus_accounts.API
            assert env["NATS_API_PREFIX"] == prefix


def test_a_bus_with_tls_is_reached_with_the_files_of_its_secret() -> None:
    for _, pod in pods("everything"):
        assert {"name": "bus", "secret": {"secretName": "bus-tls", "defaultMode": 0o440}} in pod[
            "volumes"
        ]
        for pod_container in containers(pod):
            assert {"name": "bus", "mountPath": "/run/bus", "readOnly": True} in pod_container[
                "volumeMounts"
            ]
    assert not [
        pod for _, pod in pods("default") if "bus" in {volume["name"] for volume in pod["volumes"]}
    ]
    # What values.yaml says of an address is one.
    example = re.search(r"tls://…(\S+)", (chart.CHART / "values.yaml").read_text("utf-8"))
    assert example
    address = parse_bus_address(f"tls://chunker:k1@nats:4222{example[1]}")
    assert address.tls == TlsFiles("/run/bus/ca.crt", "/run/bus/tls.crt", "/run/bus/tls.key")


def test_only_the_query_service_is_shown_the_key_of_prometheus() -> None:
    monitors = of_kind("everything", "PodMonitor")
    (ends,) = monitors["kb-query"]["spec"]["podMetricsEndpoints"]
    assert ends["authorization"] == {"credentials": {"name": "prometheus", "key": "key"}}
    (ends,) = monitors["kb-workers"]["spec"]["podMetricsEndpoints"]
    assert "authorization" not in ends
    operators = {
        name: monitor["spec"]["selector"]["matchExpressions"][0]["operator"]
        for name, monitor in monitors.items()
    }
    assert operators == {"kb-query": "In", "kb-workers": "NotIn"}


@pytest.mark.parametrize("case", chart.NAMES)
def test_a_pod_can_write_nothing_but_its_scratch_and_has_no_right_in_the_cluster(case: str) -> None:
    for name, pod in pods(case):
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["runAsUser"] == 10001
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for pod_container in containers(pod):
            rights = pod_container["securityContext"]
            assert (rights["readOnlyRootFilesystem"], rights["allowPrivilegeEscalation"]) == (
                True,
                False,
            )
            assert rights["capabilities"] == {"drop": ["ALL"]}
            assert {"requests", "limits"} <= set(pod_container["resources"])


@pytest.mark.parametrize("case", chart.NAMES)
def test_no_secret_is_made_or_stands_in_an_environment(case: str) -> None:
    assert not of_kind(case, "Secret")
    for name, pod in pods(case):
        assert "secretKeyRef" not in str(pod), name
        assert "secretRef" not in str(pod), name
        for pod_container in containers(pod):
            assert {
                "name": "secrets",
                "mountPath": "/run/lightstream",
                "readOnly": True,
            } in pod_container["volumeMounts"]
            files = {
                variable["name"]: variable["value"]
                for variable in pod_container["env"]
                if variable["value"].startswith("/run/lightstream/")
            }
            assert {Path(file).name for file in files.values()} == set(secrets(pod)), name


@pytest.mark.parametrize("service", [*SERVICES, "operator"])
def test_a_program_finds_each_secret_in_its_file(
    service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for file, (_, key) in secrets(dict(pods("everything"))[f"kb-{service}"]).items():
        (tmp_path / file).write_text(f"{file} of {key}\n", "utf-8")
    expected_secrets: dict[str, str] = {}
    for entry in container(service)["env"]:
        if entry["value"].startswith("/run/lightstream/"):
            variable = entry["name"].removesuffix("_FILE")
            file = Path(entry["value"]).name
            monkeypatch.setenv(entry["name"], str(tmp_path / file))
            expected_secrets[variable] = (tmp_path / file).read_text("utf-8").strip()
    secrets_read: dict[str, str] = {}
    for kind in (QuerySettings, GatewaySettings, AccessSettings, CommandSettings):
        secrets_read |= {
            secret_file.variable.removesuffix("_FILE"): secret_file.content
            for secret_file in secret_files(kind, os.environ).values()
        }
    assert secrets_read == expected_secrets


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
            durable for durable in CONSUMERS if service_of(durable) == name.removeprefix("kb-")
        ]
        assert [trigger["consumer"] for trigger in triggers] == [
            durable.name for durable in durables
        ]
        assert {trigger["account"] for trigger in triggers} == {bus_accounts.ACCOUNT}
        assert {trigger["stream"] for trigger in triggers} == {
            durable.stream for durable in durables
        }
        # KEDA reads text only.
        assert all(isinstance(value, str) for trigger in triggers for value in trigger.values())
    for name, deployment in of_kind("everything", "Deployment").items():
        has_replicas = name in ("kb-operator", "kb-webhooks")
        assert ("replicas" in deployment["spec"]) == has_replicas, "two would set it"


def test_nothing_goes_in_or_out_but_what_a_program_needs() -> None:
    policies = {
        name.removeprefix("kb-"): policy["spec"]
        for name, policy in of_kind("everything", "NetworkPolicy").items()
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
    given_secrets = secrets(dict(pods("everything"))["kb-webhooks"])
    assert set(given_secrets) == {"nats_url", "documents_url"}


def _ports(spec: dict[str, Any]) -> set[int]:
    return {port["port"] for rule in spec.get("egress", ()) for port in rule["ports"]}


def test_streams_and_stores_are_prepared_before_anything_starts() -> None:
    (job,) = of_kind("default", "Job").values()
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    steps = [step["command"] for step in containers(job["spec"]["template"]["spec"])]
    assert steps == [
        ["lightstream", "topology", "apply", "--replicas", "3"],
        ["lightstream", "stores", "apply"],
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
