"""What the pods of the Helm chart may and have: users, secrets, networks, no rights."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from operations import bus_accounts
from operations.settings import CommandSettings
from runtime.bus.nats.addresses import TlsFiles, parse_bus_address
from runtime.variables import secret_files
from services.gateway.auth.settings import AccessSettings
from services.gateway.settings import GatewaySettings
from services.query.settings import QuerySettings
from tests.architecture.sources import SERVICES
from tests.support import chart
from tests.support.chart_resources import container, containers, of_kind, pods, secrets
from tests.unit.deploy.test_deploy import opened


def test_each_program_is_a_user_of_the_bus_with_its_own_password() -> None:
    users = {user.name for user in bus_accounts.USERS}
    for name, pod in pods("everything"):
        secret, user = secrets(pod)["nats_url"]
        assert (secret, user in users) == ("lightstream-bus", True)
        for pod_container in containers(pod):
            env = {variable["name"]: variable["value"] for variable in pod_container["env"]}
            program = pod_container["name"]
            narrow = program in (*SERVICES, "figures", "webhooks")
            own_user = "chunker" if program == "figures" else program
            assert user == (own_user if narrow else "operator"), name
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
    assert with_models == opens | {"figures", "operator", "topology", "webhooks", "intake"}
    # Receivers are elsewhere than models: the sender alone reaches them.
    assert {name for name, spec in policies.items() if 8443 in _ports(spec)} == {"webhooks"}
    assert "kb-lightstream-webhooks" not in of_kind("default", "NetworkPolicy")
    assert {name for name, spec in policies.items() if "ingress" in spec} == {"all", "query"}


def test_figures_are_described_by_a_process_that_alone_has_the_model_and_a_way_to_it() -> None:
    chunker_secrets = secrets(dict(pods("everything"))["kb-chunker"])
    assert set(chunker_secrets) == {"nats_url"}
    assert "kb-chunker" not in of_kind("everything", "NetworkPolicy"), "the bus alone, as for all"
    assert container("figures")["command"][-1] == "lightstream_rag.services.chunker.figure_service"
    figure_secrets = secrets(dict(pods("everything"))["kb-figures"])
    keys = {"llm_api_key", "vlm_llm_api_key"}
    assert set(figure_secrets) == {"nats_url", "documents_url", *keys}
    assert "kb-lightstream-figures" not in of_kind("default", "Deployment")


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


def test_the_gateway_is_apart_where_it_is_enabled() -> None:
    """Then it has the keys of callers and none of a model, the query service the others, and only
    the gateway reaches it.
    """
    assert "kb-lightstream-gateway" not in of_kind("default", "Deployment")
    by_name = dict(pods("apart"))
    commands = {
        name: containers(by_name[name])[0]["command"][-1] for name in ("kb-gateway", "kb-query")
    }
    assert commands == {
        "kb-gateway": "lightstream_rag.services.gateway.main",
        "kb-query": "lightstream_rag.services.query.main",
    }
    shared_secrets = {"documents_url", "neo4j_password", "nats_url", "questions_key"}
    assert set(secrets(by_name["kb-gateway"])) == shared_secrets | {
        "lightrag_api_key",
        "token_secret",
    }
    assert set(secrets(by_name["kb-query"])) == shared_secrets | {"milvus_token", "llm_api_key"}
    services = of_kind("apart", "Service")
    assert {
        name: service["spec"]["selector"]["app.kubernetes.io/component"]
        for name, service in services.items()
    } == {"kb-query": "gateway", "kb-questions": "query"}
    policies = of_kind("apart", "NetworkPolicy")
    (rule,) = policies["kb-query"]["spec"]["ingress"]
    (peer,) = rule["from"]
    assert peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "gateway"
    assert _ports(policies["kb-gateway"]["spec"]) == {27017, 7687, 8443, 9621}
    assert 8443 not in _ports(policies["kb-query"]["spec"])
    monitors = of_kind("apart", "PodMonitor")
    (expression,) = monitors["kb-query"]["spec"]["selector"]["matchExpressions"]
    assert expression["values"] == ["gateway"]
    assert "kb-gateway" in of_kind("apart", "PodDisruptionBudget")


def test_with_one_postgresql_nobody_is_told_of_other_stores() -> None:
    for name, pod in pods("postgres"):
        assert not re.search("mongo|documents_url|neo4j|milvus", str(pod), re.IGNORECASE), name
        address = None if name == "kb-chunker" else ("lightstream-stores", "address")
        assert secrets(pod).get("stores_url") == address, name
    policies = of_kind("postgres", "NetworkPolicy").items()
    reaching = {name for name, policy in policies if 6432 in _ports(policy["spec"])}
    programs = {name for name, pod in pods("postgres") if "stores_url" in secrets(pod)}
    assert reaching >= programs - {"kb-doctor"}
    assert not {27017, 7687, 19530} & {
        port for _, policy in policies for port in _ports(policy["spec"])
    }


def _ports(spec: dict[str, Any]) -> set[int]:
    return {port["port"] for rule in spec.get("egress", ()) for port in rule["ports"]}
