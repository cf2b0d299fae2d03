"""The import rules hold, and each of them finds what breaks it."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from tests.architecture.sources import (
    FLOORS,
    REPOSITORY,
    SERVICES,
    imported,
    modules,
    parsed,
    shown,
)

RULES = ".importlinter"

CLOCKS_AND_CHANCE = {
    "time",
    "random",
    "secrets",
    "os",
    "uuid",
    "subprocess",
    "socket",
    "threading",
    "logging",
}


DECIDING = ("answering", "context", "retrieval", "status")
"""Packages of the query service that know ports only."""

TIMED = {"retrieval/caches", "status/current_partitions.py", "status/positions.py"}
"""Among them, what measures time."""

STAGES = {
    "answering/effort.py",
    "answering/tool_rounds.py",
    "retrieval/concurrency.py",
    "retrieval/modes.py",
    "retrieval/multihop/link_question.py",
    "retrieval/multihop/walk.py",
    "retrieval/multihop/walk_context.py",
    "retrieval/retrieve.py",
    "retrieval/scoping.py",
}
"""Among them, what waits for several stores at once."""


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    """`lint-imports` in a folder, with the packages that stand in it."""
    return subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def rooms(*names: str) -> Iterator[Path]:
    """Modules of these rooms, in every service that has them."""
    for service in SERVICES:
        for name in names:
            room = REPOSITORY / "services" / service / name
            yield from (
                [room.with_suffix(".py")]
                if room.with_suffix(".py").is_file()
                else sorted(room.glob("*.py"))
            )


def deciding(but: set[str]) -> Iterator[Path]:
    """Modules of the query service's packages that decide, without these files and folders."""
    query = REPOSITORY / "services/query"
    left_out = {query / name for name in but}
    shared_modules = [query / f"{name}.py" for name in ("question", "passage", "partitions")]
    for path in (*shared_modules, *modules(*(f"services/query/{name}" for name in DECIDING))):
        if not left_out & {path, *path.parents}:
            yield path


def given_by_no_one(path: Path, *further_modules: str) -> set[str]:
    """Modules of clocks, chance and environment that a file imports, and calls of a clock in
    `datetime`.
    """
    now = re.findall(r"\b(?:datetime|date)\.(?:now|utcnow|today)\b", path.read_text("utf-8"))
    return imported(parsed(path)) & (CLOCKS_AND_CHANCE | {*further_modules}) | set(now)


def test_the_rules_hold() -> None:
    result = lint(REPOSITORY)
    assert result.returncode == 0, result.stdout


VIOLATIONS = [
    (
        "runtime/health.py",
        "import services.query.retrieval.port",
        "runtime.health -> services.query.retrieval.port",
    ),
    ("contracts/ids.py", "import runtime.errors", "contracts.ids -> runtime.errors"),
    ("runtime/errors.py", "import publishing.documents", "runtime.errors -> publishing.documents"),
    (
        "publishing/documents.py",
        "import services.query.question",
        "publishing.documents -> services.query.question",
    ),
    (
        "services/indexer/handler.py",
        "import publishing.documents",
        "services.indexer.handler -> publishing.documents",
    ),
    ("contracts/text.py", "import orjson", "contracts.text -> orjson"),
    (
        "services/merger/adapters/contributions.py",
        "import services.indexer.vector_updates",
        "services.merger.adapters.contributions -> services.indexer",
    ),
    (
        "services/merger/adapters/contributions.py",
        "import services.merger.handler",
        "services.merger.adapters.contributions -> services.merger",
    ),
    (
        "services/chunker/domain.py",
        "import services.chunker.handler",
        "services.chunker.domain -> services.chunker",
    ),
    (
        "services/indexer/handler.py",
        "import services.indexer.settings",
        "handler -> services.indexer.settings",
    ),
    (
        "services/gateway/app.py",
        "import services.query.adapters.documents",
        "gateway.app -> services.query.adapters.documents",
    ),
    (
        "services/query/answering/ask.py",
        "import services.gateway.app",
        "services.query.answering.ask -> services.gateway",
    ),
    ("services/chunker/domain.py", "import tiktoken", "services.chunker.domain -> tiktoken"),
    (
        "services/extractor/domain/rows.py",
        "import openai",
        "services.extractor.domain.rows -> openai",
    ),
    (
        "services/query/status/projection.py",
        "import motor",
        "services.query.status.projection -> motor",
    ),
    (
        "services/merger/port.py",
        "import runtime.stores.open",
        "services.merger.port -> runtime.stores.open",
    ),
    (
        "services/extractor/handler.py",
        "import runtime.bus.nats",
        "services.extractor.handler -> runtime.bus.nats",
    ),
    ("runtime/models/port.py", "import httpx", "runtime.models.port -> httpx"),
    (
        "services/indexer/handler.py",
        "import runtime.projections.embedding",
        "services.indexer.handler -> runtime.projections.embedding",
    ),
    ("offline/language/han.py", "import openai", "offline.language.han -> openai"),
    (
        "offline/language/names.py",
        "import runtime.errors",
        "offline.language.names -> runtime.errors",
    ),
    (
        "services/query/retrieval/linking.py",
        "import offline.embeddings.lexical",
        "services.query.retrieval.linking -> offline.embeddings.lexical",
    ),
    ("services/chunker/helpers.py", "", "services.chunker.helpers"),
    ("services/query/helpers.py", "", "services.query.helpers"),
    ("services/query/retrieval/helpers.py", "", "services.query.retrieval.helpers"),
    (
        "services/query/status/port.py",
        "import services.query.question",
        "status.port -> services.query.question",
    ),
    (
        "services/query/retrieval/retrieve.py",
        "import services.query.retrieval.caches.invalidation",
        "retrieval.retrieve -> services.query.retrieval.caches",
    ),
    (
        "services/query/answering/ask.py",
        "import lightstream_rag.client",
        "services.query.answering.ask -> lightstream_rag.client",
    ),
    (
        "runtime/errors.py",
        "import lightstream_rag.errors",
        "runtime.errors -> lightstream_rag.errors",
    ),
    (
        "lightstream_rag/client.py",
        "import services.query.retrieval.port",
        "lightstream_rag.client -> services.query.retrieval.port",
    ),
    (
        "lightstream_rag/client.py",
        "import runtime.stores.open",
        "lightstream_rag.client -> runtime.stores.open",
    ),
    (
        "embedded/ports.py",
        "import operations.target",
        "embedded.ports -> operations",
    ),
]
"""File, the line that is added to it, and how the report names what is wrong with it."""


def copied(folder: Path) -> Path:
    """The packages and the rules in a folder of their own, where they may be broken."""
    shutil.copy(REPOSITORY / RULES, folder)
    for floor in FLOORS:
        shutil.copytree(
            REPOSITORY / floor,
            folder / floor,
            ignore=shutil.ignore_patterns("__pycache__", "*.json"),
        )
    return folder


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What is said of a copy with all violations at once, without the imports that one of several
    makes forbidden.
    """
    folder = copied(tmp_path_factory.mktemp("broken"))
    for file, line, _ in VIOLATIONS:
        path = folder / file
        path.write_text(f"{path.read_text('utf-8') if path.exists() else ''}\n{line}\n", "utf-8")
    result = lint(folder)
    assert result.returncode == 1
    lines = result.stdout.splitlines()
    return [
        line
        for line, following in pairwise([*lines, ""])
        if "->" not in line or (line[0] == "-" and not following)
    ]


@pytest.mark.parametrize(("file", "line", "sentence"), VIOLATIONS)
def test_a_planted_violation_is_found(
    report: list[str], file: str, line: str, sentence: str
) -> None:
    assert [line_of_report for line_of_report in report if sentence in line_of_report] != []


def test_the_contracts_need_pydantic_and_the_standard_library_only() -> None:
    packages = {
        name.partition(".")[0] for path in modules("contracts") for name in imported(parsed(path))
    }
    assert packages - sys.stdlib_module_names == {"pydantic", "contracts"}


def test_the_client_imports_contracts_publishing_the_bus_errors_and_retries_only() -> None:
    ours = {name for path in modules("lightstream_rag") for name in imported(parsed(path))}
    inner = {name for name in ours if name.partition(".")[0] in FLOORS} - {"runtime"}
    prefixes = (
        "contracts.",
        "publishing.",
        "lightstream_rag",
        "runtime.bus.",
        "runtime.errors",
        "runtime.retries",
        "runtime.workarounds.httpx",
    )
    inner -= {"cli", "cli.main"}  # of __main__, which is the command
    assert {name for name in inner if not name.startswith(prefixes)} == set()


def test_operations_import_of_a_service_its_replay_handlers_wiring_and_settings_only() -> None:
    ours = {
        name
        for path in modules("embedded", "operations", "mcp_server", "cli")
        for name in imported(parsed(path))
        if name.count(".") > 1
    }
    pattern = (
        r"services\.\w+\.(replay|settings|main|wiring)\b"
        r"|services\.gateway\.auth\.(settings|config)\b"
        r"|services\.query\.questions\.settings\b"
    )
    assert {
        name for name in ours if name.startswith("services.") and not re.match(pattern, name)
    } == set()


def test_a_domain_is_pure() -> None:
    """No clock, no chance, no environment, no event loop: time, ids and randomness are handed
    in.
    """
    impure = {
        shown(path): result
        for path in rooms("domain", "offline", "port")
        if (result := given_by_no_one(path, "asyncio"))
    }
    assert impure == {}


def test_a_handler_reads_no_clock() -> None:
    impure = {
        shown(path): result
        for path in [*rooms("handler"), *deciding(TIMED)]
        if (result := given_by_no_one(path))
    }
    assert impure == {}


def test_the_query_service_decides_outside_the_event_loop() -> None:
    """What is no stage, use case or port adapter of these packages is a pure function, and a new
    module is one.
    """
    paths = list(deciding({*TIMED, *STAGES}))
    assert len(paths) > 20
    assert {
        shown(path): result for path in paths if (result := given_by_no_one(path, "asyncio"))
    } == {}


def test_a_clock_is_found_however_it_is_read(tmp_path: Path) -> None:
    for source, result in [
        ("from time import monotonic\n", {"time"}),
        ("import uuid as names\n", {"uuid"}),
        ("from datetime import datetime\nat = datetime.now()\n", {"datetime.now"}),
        ("from datetime import datetime\nat = datetime(2026, 3, 14)\n", set[str]()),
    ]:
        path = tmp_path / "domain.py"
        path.write_text(source, "utf-8")
        assert given_by_no_one(path) == result
