"""`topology export`: the script for `nats` and NACK's resources say what the requests say."""

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from typer.testing import CliRunner

from cli.topology import app
from contracts.topology import BUCKETS, CONSUMERS, DAY, SHORTEST_DUPLICATE_WINDOW, STREAMS
from runtime.bus.topology_export import exported

HERE = Path(__file__).parent
DECLARED: dict[str, Any] = json.loads(exported("json", replicas=3))
CONFIGS: list[dict[str, Any]] = [
    *DECLARED["streams"],
    *(consumer["config"] for consumer in DECLARED["consumers"]),
]
RESOURCES: list[dict[str, Any]] = list(yaml.safe_load_all(exported("nack", replicas=3)))


def test_every_stream_bucket_and_durable_is_exported() -> None:
    names = [config.get("name") or config["durable_name"] for config in CONFIGS]
    buckets = [f"KV_{bucket.name}" for bucket in BUCKETS]
    assert names == [
        *(stream.name for stream in STREAMS),
        *buckets,
        *(durable.name for durable in CONSUMERS),
    ]
    assert {config["num_replicas"] for config in DECLARED["streams"]} == {3}


def test_the_script_is_one_of_a_shell_and_has_each_configuration_once() -> None:
    script = exported("cli", replicas=3)
    process = subprocess.run(
        ["sh", "-n"], input=script, text=True, capture_output=True, check=False
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert [json.loads(line) for line in script.splitlines() if line.startswith("{")] == CONFIGS


def test_the_script_adds_what_is_missing_and_edits_what_is_there(tmp_path: Path) -> None:
    """Run with a command `nats` that only knows the first stream, and writes down what it was
    asked.
    """
    nats = tmp_path / "nats"
    nats.write_text(
        '#!/bin/sh\n[ "$2" != info ] || { [ "$3" = KB_EVENTS ] && [ $# = 3 ]; exit; }\n'
        f'echo "$*" | sed "s/--config .*//" >> {tmp_path}/asked\n'
    )
    nats.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    subprocess.run(["sh"], input=exported("cli"), text=True, env=environment, check=True)
    commands = [line.strip() for line in (tmp_path / "asked").read_text().splitlines()]
    streams = [config["name"] for config in DECLARED["streams"]]
    assert commands[: len(streams)] == [
        "stream edit KB_EVENTS --force",
        *(f"stream add {name}" for name in streams[1:]),
    ]
    assert commands[len(streams) :] == [
        f"consumer add {consumer.stream} {consumer.name}" for consumer in CONSUMERS
    ]


def test_resources_are_what_nack_s_definitions_ask_for() -> None:
    schemas = {
        kind: json.loads((HERE / "resources" / f"{kind}.json").read_text())
        for kind in ("Stream", "Consumer")
    }
    for resource in RESOURCES:
        jsonschema.validate(resource, schemas[resource["kind"]])
        assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", resource["metadata"]["name"])
    assert len({(resource["kind"], resource["metadata"]["name"]) for resource in RESOURCES}) == len(
        RESOURCES
    )


def camel(name: str) -> str:
    first, *words = name.split("_")
    return first + "".join(map(str.capitalize, words))


OTHER_WORDS = {
    "num_replicas": "replicas",
    "discard_new_per_subject": "discardPerSubject",
    "allow_rollup_hdrs": "allowRollup",
}
NONE_IF_ZERO = {"max_age", "idle_heartbeat", "inactive_threshold"}


def told_to_nack(config: Mapping[str, Any]) -> dict[str, Any]:
    """What NACK has to be told so that it asks the server for this: derived here by rule, there
    from tables.
    """
    fields: dict[str, Any] = {}
    for name, value in config.items():
        if name in NONE_IF_ZERO and not value:
            continue
        word = OTHER_WORDS.get(name, camel(name))
        fields[word] = (
            f"{value // 1_000_000_000}s"
            if name in ("max_age", "duplicate_window", "ack_wait")
            else value
        )
    return fields


@pytest.mark.parametrize("number", range(len(CONFIGS)))
def test_a_resource_says_what_the_request_says(number: int) -> None:
    spec = dict(RESOURCES[number]["spec"])
    assert spec.pop("preventDelete") is True
    if RESOURCES[number]["kind"] == "Consumer":
        assert spec.pop("streamName") == "KB_EVENTS"
    assert spec == told_to_nack(CONFIGS[number])


def test_the_command_prints_it_without_a_server() -> None:
    ran = CliRunner().invoke(app, ["export", "--format", "nack", "--replicas", "3"])
    assert (ran.exit_code, ran.output) == (0, exported("nack", 3))


def test_the_log_of_an_export_knows_ids_for_as_long_as_is_asked_for() -> None:
    windows = {
        stream["name"]: stream["duplicate_window"] // 10**9
        for stream in json.loads(exported("json", duplicate_window=600))["streams"]
    }
    assert windows.pop("KB_EVENTS") == 600
    declared_windows = {
        stream["name"]: stream["duplicate_window"] // 10**9 for stream in DECLARED["streams"]
    }
    assert declared_windows.pop("KB_EVENTS") == DAY
    assert windows == declared_windows
    for seconds in (SHORTEST_DUPLICATE_WINDOW, DAY):
        command = ["export", "--duplicate-window", str(int(seconds))]
        assert CliRunner().invoke(app, command).exit_code == 0
    for seconds in (SHORTEST_DUPLICATE_WINDOW - 1, DAY + 1):
        command = ["export", "--duplicate-window", str(int(seconds))]
        assert CliRunner().invoke(app, command).exit_code == 2
