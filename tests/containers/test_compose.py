"""docker-compose.yml brought up whole: documents in, a question answered, servers killed, all down
and up again.

Then it is attacked, from containers of its networks: without credentials, and with those of
publishers and a reader. The tests are one story and run in their order.
"""

import asyncio
import json
import re
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.containers.deployment import (
    JOBS,
    PROJECT,
    PUBLISHER,
    READER,
    SERVICES,
    STORES,
    Deployment,
    container,
)
from tests.containers.using import add, all_processed, answer, attack, client
from tests.support.nats_server import until

pytestmark = pytest.mark.asyncio(loop_scope="module")

TEXTS = [
    "Ada Marlow leads the Harbour Office in Port Elm.",
    "Tom Reed repairs the lighthouse of Port Elm.",
]
MEMORY = {"m": 1 << 20, "g": 1 << 30}


def secrets_of(installation: Deployment, service: str) -> set[str]:
    """The names of the secrets that a container sees."""
    script = "import os, json; print(json.dumps(os.listdir('/run/secrets')))"
    listing = installation.engine.run("exec", container(service), "python", "-c", script).stdout
    return set(json.loads(listing))


async def test_documents_go_in_and_a_question_is_answered(installation: Deployment) -> None:
    for number, text in enumerate(TEXTS):
        await add(installation, text, f"{number}.txt")
    async with client(installation) as api:
        assert "<html" in (await api.get("/ui/")).text.lower()
    await all_processed(installation, len(TEXTS))
    assert "Ada Marlow" in await answer(installation)
    assert installation.json("status")


async def test_a_container_has_the_limits_and_the_rights_that_the_file_gives_it(
    installation: Deployment,
) -> None:
    for name, service in installation.described.items():
        if service.get("profiles"):
            continue
        (inspection,) = json.loads(installation.engine.run("inspect", container(name)).stdout)
        host = inspection["HostConfig"]
        limits = service["deploy"]["resources"]["limits"]
        assert host["Memory"] == int(limits["memory"][:-1]) * MEMORY[limits["memory"][-1]], name
        assert host["NanoCpus"] == float(limits["cpus"]) * 1e9, name
        assert host["PidsLimit"] == limits.get("pids", host["PidsLimit"]), name
        assert host["ReadonlyRootfs"] == service.get("read_only", False), name
        assert not inspection["EffectiveCaps"] or "cap_drop" not in service, name
        assert not host["Privileged"], name


async def test_a_container_sees_the_secrets_that_it_reads_and_none_is_in_an_environment(
    installation: Deployment,
) -> None:
    folder = installation.folder / "secrets"
    texts = [file.read_text() for file in folder.iterdir()]
    passwords = set(re.findall(r"k[0-9a-f]{48}", "".join(texts)))
    assert len(passwords) > 15
    for name in (*installation.buses, *STORES, *SERVICES, *JOBS):
        inspection = installation.engine.run("inspect", container(name)).stdout
        assert not [password for password in passwords if password in inspection], name
    for name in SERVICES:
        secrets_given = {
            secret if isinstance(secret, str) else secret["target"]
            for secret in installation.described[name]["secrets"]
        }
        assert secrets_of(installation, name) == secrets_given, name


async def test_the_sender_of_webhooks_runs_apart_and_sees_no_credentials_of_callers(
    installation: Deployment,
) -> None:
    """It is healthy once the query service has told it who may use webhooks."""
    await installation.start("webhooks", profile="webhooks")
    assert secrets_of(installation, "webhooks") == {"documents_url", "nats_url", "otlp_headers"}
    assert installation.command("webhooks", "list").returncode == 0


async def test_gateway_and_query_service_run_apart_each_with_its_own_secrets(
    installation: Deployment,
) -> None:
    """The two containers take the place of the one that is both."""
    installation.engine.run("stop", container("query"))
    await installation.start("questions", "gateway", profile="apart")
    assert "Ada Marlow" in await answer(installation)
    models_keys = {"llm_api_key", "query_llm_api_key", "embedding_api_key", "rerank_api_key"}
    callers_keys = {"api_key", "api_keys", "auth_accounts", "token_secret"}
    gateway_secrets = secrets_of(installation, "gateway")
    question_secrets = secrets_of(installation, "questions")
    assert (callers_keys <= gateway_secrets, models_keys & gateway_secrets) == (True, set())
    assert (models_keys <= question_secrets, callers_keys & question_secrets) == (True, set())
    assert installation.command("status").returncode == 0
    for name in ("gateway", "questions"):
        installation.engine.run("stop", container(name))
    installation.engine.run("start", container("query"))
    await installation.healthy("query")


async def test_what_is_killed_comes_back_and_goes_on(installation: Deployment) -> None:
    for number, name in enumerate(("merger", "nats", "query"), len(TEXTS)):
        installation.kill(name)
        installation.engine.run("start", container(name))
        await add(installation, f"Ada Marlow met Tom Reed {number} times.", f"{number}.txt")
    await all_processed(installation, len(TEXTS) + 3)


async def test_after_down_and_up_the_data_are_there(installation: Deployment) -> None:
    before = installation.json("digest")
    installation.down()
    assert PROJECT not in installation.engine.run("ps", "--all", "--format", "{{.Names}}").stdout
    await installation.up()
    await all_processed(installation, len(TEXTS) + 3)
    assert installation.json("digest") == before
    assert "Ada Marlow" in await answer(installation)


async def test_prometheus_of_the_profile_monitoring_sees_every_service(
    installation: Deployment,
) -> None:
    await installation.start("prometheus", profile="monitoring")
    ask = (
        "import sys, urllib.request; "
        "sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())"
    )

    def asked(path: str, **parameters: str) -> Any:
        # From the merger's container: nobody publishes Prometheus.
        url = f"http://prometheus:9090/api/v1/{path}?{urlencode(parameters)}"
        return json.loads(
            installation.engine.run("exec", container("merger"), "python", "-c", ask, url).stdout
        )["data"]

    async def all_up() -> bool:
        targets = asked("targets")["activeTargets"]
        return len(targets) == len(SERVICES) and all(target["health"] == "up" for target in targets)

    await until(all_up, "every service is scraped, the query service with its key", seconds=400)

    async def counted() -> bool:
        results = asked("query", query='max(lightstream_documents{status="processed"})')["result"]
        return any(int(one["value"][1]) >= len(TEXTS) for one in results)

    await until(counted, "a query process has counted the documents, and was scraped since")
    rules = [rule for group in asked("rules")["groups"] for rule in group["rules"]]
    assert rules
    assert {rule.get("lastError", "") for rule in rules} == {""}


async def test_who_has_no_credentials_gets_nowhere(installation: Deployment) -> None:
    # The stand-in for MongoDB knows no users: what a real one refuses is not shown here.
    open_stores = (
        {"documents without a password"} if "mongo" in installation.stand_ins else set[str]()
    )
    assert attack(installation, "inside", "stranger") == open_stores


async def test_a_publisher_only_publishes(installation: Deployment) -> None:
    assert (
        attack(installation, "inside", "publisher", installation.secret("nats_url_publisher"))
        == set()
    )
    assert (
        attack(installation, "inside", "narrow", installation.secret(f"nats_url_{PUBLISHER}"))
        == set()
    )


async def test_nobody_hears_what_others_say(installation: Deployment) -> None:
    listening = asyncio.create_task(
        asyncio.to_thread(
            attack, installation, "inside", "listener", installation.secret("nats_url_publisher")
        )
    )
    count = 0
    while not listening.done():
        count += 1
        await add(
            installation, f"Somebody speaks for the time number {count}.", f"spoken-{count}.txt"
        )
    assert await listening == set()
    assert count > 1


async def test_a_reader_of_one_workspace_reads_it_and_nothing_else(
    installation: Deployment,
) -> None:
    assert attack(installation, "inside", "reader", READER) == set()


async def test_who_reaches_the_api_alone_reaches_nothing_else(installation: Deployment) -> None:
    """A container beside the API, where the models are called: no store and no bus is to be
    seen.
    """
    assert attack(installation, "outside", "unreachable") == set()


async def test_the_attacks_left_no_trace(installation: Deployment) -> None:
    """What was allowed is there; nothing that was forged is in the log, and nothing of the bus was
    changed.
    """
    await all_processed(installation, len(TEXTS) + 3 + 2)
    log = installation.command("log", "--json").stdout
    assert '"allowed"' in log
    assert "forged" not in log
    installation.command("topology", "check")
    assert installation.json("doctor")
