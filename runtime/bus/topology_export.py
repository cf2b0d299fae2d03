"""The declaration of the bus in the words of other tools: requests of JetStream's API, the command
`nats`, and NACK.

All three are made from the configurations that `topology.apply` sends to the server.
"""

import json
import shlex
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Literal

from contracts.partitions import LogPosition
from contracts.topology import CONSUMERS, DAY
from runtime.bus.topology import declared_configs, durable_config

Format = Literal["json", "cli", "nack"]

_OF_A_STREAM = {
    "name": "name",
    "description": "description",
    "subjects": "subjects",
    "retention": "retention",
    "discard": "discard",
    "discard_new_per_subject": "discardPerSubject",
    "max_age": "maxAge",
    "max_bytes": "maxBytes",
    "max_msgs": "maxMsgs",
    "max_msgs_per_subject": "maxMsgsPerSubject",
    "max_msg_size": "maxMsgSize",
    "storage": "storage",
    "num_replicas": "replicas",
    "duplicate_window": "duplicateWindow",
    "compression": "compression",
    "allow_msg_ttl": "allowMsgTtl",
    "allow_direct": "allowDirect",
    "allow_rollup_hdrs": "allowRollup",
    "deny_delete": "denyDelete",
    "deny_purge": "denyPurge",
    "no_ack": "noAck",
    "sealed": "sealed",
    "metadata": "metadata",
}
"""A field of a stream's configuration → what NACK's resource calls it."""

_OF_A_CONSUMER = {
    "durable_name": "durableName",
    "description": "description",
    "deliver_policy": "deliverPolicy",
    "ack_policy": "ackPolicy",
    "ack_wait": "ackWait",
    "max_deliver": "maxDeliver",
    "max_ack_pending": "maxAckPending",
    "filter_subject": "filterSubject",
    "filter_subjects": "filterSubjects",
    "replay_policy": "replayPolicy",
    "headers_only": "headersOnly",
    "mem_storage": "memStorage",
}

_DURATIONS = {"maxAge", "duplicateWindow", "ackWait"}
"""What NACK is told as Go writes durations, and the server in nanoseconds."""


def exported(
    form: Format,
    replicas: int = 1,
    duplicate_window: float = DAY,
    *,
    share_subjects: bool = False,
) -> str:
    """Return streams, durables and buckets in that form, with so many copies of each stream and a
    log that knows ids for so many seconds, and whose documents share subjects or do not.
    """
    declarations = requests(replicas, duplicate_window, share_subjects=share_subjects)
    if form == "json":
        return json.dumps(declarations, indent=2) + "\n"
    if form == "cli":
        return "\n".join(_commands(declarations)) + "\n"
    # YAML has JSON in it, one document after another: no quoting of our own.
    return "".join(
        f"---\n{json.dumps(manifest, indent=2)}\n" for manifest in resources(declarations)
    )


def requests(
    replicas: int = 1, duplicate_window: float = DAY, *, share_subjects: bool = False
) -> dict[str, list[dict[str, Any]]]:
    """Return the bodies of `STREAM.CREATE.<name>` and `CONSUMER.CREATE.<stream>.<name>`. A bucket
    is a stream.
    """
    shared_from = LogPosition.start().text if share_subjects else ""
    configs = declared_configs(replicas, duplicate_window=duplicate_window, shared_from=shared_from)
    streams = [_plain(config.as_dict()) for config in configs]
    consumers = [
        {"stream_name": durable.stream, "config": _plain(durable_config(durable).as_dict())}
        for durable in CONSUMERS
    ]
    return {"streams": streams, "consumers": consumers}


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields without those that say nothing, in the words of the wire."""
    values = (
        (name, value.value if isinstance(value, Enum) else value) for name, value in fields.items()
    )
    return {name: value for name, value in values if value not in (None, "", [])}


def _commands(declarations: Mapping[str, list[dict[str, Any]]]) -> Iterator[str]:
    yield "#!/bin/sh"
    yield (
        "# Made by `lightstream topology export`. Needs the command `nats`, with NATS_URL of the "
        "operator."
    )
    yield "set -eu"
    yield 'file="$(mktemp)"'
    yield "trap 'rm -f \"$file\"' EXIT"
    for config in declarations["streams"]:
        yield from _command("stream", [config["name"]], config)
    for consumer in declarations["consumers"]:
        yield from _command(
            "consumer",
            [consumer["stream_name"], consumer["config"]["durable_name"]],
            consumer["config"],
        )


def _command(kind: str, names: list[str], config: Mapping[str, Any]) -> Iterator[str]:
    command = f"{kind} %s {shlex.join(names)}"
    yield "cat > \"$file\" <<'END'"
    yield json.dumps(config)
    yield "END"
    yield f"if nats {command % 'info'} > /dev/null 2>&1"
    yield f'then nats {command % "edit"} --force --config "$file"'
    yield f'else nats {command % "add"} --config "$file"'
    yield "fi"


def resources(declarations: Mapping[str, list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Yield NACK's resources (`jetstream.nats.io/v1beta2`). Removing one leaves the stream where it
    is.
    """
    for config in declarations["streams"]:
        yield _resource(
            "Stream", config["name"], {**_renamed(config, _OF_A_STREAM), "preventDelete": True}
        )
    for consumer in declarations["consumers"]:
        config = consumer["config"]
        spec = {"streamName": consumer["stream_name"], **_renamed(config, _OF_A_CONSUMER)}
        yield _resource("Consumer", config["durable_name"], {**spec, "preventDelete": True})


def _renamed(config: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the configuration in NACK's words. Raises KeyError for a field that it has no word
    for.
    """
    spec = {
        names[name]: value for name, value in config.items() if value or name not in _ZERO_IS_NONE
    }
    return {
        name: f"{value // 10**9}s" if name in _DURATIONS else value for name, value in spec.items()
    }


_ZERO_IS_NONE = {"idle_heartbeat", "inactive_threshold", "max_age"}
"""Times of which the server takes 0 for none: NACK is not told."""


def _resource(kind: str, name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    resource_name = name.lower().replace("_", "-")
    return {
        "apiVersion": "jetstream.nats.io/v1beta2",
        "kind": kind,
        "metadata": {"name": resource_name},
        "spec": dict(spec),
    }
