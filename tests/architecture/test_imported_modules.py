"""What a process imports when it starts: nothing that it may never use, and no more modules than it
does today.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.sources import modules, shown

DRIVERS = {
    "openai",
    "aiohttp.client",
    "pandas",
    "pymilvus",
    "qdrant_client",
    "grpc",
    "neo4j",
    "motor",
    "asyncpg",
    "aiosqlite",
    "onnxruntime",
    "tiktoken",
    "mcp",
}
"""What stores and models load once a setting asks for them."""

NOT_IN_COMMANDS = DRIVERS | {
    "pydantic",
    "httpx",
    "nats",
    "structlog",
    "faststream",
    "opentelemetry",
    "numpy",
    "numkong",
    "uvicorn",
}
"""What `lightstream --help` has no use for."""

NOT_IN_SUPERVISOR = DRIVERS | {
    "faststream",
    "opentelemetry",
    "fastapi",
    "starlette",
    "numpy",
    "numkong",
    "uvicorn",
    "typer",
}


IN_THE_PEERS_ENVIRONMENT = {"benchmarks.measuring.peer_server", "benchmarks.parity.peer"}
"""Benchmarks' modules that LightRAG's own Python runs."""

IN_THE_READERS_ENVIRONMENT = {
    f"benchmarks.reader.{name}" for name in ("e5", "export", "learn", "network")
}
"""Benchmarks' modules that need what `requirements/reader.in` names."""


def imported(statements: str) -> set[str]:
    """The modules that a new process has after these statements."""
    code = f"import sys\n{statements}\nsys.stderr.write('\\n'.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stderr.split("\n"))


def imported_by_command(*arguments: str) -> set[str]:
    """The modules that `lightstream` has loaded when it ends."""
    return imported(
        f"from cli import main\nsys.argv[1:] = {arguments!r}\ntry: main()\nexcept SystemExit: pass"
    )


def test_help_imports_what_prints_it() -> None:
    modules = imported_by_command("--help")
    assert "cli.ask" in modules
    assert modules & (NOT_IN_COMMANDS | {"markdown_it", "pygments", "attr"}) == set()
    assert len(modules) <= 336


def test_the_supervisor_imports_no_driver() -> None:
    modules = imported("import embedded.stack")
    assert modules & NOT_IN_SUPERVISOR == set()
    assert len(modules) <= 697


@pytest.mark.parametrize("command", ["status", "cost", "webhooks list", "ask x"])
def test_a_command_that_asks_the_query_service_loads_no_bus_and_no_settings_of_a_stack(
    command: str, tmp_path: Path
) -> None:
    modules = imported_by_command(*command.split(), "--data", str(tmp_path))
    assert "operations.query_service" in modules
    bus_or_settings = {
        "nats",
        "structlog",
        "opentelemetry",
        "contracts.envelope",
        "contracts.events",
        "embedded.stack",
        "operations.target",
        "runtime.settings",
        "runtime.telemetry",
    }
    assert modules & (DRIVERS | bus_or_settings) == set()
    assert len(modules) <= 505


@pytest.mark.parametrize(
    ("command", "most"),
    [("topology check --nats nats://127.0.0.1:1", 490), ("log", 645), ("delete x", 645)],
)
def test_a_command_that_only_quiets_logs_loads_no_telemetry(
    command: str, most: int, tmp_path: Path
) -> None:
    data = [] if "--nats" in command else ["--data", str(tmp_path)]
    modules = imported_by_command(*command.split(), *data)
    assert "runtime.logs" in modules
    assert modules & (DRIVERS | {"opentelemetry", "runtime.telemetry", "numpy"}) == set()
    assert len(modules) <= most


def test_a_command_that_publishes_loads_no_exporter_of_traces(tmp_path: Path) -> None:
    modules = imported_by_command("add", str(tmp_path), "--data", str(tmp_path))
    assert "runtime.telemetry" in modules and "opentelemetry.sdk" not in modules


def test_a_command_that_starts_or_stops_a_stack_in_the_background_imports_nothing_of_one() -> None:
    modules = imported("import embedded.daemon")
    assert modules & (NOT_IN_COMMANDS | {"embedded.stack"}) == set()
    assert len(modules) <= 210


@pytest.mark.parametrize(
    ("service", "most"),
    # Eight of each are psutil's: OpenTelemetry takes it where it is, as in the tests' environment.
    # Six are what uvicorn takes of watchfiles there.
    [("chunker", 1115), ("extractor", 1130), ("merger", 1095), ("indexer", 1180), ("query", 1942)],
)
def test_a_service_imports_no_driver_before_its_settings_ask_for_one(
    service: str, most: int
) -> None:
    main = "services.gateway.main" if service == "query" else f"services.{service}.main"
    modules = imported(f"import {main}")
    assert main in modules
    assert modules & DRIVERS == set()
    assert len(modules) <= most


def test_what_the_services_are_forked_from_loads_the_drivers_and_not_what_these_do_not_need() -> (
    None
):
    services = [f"services.{name}.main" for name in ("chunker", "merger", "indexer", "gateway")]
    stores = {
        "DOCUMENTS_URL": "sqlite:///documents.db",
        "NEO4J_URI": "bolt://127.0.0.1:1",
        "MILVUS_URI": "http://127.0.0.1:1",
    }
    modules = imported(
        f"import os\nos.environ.update({stores})\n"
        f"from embedded.fork_server import preload\npreload({services})"
    )
    # anyio's part, with the 13 modules that it has, is loaded by each service once it works.
    assert modules > {"neo4j", "pymilvus", "tiktoken", "onnxruntime", "anyio._backends._asyncio"}
    assert modules & {"pandas", "motor", "openai", "aiohttp.client", "mcp"} == set()
    assert len(modules) <= 2463


def test_every_benchmark_can_be_imported() -> None:
    names = {shown(path).removesuffix(".py").replace("/", ".") for path in modules("benchmarks")}
    elsewhere = IN_THE_PEERS_ENVIRONMENT | IN_THE_READERS_ENVIRONMENT
    assert names > elsewhere
    assert imported("\n".join(f"import {name}" for name in names - elsewhere)) > {
        "benchmarks.index"
    }
