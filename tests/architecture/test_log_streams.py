"""Nobody reads one partition of the log and takes it for the whole: its streams have one home.

`runtime/bus/nats/log_streams.py` says which streams there are and which holds what; its `sole`
refuses where there are several. So no other module may name the first one, or go by the stream that
a declared consumer of the log names, except for the reasons below.
"""

import ast
import re
from pathlib import Path

from tests.architecture.sources import FLOORS, modules, parsed, shown

NAMES_THE_FIRST = {
    "contracts/asyncapi.py": "describes it",
    "contracts/partitions.py": "its home",
    "contracts/topology.py": "declares it",
    "operations/bus_accounts.py": "permissions in the first, of which the others' are made",
    "operations/bus_grants.py": "permissions in the first, of which the others' are made",
    "operations/bus_partitions.py": "makes permissions of all partitions",
    "runtime/bus/log_metadata.py": "asks its configuration",
    "runtime/bus/memory.py": "one list in memory",
    "runtime/bus/mirrors.py": "asks its configuration, and makes it a stream again last",
    "runtime/bus/nats/log_integrity.py": "notes of it have keys without a number",
    "runtime/bus/nats/log_streams.py": "the home of all streams",
    "runtime/bus/nats/region.py": "asks its configuration",
    "runtime/bus/topology.py": "declares it",
    "runtime/stores/documents/checkpoints.py": "notes of it have keys without a number",
    "runtime/telemetry.py": "a label of the log",
}
STREAM_OF_A_CONSUMER = re.compile(r"consumer_info\(\s*\w+\.stream")
ASKS_EVERY_PARTITION = {
    "operations/backup/restoring.py",
    "runtime/bus/nats/consumers.py",
    "runtime/bus/topology.py",
}


def names_the_first(path: Path) -> bool:
    text = path.read_text("utf-8")
    if "contracts.partitions" not in text:
        return '"KB_EVENTS' in text
    imports = (node for node in ast.walk(parsed(path)) if isinstance(node, ast.ImportFrom))
    imported_names = {
        alias.name
        for node in imports
        if node.module == "contracts.partitions"
        for alias in node.names
    }
    return "LOG" in imported_names or '"KB_EVENTS' in text


def test_only_those_with_a_reason_name_the_first_stream_of_the_log() -> None:
    naming_modules = {shown(path) for path in modules(*FLOORS) if names_the_first(path)}
    assert naming_modules == set(NAMES_THE_FIRST)


def test_who_asks_a_consumer_of_the_log_asks_it_in_every_partition() -> None:
    asking_modules = {
        shown(path)
        for path in modules(*FLOORS)
        if STREAM_OF_A_CONSUMER.search(path.read_text("utf-8"))
    }
    assert asking_modules == ASKS_EVERY_PARTITION
